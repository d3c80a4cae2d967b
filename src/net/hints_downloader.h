// HintsDownloader: a hints file from peers. It hears what they offer, chooses what several
// independent ones name alike, and has its groups brought by all of them at once. What comes is
// checked against the file's index, and that against the hints id: whoever sends something else is
// told to the caller. That the hints are right nobody can know before the booster does.
//
// No clock, no sockets: times come in, messages to send go out. Owned by the PeerManager; its
// thread. Memory: kMaxHintsOffers for each peer that was asked, 13 bytes a group.
#pragma once

#include "net/hints_goal.h"
#include "net/peer_link.h"

#include <map>
#include <optional>

namespace ibd {

// Of peers, unless the file is pinned: so many independent ones must name the same.
inline constexpr size_t kHintsVotes = 2;
// Microseconds.
inline constexpr int64_t kHintsRequestTime = 60'000'000; //!< who takes longer is not asked any more
inline constexpr int64_t kHintsIdleTime = 60'000'000;    //!< without anybody to ask: it fails
inline constexpr int64_t kHintsOfferTime = 60'000'000;   //!< that better offers are waited for

class HintsDownloader {
public:
    /** `offer_time`: microseconds, from when there are headers. */
    explicit HintsDownloader(HintsGoal& goal, int64_t offer_time = kHintsOfferTime)
        : m_goal(goal), m_offer_time(offer_time)
    {
    }

    /** A peer says what it has; once. `group`: peers with the same one may be one and the same. */
    void Offered(PeerId peer, Bytes group, std::vector<HintsOffer> offers);
    /** What was wrong with it, if that is the peer's fault. Late answers are nobody's. */
    std::optional<std::string> Received(PeerId peer, const HintsDataMessage& message, int64_t now);
    void Disconnected(PeerId peer);

    struct Request {
        PeerId peer;
        GetHintsMessage message;
    };
    /** What is to be asked now. */
    std::vector<Request> Work(int64_t now);

    /** Those still connected that offered what was chosen, if it has that id. Not who says another
     *  hash of it: else whoever lies about an honest file could have all blamed who have it. */
    std::vector<PeerId> WhoOffered(const Uint256& id) const;

private:
    enum class State { kCollecting, kHead, kGroups, kEnded };
    struct Asked {
        HintsPart part;
        int64_t since;
    };
    struct Source {
        Bytes group;
        std::vector<HintsOffer> offers;
        std::vector<Asked> asked;
        bool left_out = false; //!< too slow, or it does not give what it offered
    };
    struct Candidate {
        HintsOffer offer;
        HintsGoal::Fit fit = HintsGoal::Fit::kUseless;
        bool pinned = false;
        size_t votes = 0;
        bool IsBetter(const Candidate& other) const;
    };

    std::vector<Candidate> Candidates() const;
    void Choose(int64_t now);
    void AskForHead(int64_t now, std::vector<Request>& out);
    void AskForGroups(int64_t now, std::vector<Request>& out);
    std::optional<HintsPart> NextGroups();
    void Ask(PeerId peer, Source& source, const HintsPart& part, int64_t now,
             std::vector<Request>& out);
    void LeaveOut(Source& source);
    void DropSlow(int64_t now);
    bool MayAsk(const Source& source) const;
    std::optional<std::string> TakeHead(const HintsDataMessage& message);
    std::optional<std::string> TakeGroups(const HintsDataMessage& message);
    void SetState(const HintsPart& part, uint8_t state);
    void Fail(const std::string& why);

    HintsGoal& m_goal;
    const int64_t m_offer_time;
    State m_state = State::kCollecting;
    std::map<PeerId, Source> m_sources;
    std::optional<int64_t> m_deadline; //!< of choosing, from when there are headers
    HintsOffer m_chosen;
    std::vector<HintsPiece> m_pieces;
    enum PieceState : uint8_t { kMissing, kAsked, kHave };
    std::vector<uint8_t> m_piece_states;
    size_t m_first_missing = 0; //!< none is below it
    size_t m_left = 0;          //!< pieces that are not there
    int64_t m_last_source = 0;  //!< when there was last somebody to ask
};

} // namespace ibd

// HintsDownloader: a hints file from peers. It hears what they offer, chooses what several
// independent ones name alike, and has its groups brought by all of them at once. What comes is
// checked against the file's index, and that against the hints id: whoever sends something else is
// told to the caller. Only the booster can prove that hints are right. A file that its peers bring
// too slowly, or that is refused later (Next()), is followed by the next best one.
//
// No clock, no sockets: times come in, messages to send go out. Owned by the PeerManager; its
// thread. Memory: kMaxHintsOffers for each peer that was asked, 13 bytes a group, kMaxHintsTries
// refused offers.
#pragma once

#include "net/hints_goal.h"
#include "net/peer_link.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace ibd {

// Of peers, unless the file is pinned: so many independent ones must name the same.
inline constexpr size_t kHintsVotes = 2;
// Microseconds.
inline constexpr int64_t kHintsRequestTime = 60'000'000; //!< who takes longer is not asked any more
inline constexpr int64_t kHintsIdleTime = 60'000'000;    //!< without anybody to ask: it fails
inline constexpr int64_t kHintsOfferTime = 60'000'000;   //!< that better offers are waited for
/** What an idle peer could bring is asked of it too when another was asked this long ago: an honest
 *  peer answers a request (256 KiB) in less on any line that meets kLeastHintsRate. */
inline constexpr int64_t kHintsAgainTime = 5'000'000;
/** All peers together must bring a file at this rate, bytes per second, from kHintsGraceTime after
 *  it was chosen. With it the longest file (kMaxHintsSize) takes 35 minutes; on a slower line the
 *  blocks take a month, and hints save little. */
inline constexpr int64_t kLeastHintsRate = 256 << 10;
inline constexpr int64_t kHintsGraceTime = 60'000'000;
/** Fetching may take this long for all files together: two of the longest, and their grace. */
inline constexpr int64_t kHintsWholeTime = int64_t{75} * 60 * 1'000'000;
/** Blocks that a peer is asked for at a time while it owes hints: it answers in order, and what is
 *  before them should not be more than the hints are. */
inline constexpr size_t kBlocksBesideHints = 1;
/** Files that are tried. */
inline constexpr size_t kMaxHintsTries = 8;

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
    /** Whether it owes a part of the file. */
    bool IsAsked(PeerId peer) const;

    struct Request {
        PeerId peer;
        GetHintsMessage message;
    };
    /** What is to be asked now. */
    std::vector<Request> Work(int64_t now);
    /** The file that was complete is refused: `why`. The next best one is chosen, or it fails. */
    void Next(const std::string& why, int64_t now);

    /** Those still connected that offered what was chosen, if it has that id. Not who says another
     *  hash of it: else whoever lies about an honest file could have all blamed who have it. */
    std::vector<PeerId> WhoOffered(const Uint256& id) const;

private:
    enum class State { kCollecting, kHead, kGroups, kEnded };
    struct Asked {
        HintsPart part;
        int64_t since; //!< or since the peer's last answer
        int64_t sent;
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
    std::optional<HintsPart> OverdueGroups(const Source& idle, int64_t now) const;
    void Ask(PeerId peer, Source& source, const HintsPart& part, int64_t now,
             std::vector<Request>& out);
    void LeaveOut(Source& source);
    void DropSlow(int64_t now);
    bool IsTooSlow(int64_t now) const;
    void GiveUp(const std::string& why, int64_t now);
    bool MayAsk(const Source& source) const;
    std::optional<std::string> TakeHead(const HintsDataMessage& message);
    std::optional<std::string> TakeGroups(const HintsDataMessage& message);
    Result<> KeepNew(const HintsPart& part, ByteSpan data);
    void SetState(const HintsPart& part, uint8_t state);
    void Release(const HintsPart& part);
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
    int64_t m_chosen_at = 0;
    int64_t m_received = 0;       //!< bytes of the chosen file, since then
    int64_t m_spent = 0;          //!< microseconds of fetching files that were given up
    std::set<HintsOffer> m_tried; //!< given up or refused
    std::string m_last_failure;   //!< of these
};

} // namespace ibd

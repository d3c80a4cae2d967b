// HintsDownloader: fetches a hints file from peers. It collects their offers, chooses a file that
// several independent peers offer, and fetches its groups from all of these in parallel. Data is
// checked against the file's index, and the index against the hints id; peers that sent wrong data
// are reported to the caller. Only the booster can prove that hints are right. If the peers are too
// slow, or the file is refused later (Next()), the next best file follows.
//
// No clock, no sockets: times are passed in, messages are returned. Owned by HintsExchange; its
// thread. Memory: kMaxHintsOffers for each peer that was asked, 13 bytes a group, kMaxHintsTries
// refused offers.
#pragma once

#include "net/peer/hints_goal.h"
#include "net/peer/peer_link.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace ibd {

// Number of independent peers that must name the same file, unless it is pinned.
inline constexpr size_t kHintsVotes = 2;
// Microseconds.
inline constexpr int64_t kHintsRequestTime = 60'000'000; //!< slower peers are not asked again
inline constexpr int64_t kHintsIdleTime = 60'000'000;    //!< without a peer to ask for this time,
                                                         //!< fetching fails
inline constexpr int64_t kHintsOfferTime = 60'000'000;   //!< wait for better offers
/** Data requested this long ago is also requested from an idle peer: an honest peer answers a
 *  request (256 KiB) in less time on any line that meets kLeastHintsRate. */
inline constexpr int64_t kHintsAgainTime = 5'000'000;
/** All peers together must deliver a file at this rate, bytes per second, from kHintsGraceTime
 *  after its choice. At this rate the longest file (kMaxHintsSize) takes 35 minutes. On a slower
 *  line the blocks take a month, so hints would save little. */
inline constexpr int64_t kLeastHintsRate = 256 << 10;
inline constexpr int64_t kHintsGraceTime = 60'000'000;
/** Time limit for fetching all files: that of two of the longest, with their grace times. */
inline constexpr int64_t kHintsWholeTime = int64_t{75} * 60 * 1'000'000;
/** Limit of block requests to a peer while hints are requested from it. It answers in order, so
 *  more blocks would delay the hints. */
inline constexpr size_t kBlocksBesideHints = 1;
/** Number of files to try. */
inline constexpr size_t kMaxHintsTries = 8;

class HintsDownloader {
public:
    /** `offer_time`: microseconds, counted from the arrival of headers. */
    explicit HintsDownloader(HintsGoal& goal, int64_t offer_time = kHintsOfferTime)
        : m_goal(goal), m_offer_time(offer_time)
    {
    }

    /** Records the offers of a peer; once for each peer. `group`: peers of the same group may
     *  belong to one operator. */
    void Offered(PeerId peer, Bytes group, std::vector<HintsOffer> offers);
    /** Processes an answer. Returns its error if the peer is at fault; a late answer is no fault.
     */
    std::optional<std::string> Received(PeerId peer, const HintsDataMessage& message, int64_t now);
    void Disconnected(PeerId peer);
    /** Whether a part of the file is requested from it. */
    bool IsAsked(PeerId peer) const;

    struct Request {
        PeerId peer;
        GetHintsMessage message;
    };
    /** The requests to send now. */
    std::vector<Request> Work(int64_t now);
    /** The complete file was refused for the reason `why`. The next best one is chosen, or fetching
     *  fails. */
    void Next(const std::string& why, int64_t now);

    /** The connected peers that offered the chosen file, if it has that id. Peers that name another
     *  file hash are excluded, or a liar could get honest peers punished. */
    std::vector<PeerId> WhoOffered(const Uint256& id) const;

private:
    enum class State { kCollecting, kHead, kGroups, kEnded };
    struct Asked {
        HintsPart part;
        int64_t since; //!< or time of the peer's last answer
        int64_t sent;
    };
    struct Source {
        Bytes group;
        std::vector<HintsOffer> offers;
        std::vector<Asked> asked;
        bool left_out = false; //!< too slow, or does not deliver what it offered
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
    std::optional<int64_t> m_deadline; //!< end of the choice; set once there are headers
    HintsOffer m_chosen;
    std::vector<HintsPiece> m_pieces;
    enum PieceState : uint8_t { kMissing, kAsked, kHave };
    std::vector<uint8_t> m_piece_states;
    size_t m_first_missing = 0; //!< no lower group is missing
    size_t m_left = 0;          //!< missing groups
    int64_t m_last_source = 0;  //!< last time at which there was a peer to ask
    int64_t m_chosen_at = 0;
    int64_t m_received = 0;       //!< bytes of the chosen file since its choice
    int64_t m_spent = 0;          //!< microseconds spent on abandoned files
    std::set<HintsOffer> m_tried; //!< given up or refused
    std::string m_last_failure;   //!< of a file in m_tried
};

} // namespace ibd

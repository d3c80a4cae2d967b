// BlockDownloader: decides which peer is asked for which block, and finds peers that delay the
// others. It does not depend on messages or connections: BlockRelay reports received blocks, gets
// the next requests, and disconnects the peers that it names. A DownloadGoal defines the missing
// blocks, so that the same code fetches blocks in any order for the booster, and in a moving window
// for the serial engine.
//
// Owned by BlockRelay, one thread. Memory: that of its BlockRequests, with kMaxInFlight for each
// peer.
#pragma once

#include "net/peer/block_requests.h"
#include "net/peer/spoilt_blocks.h"

#include <limits>
#include <set>

namespace ibd {

/** Height above the tip up to which the serial engine's blocks are fetched. */
inline constexpr int32_t kDownloadWindow = 1024;

/** The missing blocks: wanted, and neither stored nor in the BlockSink. A block that the sink
 *  refused is missing again. Owned by net, implemented outside. */
class DownloadGoal {
public:
    virtual ~DownloadGoal() = default;

    /** The lowest missing block above height `after` on the followed chain; null: none. */
    virtual const HeaderNode* NextMissing(int32_t after) const = 0;
    /** Whether a block, of any branch, need not be fetched. */
    virtual bool Have(const HeaderNode& node) const = 0;
    /** Height of the highest block to request now; with kNoWindow the order does not matter. */
    virtual int32_t WindowEnd() const = 0;
    static constexpr int32_t kNoWindow = std::numeric_limits<int32_t>::max();
    /** Blocks from this height on are requested before all others from each peer that has them. */
    virtual int32_t PreferredFrom() const { return kNoneFirst; }
    static constexpr int32_t kNoneFirst = std::numeric_limits<int32_t>::max();
    /** The lowest block above height `after` that is needed outside of the window: its stored copy
     *  is damaged, or it is history below the tip; null: none. NextMissing() does not return it; it
     *  is requested from any peer that has it. */
    virtual const HeaderNode* NextLost(int32_t /*after*/) const { return nullptr; }
    /** Whether the sink takes blocks only together with the coins that they spend (BIP455). */
    virtual bool WantsSpentCoins() const { return false; }
};

class BlockDownloader {
public:
    // Times are in microseconds.
    static constexpr size_t kMinInFlight = 16;  //!< requests to a peer
    static constexpr size_t kMaxInFlight = 512; //!< to the fastest peer, without a window or in IBD
    /** Blocks of this time are in flight: more than the longest delay of a line with the time in
     *  which it repeats a lost packet. */
    static constexpr int64_t kAhead = 3'000'000;
    /** In IBD with a window: blocks in flight, which leave a part of the window for late ones. */
    static constexpr double kWindowInFlight = 0.75 * kDownloadWindow;
    /** Requests that a peer may have in a window, however slow it is. */
    static constexpr size_t kLeastShare = 2;
    static constexpr int64_t kStallTimeout = 2'000'000;
    static constexpr int64_t kMaxStallTimeout = 64'000'000;
    /** A peer that delays the others while it sends as many bytes a second is slow, not silent: it
     *  has kSilence instead. */
    static constexpr int64_t kSlowest = 10'000;
    // When there are no unrequested blocks, or none in the window: a peer with free slots is also
    // asked for blocks requested from other peers, if it will deliver them in half of the expected
    // time.
    /** Blocks expected sooner are not requested from a second peer. */
    static constexpr int64_t kHelpAhead = 500'000;
    /** A peer that was silent for this time is expected to stay silent for the same time. */
    static constexpr int64_t kQuietAfter = 1'000'000;
    /** The same for a peer that has not delivered any block, counted from the first request for the
     *  block. */
    static constexpr int64_t kHelpAfter = 2'000'000;
    /** A peer that has not delivered any block is asked for a single block of this age. */
    static constexpr int64_t kTrialAfter = 1'000'000;
    /** Interval between searches for such blocks, after an unsuccessful one. */
    static constexpr int64_t kHelpInterval = 100'000;
    /** A peer that delivers no block for this long is replaced if it delays the others; without a
     *  window, if it was slower than kSlowest in this time. */
    static constexpr int64_t kSilence = 60'000'000;
    /** Interval between searches of an idle peer's branch; a search takes time in proportion to the
     *  window. */
    static constexpr int64_t kBranchInterval = 1'000'000;
    /** Timeout for a peer that may lack a lost block. */
    static constexpr int64_t kLostPatience = 10'000'000;
    /** Time until it is asked again. */
    static constexpr int64_t kLostRetry = 600'000'000;
    /** A node that keeps the last 288 blocks may have deleted the oldest of these. */
    static constexpr int32_t kLimitedDepth = 286;

    /** `spacing`: seconds between blocks. The goal must outlive this object, or SetGoal() replaces
     *  it. */
    BlockDownloader(DownloadGoal& goal, int64_t spacing) : m_goal(&goal), m_spacing(spacing) {}

    /** Requests for blocks that the new goal already has are dropped, the others stay. */
    void SetGoal(DownloadGoal& goal, int64_t now);
    /** Call it when headers or the tip changed, so that other blocks may be missing. */
    void GoalChanged();

    /** A peer as a source of blocks. */
    struct Source {
        PeerId peer = -1;
        const HeaderNode* best_known = nullptr; //!< may be null
        bool limited = false;                   //!< has only the last 288 blocks
        bool elsewhere = false;                 //!< best_known is not on the best header's chain
        const SpoiltBlocks* spoilt = nullptr;   //!< blocks never requested from it; null: none
        size_t most = kMaxInFlight;             //!< requests to it at a time
        /** Much is missing (initial block download): with a window, too, it may have more than
         *  kMinInFlight requests, and is asked for blocks requested from other peers. */
        bool hurried = false;
        bool bunched = false; //!< is asked for no less than a quarter of its requests at a time
    };
    /** The blocks to request from a peer now; they count as requested. `tip`: of the active chain.
     */
    std::vector<const HeaderNode*> Ask(const Source& source, const HeaderNode& tip, int64_t now);
    /** Call for a new header of the peer (best_known) when we have almost caught up: the missing
     *  blocks of that branch, to be requested at once; they count as requested. */
    std::vector<const HeaderNode*> AskTowards(const Source& source, const HeaderNode& tip,
                                              int64_t now);
    /** Records a received block. Returns whether it was requested from any peer. */
    bool Received(PeerId peer, const HeaderNode& node, int64_t now);
    /** Records a request by the user to this peer, regardless of limits. False: it was requested
     *  from the peer before. */
    bool Demand(PeerId peer, const HeaderNode& node, int64_t now);
    /** The received bytes were not the block, or the peer lacks it. */
    void Refused(const HeaderNode& node, int64_t now);
    /** The block is requested again only from a peer that has nothing else to send: the last one
     *  that was asked for it left, or sent bad coins with it, and others may do the same. */
    void Postpone(const HeaderNode& node) { m_postponed.insert(&node); }
    /** The request to the peer has ended. */
    void GiveUp(PeerId peer, const HeaderNode& node, int64_t now);
    /** The block is stored, whichever peer sent it: all requests for it end. */
    void Stored(const HeaderNode& node, int64_t now);
    /** Releases the peer's requests, so that other peers are asked. */
    void Disconnected(PeerId peer);
    /** The node did not read from the peer until now, so its silence does not count. */
    void Excuse(PeerId peer, int64_t now);

    enum class Verdict { kFine, kStalling, kTimeout };
    /** Whether a peer must be disconnected because it has delayed the others for too long.
     *  `received`: bytes from it so far, with those of incomplete messages. */
    Verdict Judge(PeerId peer, int64_t now, uint64_t received);

    /** See DownloadGoal. */
    bool WantsSpentCoins() const { return m_goal->WantsSpentCoins(); }
    /** The pending requests. */
    const BlockRequests& Requests() const { return m_requests; }
    /** The compact block that a peer sent as an answer, while it is being completed; the peer must
     *  be asked for the block. Empty until it is set; removed with the request. */
    std::unique_ptr<PartialBlock>& Partial(PeerId peer, const HeaderNode& node)
    {
        return m_requests.Partial(peer, node);
    }
    /** Whether a block of the goal is missing or lost, requested or not. */
    bool AnyMissing() const { return m_goal->NextMissing(-1) || m_goal->NextLost(-1); }
    int64_t CurrentStallTimeout() const { return m_stall_timeout; }
    /** Call it for each connected block: reduces the stall timeout step by step after Judge() has
     *  raised it for a slow line. It must not be called for each received block: a thousand blocks
     *  may follow a delayed one, and the next stalling peer must be found as fast as the first.
     *  Returns whether the timeout changed. */
    bool ShortenStallTimeout();
    /** A peer that was found, since the last call, to delay the others; -1: none. */
    PeerId TakeNewStaller() { return std::exchange(m_new_staller, -1); }

private:
    using Load = BlockRequests::Load;
    /** The expected arrival of a block requested from other peers. */
    struct Awaited {
        const HeaderNode* node;
        int64_t since;    //!< first requested from any peer
        int64_t expected; //!< microseconds from now
    };

    bool IsHurried(const Source& source) const;
    size_t MostOf(const Source& source, const Load& load, int64_t now) const;
    size_t ShareOf(const Load& load, int64_t now) const;
    size_t FreeSlots(const Source& source, const Load& load, int64_t now) const;
    bool CanServe(const Source& source, const HeaderNode& node) const;
    void AskAgain(const Source& source, size_t most, bool postponed_too,
                  std::vector<const HeaderNode*>& out);
    bool MayHave(const Source& source, const HeaderNode& node, int64_t now) const;
    void GiveUpLost(const Source& source, int64_t now);
    void AskLost(const Source& source, size_t most, int64_t now,
                 std::vector<const HeaderNode*>& out) const;
    void AskPreferred(const Source& source, size_t most, std::vector<const HeaderNode*>& out) const;
    bool AskNext(const Source& source, size_t most, int64_t now,
                 std::vector<const HeaderNode*>& out);
    void AskBranch(const Source& source, const HeaderNode& tip, size_t most,
                   std::vector<const HeaderNode*>& out) const;
    void AskToHelp(const Source& source, size_t most, int64_t now,
                   std::vector<const HeaderNode*>& out);
    void AskOnTrial(const std::vector<Awaited>& awaited, int64_t now,
                    std::vector<const HeaderNode*>& out) const;
    std::vector<Awaited> ListAwaited(const Source& source, bool idle, int64_t now) const;
    int64_t ExpectedOfAny(const BlockRequests::Owed& owed, const HeaderNode& node,
                          int64_t now) const;
    void NoteStaller(PeerId waiting, int64_t now);
    int64_t PatienceWith(const Load& load, int64_t now, uint64_t received) const;
    static bool IsSilent(Load& load, int64_t now, uint64_t received);

    DownloadGoal* m_goal;
    const int64_t m_spacing;
    BlockRequests m_requests;
    std::set<const HeaderNode*> m_postponed; //!< of the goal; some may have come since
    /** All missing blocks up to this height were requested, or are in BlockRequests::GivenBack().
     */
    int32_t m_cursor = -1;
    /** Peers that have not sent a lost block in time, and the times of the next requests to them.
     */
    std::map<std::pair<PeerId, const HeaderNode*>, int64_t> m_lack;
    int64_t m_stall_timeout = kStallTimeout; //!< in whole seconds, like Core
    PeerId m_new_staller = -1;
};

} // namespace ibd

// BlockDownloader: which block is asked of which peer, and which peers hold the others up. It knows
// neither messages nor connections: PeerManager tells it what came, asks it what to send for, and
// sends away whom it says. What is missing a DownloadGoal says, so that the same code fetches
// blocks in any order for the booster and in a moving window for the serial engine.
//
// Owned by the PeerManager, one thread. Memory: kMaxInFlight requests for each peer, and those that
// were given back by peers that left.
#pragma once

#include "net/block_rate.h"
#include "net/compact_block.h"
#include "net/header_sync.h"
#include "net/spoilt_blocks.h"

#include <deque>
#include <limits>
#include <map>
#include <unordered_map>

namespace ibd {

/** How far above the tip blocks are fetched for the serial engine. */
inline constexpr int32_t kDownloadWindow = 1024;

/** Which blocks are missing: wanted, and neither stored nor put into the BlockSink. One that the
 *  sink refused is missing again. Owned by net, implemented outside of it. */
class DownloadGoal {
public:
    virtual ~DownloadGoal() = default;

    /** The lowest missing block above height `after` on the chain that it follows; null: none. */
    virtual const HeaderNode* NextMissing(int32_t after) const = 0;
    /** Whether a block of any branch need not be fetched. */
    virtual bool Have(const HeaderNode& node) const = 0;
    /** The highest that may be asked for now; with kNoWindow order does not matter at all. */
    virtual int32_t WindowEnd() const = 0;
    static constexpr int32_t kNoWindow = std::numeric_limits<int32_t>::max();
    /** Blocks from this height on are asked for before all others of whoever has them. */
    virtual int32_t PreferredFrom() const { return kNoneFirst; }
    static constexpr int32_t kNoneFirst = std::numeric_limits<int32_t>::max();
};

class BlockDownloader {
public:
    // Times in microseconds.
    static constexpr size_t kMinInFlight = 16;  //!< requests to a peer; with a window no more
    static constexpr size_t kMaxInFlight = 256; //!< to the fastest peer
    static constexpr int64_t kStallTimeout = 2'000'000;
    static constexpr int64_t kMaxStallTimeout = 64'000'000;
    // Without a window, when no other block is left to ask for: who has room is asked for blocks
    // that other peers owe, if it brings them in half the time that those are expected to take.
    /** A block that is expected sooner is waited for. */
    static constexpr int64_t kHelpAhead = 500'000;
    /** A peer that was silent for so long is expected to be silent for as long again. */
    static constexpr int64_t kQuietAfter = 1'000'000;
    /** Likewise one that has brought nothing yet, since the block was first asked of anybody. */
    static constexpr int64_t kHelpAfter = 2'000'000;
    /** One that has brought nothing yet is asked for a single block that is as old. */
    static constexpr int64_t kTrialAfter = 1'000'000;
    /** Between looks for such blocks that find none. */
    static constexpr int64_t kHelpInterval = 100'000;
    /** Without a window: who sends nothing for so long is replaced. */
    static constexpr int64_t kSilence = 60'000'000;
    /** Between looks at the branch of an idle peer, which cost as much as the window is long. */
    static constexpr int64_t kBranchInterval = 1'000'000;
    /** A node that keeps the last 288 blocks may have dropped those at the end of them. */
    static constexpr int32_t kLimitedDepth = 286;

    /** `spacing`: seconds between blocks. The goal outlives this, or SetGoal() replaces it. */
    BlockDownloader(DownloadGoal& goal, int64_t spacing) : m_goal(&goal), m_spacing(spacing) {}

    void SetGoal(DownloadGoal& goal);
    /** Headers or the tip changed, so that other blocks may be missing. */
    void GoalChanged();

    /** What a peer can give. */
    struct Source {
        PeerId peer = -1;
        const HeaderNode* best_known = nullptr; //!< may be null
        bool limited = false;                   //!< has the last 288 blocks only
        bool elsewhere = false;                 //!< best_known is not on the best header's chain
        const SpoiltBlocks* spoilt = nullptr;   //!< what it is not asked for; null: nothing
        size_t most = kMaxInFlight;             //!< requests to it at a time
    };
    /** The blocks to ask a peer for now; they count as asked. `tip`: of the active chain. */
    std::vector<const HeaderNode*> Ask(const Source& source, const HeaderNode& tip, int64_t now);
    /** A new header of the peer, best_known, when we have almost caught up: the blocks that are
     *  missing from the branch that ends there, to ask for at once; they count as asked. */
    std::vector<const HeaderNode*> AskTowards(const Source& source, const HeaderNode& tip,
                                              int64_t now);
    /** Bytes came for a block. Whether it had been asked of anybody. */
    bool Received(PeerId peer, const HeaderNode& node, int64_t now);
    /** A peer is asked for a block of the user's choice, beyond all limits; it counts as asked.
     *  False: it was asked for it before. */
    bool Demand(PeerId peer, const HeaderNode& node, int64_t now);
    /** What came was not the block, or the peer has it not. */
    void Refused(const HeaderNode& node, int64_t now);
    /** The peer is no longer asked for it. */
    void GiveUp(PeerId peer, const HeaderNode& node, int64_t now);
    /** It is there, whoever brought it: nobody owes it any more. */
    void Stored(const HeaderNode& node, int64_t now);
    /** Its requests go to others. */
    void Disconnected(PeerId peer);
    /** Nothing was read of the peer until now, which is no fault of its own. */
    void Excuse(PeerId peer, int64_t now);

    enum class Verdict { kFine, kStalling, kTimeout };
    /** Whether a peer holds the others up, and for so long that it should go. */
    Verdict Judge(PeerId peer, int64_t now);

    bool IsAsked(const HeaderNode& node) const { return m_asked.contains(&node); }
    bool IsAskedOf(PeerId peer, const HeaderNode& node) const;
    /** Who is asked for a block, in the order in which they were; empty: nobody. */
    std::span<const PeerId> AskedOf(const HeaderNode& node) const;
    /** The compact block that a peer sent in answer, while it is being completed; the peer is asked
     *  for that block. Empty until somebody puts it there; gone with the request. */
    std::unique_ptr<PartialBlock>& Partial(PeerId peer, const HeaderNode& node);
    bool Idle() const { return m_asked.empty(); }
    size_t RequestsTo(PeerId peer) const;
    /** Blocks that somebody is asked for. */
    size_t BlocksAsked() const { return m_asked.size(); }
    /** Heights, in the order they were asked for. */
    std::vector<int32_t> InFlight(PeerId peer) const;
    int64_t CurrentStallTimeout() const { return m_stall_timeout; }
    /** For each block that was connected: what Judge() granted for a slow line is taken back bit by
     *  bit. Not for each that came: behind the block that was held back lie a thousand others, and
     *  the next peer that stalls is to be found as fast as the first. Whether it is another now. */
    bool ShortenStallTimeout();
    /** Who was found since the last call to hold the others up; -1: nobody. */
    PeerId TakeNewStaller() { return std::exchange(m_new_staller, -1); }

private:
    struct Asked {
        const HeaderNode* node;
        std::unique_ptr<PartialBlock> partial;
    };
    struct Load {
        std::deque<Asked> requests;
        BlockRate rate;
        int64_t first_since = 0;    //!< since when the first request is the one waited for
        int64_t last_received = 0;  //!< or asked, if that was when nothing was waited for
        int64_t stalling_since = 0; //!< 0: holds nobody up
        int64_t branch_after = 0;   //!< when its own branch is to be looked at next
        int64_t help_after = 0;     //!< when it is to be looked next for what others owe
    };
    /** A block that somebody is asked for. */
    struct Owed {
        std::vector<PeerId> peers; //!< in the order in which they were asked
        int64_t since = 0;         //!< when the first was, whether or not it is asked still
    };
    /** When a block that others owe is expected. */
    struct Awaited {
        const HeaderNode* node;
        int64_t since;    //!< first asked of anybody
        int64_t expected; //!< microseconds from now on
    };

    size_t FreeSlots(const Load& load, size_t bound, int64_t now) const;
    void Request(PeerId peer, const std::vector<const HeaderNode*>& nodes, int64_t now);
    static std::deque<Asked>::iterator FindRequest(Load& load, const HeaderNode& node);
    void RemoveAsked(PeerId peer, const HeaderNode& node);
    bool CanServe(const Source& source, const HeaderNode& node) const;
    void AskAgain(const Source& source, size_t most, std::vector<const HeaderNode*>& out);
    void AskPreferred(const Source& source, size_t most, std::vector<const HeaderNode*>& out) const;
    bool AskNext(const Source& source, size_t most, int64_t now,
                 std::vector<const HeaderNode*>& out);
    void AskBranch(const Source& source, const HeaderNode& tip, size_t most,
                   std::vector<const HeaderNode*>& out) const;
    void AskToHelp(const Source& source, size_t most, int64_t now,
                   std::vector<const HeaderNode*>& out);
    void AskOnTrial(const std::vector<Awaited>& awaited, int64_t now,
                    std::vector<const HeaderNode*>& out) const;
    std::vector<Awaited> ListAwaited(const Source& source, int64_t now) const;
    int64_t ExpectedOfAny(const Owed& owed, const HeaderNode& node, int64_t now) const;
    static int64_t Expected(const Load& load, size_t place, int64_t since, int64_t now);
    void GiveBack(const HeaderNode& node, int64_t since);
    void NoteStaller(PeerId waiting, int64_t now);
    void Remove(PeerId peer, const HeaderNode& node, int64_t now);

    DownloadGoal* m_goal;
    const int64_t m_spacing;
    std::map<PeerId, Load> m_loads;
    std::unordered_map<const HeaderNode*, Owed> m_asked;
    /** Missing blocks up to here were asked for, or are in m_again. */
    int32_t m_cursor = -1;
    /** Nobody is asked for these now; by height, as branches have several of one. Since when they
     *  were owed. */
    std::map<std::pair<int32_t, const HeaderNode*>, int64_t> m_again;
    int64_t m_stall_timeout = kStallTimeout; //!< whole seconds, as Core counts it
    PeerId m_new_staller = -1;
};

} // namespace ibd

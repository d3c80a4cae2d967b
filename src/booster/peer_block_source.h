// PeerBlockSupply: the booster's blocks during a download: stored ones from the block files, the
// others from peers, in any order; with the coins that they spend, all from peers. The downloader
// asks it for missing blocks and puts arrivals into a queue bounded in bytes; the booster's workers
// take them from it, so that parsing, hashing and folding never run on the network thread. Sound
// blocks are stored, and made durable before a checkpoint names them as folded; bad ones count as
// missing again. Owned by one sync. Threads: see BlockSupply; the downloader's functions run on one
// more thread. Memory: kQueueBytes, 9 bytes for each height, and a FileBlockSupply's.
#pragma once

#include "booster/block_fetcher.h"
#include "booster/booster_progress.h"
#include "booster/size_estimate.h"
#include "swiftsync/engine.h"
#include "swiftsync/file_block_source.h"
#include "util/threads.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Stores checked blocks. Any thread. */
class BlockKeeper {
public:
    virtual ~BlockKeeper() = default;
    /** Stores the block of `node` and records its position in the index. */
    virtual Result<> Keep(const HeaderNode& node, const BlockView& block) = 0;
    /** Makes all stored blocks durable: first the blocks, then the index. */
    virtual Result<> Sync() = 0;
};

class PeerBlockSupply final : public BlockSupply, public DownloadGoal, public BlockSink {
public:
    /** Bound of received blocks that no worker has taken yet, bytes. */
    static constexpr size_t kQueueBytes = 32 << 20;

    /** Begin() starts `fetcher`; the owner of the supply stops it. All arguments must outlive the
     *  supply. */
    PeerBlockSupply(Env& env, const BlockStore& store, const HeaderNode& terminal,
                    BlockKeeper& keeper, BlockFetcher& fetcher, size_t queue_bytes = kQueueBytes)
        : m_env(env), m_store(store), m_terminal(terminal), m_keeper(keeper), m_fetcher(fetcher),
          m_queue_bytes(queue_bytes)
    {
    }
    /** Sets the log for the reason if direct I/O is not possible for stored blocks. Call it before
     *  Begin(). */
    void LogTo(Logger& log) { m_log = &log; }
    /** For estimates. Call it before Begin(). */
    void Expect(const ExpectedBlocks& expected) { m_expected = expected; }

    /** Fetches all blocks that are not folded, stored or not, with the coins that they spend
     *  (BIP455). Call it before Begin(). */
    void FetchWithSpentCoins() { m_with_coins = true; }
    /** Requests blocks from this height on before all others. Call it before Begin(). */
    void Prefer(int32_t height) { m_preferred_from = height; }
    /** Fetches these blocks below the terminal block although they are stored. Call it before
     *  Begin(). */
    void FetchAgain(std::vector<const HeaderNode*> lost) { m_lost = std::move(lost); }

    /** For a chain in use: Begin() will read its index under the headers lock. Call it before
     *  Begin(). */
    void ReadUnder(const ChainView& chain) { m_chain = &chain; }

    /** With coins, a time without a right block after which the supply ends: no peer has the rest,
     *  or it is not valid. Microseconds. */
    static constexpr int64_t kPatience = 600'000'000;
    /** Replaces kPatience. Call it before Begin(). */
    void GiveUpAfter(int64_t micros) { m_patience = micros; }
    /** The supply ended for that reason. */
    bool GaveUp() const;

    // BlockSupply, for the engine.

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override;
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override;
    /** Like Stop(), but received blocks are still delivered. */
    void Finish();
    size_t BlocksToFold() const override;
    uint64_t EstimatedBytes() const override;
    std::optional<uint64_t> NewEstimate() const override;
    std::string Detail() const override;

    // Any thread.

    DownloadProgress Progress() const;
    /** Bytes of blocks that no worker has taken yet. */
    size_t QueuedBytes() const;

    // For the downloader: blocks to be folded that are neither stored nor received, in any order.

    const HeaderNode* NextMissing(int32_t after) const override;
    bool Have(const HeaderNode& node) const override;
    int32_t WindowEnd() const override { return kNoWindow; }
    int32_t PreferredFrom() const override { return m_preferred_from; }
    bool WantsSpentCoins() const override { return m_with_coins; }
    bool HasRoom(size_t bytes) const override;
    bool Put(PeerBlock&& block) override;
    std::vector<RefusedBlock> TakeRefused() override;

private:
    class Source;
    using Queue = BoundedQueue<PeerBlock>;

    enum class State : uint8_t {
        kDone,    //!< stored, or folded by an earlier sync
        kMissing, //!< missing: must be requested from a peer
        kAtWork,  //!< received; not checked yet
        kRefused, //!< refused; not yet reported to the downloader
    };

    State& StateOf(const PeerBlock& block) IBD_REQUIRES(m_mutex)
    {
        return m_states[size_t(block.node->height)];
    }
    void FindMissing(const std::function<bool(int32_t height)>& folded);
    void ReadIndex(const std::function<bool(int32_t height)>& folded);
    std::vector<const HeaderNode*>
    StoredUnfolded(const std::function<bool(int32_t height)>& folded) const;
    size_t BlocksToFetch() const;
    bool IsMissing(const HeaderNode& node) const IBD_REQUIRES(m_mutex);
    SeenBlocks CountSeen(const std::function<bool(int32_t height)>& folded) const
        IBD_REQUIRES(m_mutex);
    void Kept(const PeerBlock& block, size_t txs);
    void Refused(const PeerBlock& block, const RuleViolation& why);
    void EndIfSilent();

    Env& m_env;
    const BlockStore& m_store;
    const HeaderNode& m_terminal;
    BlockKeeper& m_keeper;
    BlockFetcher& m_fetcher;
    const size_t m_queue_bytes;
    const ChainView* m_chain = nullptr; //!< null: no other thread changes the index
    ExpectedBlocks m_expected;
    Logger* m_log = nullptr;
    int32_t m_preferred_from = kNoneFirst;
    bool m_with_coins = false;
    int64_t m_patience = kPatience;
    std::vector<const HeaderNode*> m_lost;

    std::optional<BlockPlan> m_plan; //!< of stored blocks; set by Begin()

    mutable Mutex m_mutex;
    /** Set by Begin(); closed when no block is missing. */
    std::shared_ptr<Queue> m_queue IBD_GUARDED_BY(m_mutex);
    std::vector<State> m_states IBD_GUARDED_BY(m_mutex); //!< by height
    /** By height, for blocks missing at the start. */
    std::vector<const HeaderNode*> m_nodes IBD_GUARDED_BY(m_mutex);
    size_t m_missing IBD_GUARDED_BY(m_mutex) = 0; //!< received blocks that are not stored yet
    /** No block below this height is missing. */
    size_t m_none_below IBD_GUARDED_BY(m_mutex) = 0;
    std::vector<RefusedBlock> m_refused IBD_GUARDED_BY(m_mutex);
    uint64_t m_received_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< sources of stored blocks
    /** Number of blocks stored at the start, and of received ones stored since. */
    SeenBlocks m_seen IBD_GUARDED_BY(m_mutex);
    int64_t m_start_micros IBD_GUARDED_BY(m_mutex) = 0;
    /** Time of the last right block, or of the start, or when there was no peer. */
    int64_t m_last_kept IBD_GUARDED_BY(m_mutex) = 0;
    bool m_gave_up IBD_GUARDED_BY(m_mutex) = false;
};

/** The node's keeper: stores blocks in the chain's block files and index; blocks below
 *  `first_stored` only in the index (-prune). */
class ChainKeeper final : public BlockKeeper {
public:
    explicit ChainKeeper(ChainManager& chain, int32_t first_stored = 0)
        : m_chain(chain), m_first_stored(first_stored)
    {
    }

    Result<> Keep(const HeaderNode& node, const BlockView& block) override
    {
        return node.height < m_first_stored ? m_chain.NotePruned(block, node)
                                            : m_chain.StoreSound(block, node);
    }
    Result<> Sync() override { return m_chain.FlushIndex(); }

private:
    ChainManager& m_chain;
    const int32_t m_first_stored;
};

} // namespace ibd

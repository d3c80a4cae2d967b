// PeerBlockSupply: the booster's blocks while they are downloaded - those that are stored already
// from the block files, the others from peers, in whatever order and mixture they come. The
// downloader asks it what is missing, and puts what arrives into a queue that is bounded in bytes;
// the booster's workers take it from there, so that parsing, hashing and folding never happen on
// the thread that serves sockets. What proves sound is stored, and durable before a checkpoint says
// that it is folded; what does not is missing again. Owned by one sync. Threads: as
// BlockSupply says; what is for the downloader, for one thread besides. Memory: kQueueBytes, 9
// bytes for each height, and as FileBlockSupply.
#pragma once

#include "node/block_fetcher.h"
#include "swiftsync/engine.h"
#include "swiftsync/file_block_source.h"
#include "util/threads.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Where blocks go that were checked. Any thread. */
class BlockKeeper {
public:
    virtual ~BlockKeeper() = default;
    /** Stores the block of `node` and notes in the index where. */
    virtual Result<> Keep(const HeaderNode& node, const BlockView& block) = 0;
    /** Makes all durable that was kept until now: blocks first, then the index. */
    virtual Result<> Sync() = 0;
};

class PeerBlockSupply final : public BlockSupply, public DownloadGoal, public BlockSink {
public:
    /** Of blocks that were received and that no worker has taken yet. */
    static constexpr size_t kQueueBytes = 64 << 20;

    /** `fetcher` is told to fetch from Begin() on; whoever made the supply tells it to stop. All
     *  must outlive the supply. */
    PeerBlockSupply(Env& env, const BlockStore& store, const HeaderNode& terminal,
                    BlockKeeper& keeper, BlockFetcher& fetcher, size_t queue_bytes = kQueueBytes)
        : m_env(env), m_store(store), m_terminal(terminal), m_keeper(keeper), m_fetcher(fetcher),
          m_queue_bytes(queue_bytes)
    {
    }
    /** Of a block of which nothing is known, for the estimate of the whole. */
    void SetUsualBytes(uint64_t bytes) { m_usual_bytes = bytes; }

    /** Blocks from this height on are fetched before all others. Before Begin(). */
    void Prefer(int32_t height) { m_preferred_from = height; }

    // BlockSupply, for the engine.

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override;
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override;
    /** Like Stop(), but what has come is still handed out. */
    void Finish();
    size_t BlocksToFold() const override;
    uint64_t EstimatedBytes() const override;
    std::string Detail() const override;

    // Any thread.

    DownloadProgress Progress() const;
    /** Of blocks that no worker has taken yet. */
    size_t QueuedBytes() const;

    // For the downloader: what is to be folded, and neither stored nor received, in any order.

    const HeaderNode* NextMissing(int32_t after) const override;
    bool Have(const HeaderNode& node) const override;
    int32_t WindowEnd() const override { return kNoWindow; }
    int32_t PreferredFrom() const override { return m_preferred_from; }
    bool HasRoom(size_t bytes) const override;
    bool Put(PeerBlock&& block) override;
    std::vector<RefusedBlock> TakeRefused() override;

private:
    class Source;
    using Queue = BoundedQueue<PeerBlock>;

    enum class State : uint8_t {
        kDone,    //!< stored, or folded by an earlier sync
        kMissing, //!< to be had from a peer
        kAtWork,  //!< received; not yet judged
        kRefused, //!< the same, until the downloader knows
    };

    State& StateOf(const PeerBlock& block) IBD_REQUIRES(m_mutex)
    {
        return m_states[size_t(block.node->height)];
    }
    void FindMissing(const std::function<bool(int32_t height)>& folded);
    bool IsMissing(const HeaderNode& node) const IBD_REQUIRES(m_mutex);
    void Kept(const PeerBlock& block);
    void Refused(const PeerBlock& block, const RuleViolation& why);

    Env& m_env;
    const BlockStore& m_store;
    const HeaderNode& m_terminal;
    BlockKeeper& m_keeper;
    BlockFetcher& m_fetcher;
    const size_t m_queue_bytes;
    uint64_t m_usual_bytes = 1'000'000;
    int32_t m_preferred_from = kNoneFirst;

    std::optional<BlockPlan> m_plan; //!< of what is stored; from Begin() on

    mutable Mutex m_mutex;
    /** From Begin() on; closed when nothing is missing. */
    std::shared_ptr<Queue> m_queue IBD_GUARDED_BY(m_mutex);
    std::vector<State> m_states IBD_GUARDED_BY(m_mutex); //!< by height
    /** By height, of those missing at the start. */
    std::vector<const HeaderNode*> m_nodes IBD_GUARDED_BY(m_mutex);
    size_t m_missing IBD_GUARDED_BY(m_mutex) = 0; //!< not yet kept
    /** No block below this height is missing. */
    size_t m_none_below IBD_GUARDED_BY(m_mutex) = 0;
    std::vector<RefusedBlock> m_refused IBD_GUARDED_BY(m_mutex);
    uint64_t m_received_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< of blocks that were kept
    int64_t m_start_micros IBD_GUARDED_BY(m_mutex) = 0;
};

/** The node's keeper: blocks go to the chain's block files and index; those below `first_stored` to
 *  the index only (-prune). */
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

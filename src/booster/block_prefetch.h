// BlockPrefetch: downloads blocks while the node waits for hints, so that the wait costs no time. A
// thread of its own checks each block by the rules that need no coins, and stores it. No block is
// connected or folded; the booster then reads the blocks from the disk. Owned by Node; made,
// stopped and destroyed on the start thread. Memory: the queue of the supply
// (PeerBlockSupply::kQueueBytes).
#pragma once

#include "booster/peer_block_source.h"
#include "util/log.h"

namespace ibd {

struct BlockPrefetchOptions {
    bool full_validation = false; //!< no block is assumed valid: all headers' blocks are fetched
    // Bounds of stored blocks that are not yet durable.
    uint64_t sync_bytes = uint64_t{32} << 30;
    int64_t sync_seconds = 60;
    /** Whether the node has the headers up to the terminal block. Called on any thread. */
    std::function<bool()> has_headers;
    /** Called on the thread of the blocks after an error of the machine, which Stop() returns. */
    std::function<void()> failed;
};

class BlockPrefetch {
public:
    /** Fetching begins once there are headers. All arguments must outlive it. */
    BlockPrefetch(Env& env, Logger& log, ChainManager& chain, BlockFetcher& fetcher,
                  BlockPrefetchOptions options);
    ~BlockPrefetch() { (void)Stop(); }
    BlockPrefetch(const BlockPrefetch&) = delete;
    BlockPrefetch& operator=(const BlockPrefetch&) = delete;

    /** Stops fetching; when it returns, all received blocks are stored and durable. Errors are the
     *  machine's. A second call does nothing. */
    Result<> Stop();
    /** Empty before it has begun. Any thread. */
    std::optional<DownloadProgress> Progress() const;
    /** Text for the progress line. */
    std::string Detail() const;

private:
    void Work();
    const HeaderNode* WaitForTerminal();
    const HeaderNode* FindTerminal() const;
    bool Begin(const HeaderNode& terminal);
    Result<> StoreAll();
    void Abandon();
    Result<> SyncIfDue(BlockSource& source, size_t bytes);

    Env& m_env;
    Logger& m_log;
    ChainManager& m_chain;
    BlockFetcher& m_fetcher;
    const BlockPrefetchOptions m_options;
    ChainKeeper m_keeper;

    // Used by the thread, and after its end by Stop().
    uint64_t m_unsynced = 0;
    int64_t m_synced_at = 0;
    Result<> m_status;

    mutable Mutex m_mutex;
    std::condition_variable_any m_stopped;
    bool m_stop IBD_GUARDED_BY(m_mutex) = false;
    std::unique_ptr<PeerBlockSupply> m_supply IBD_GUARDED_BY(m_mutex); //!< made once
    NamedThread m_thread;
};

} // namespace ibd

// BlockPrefetch: fetches blocks while the node waits for hints, so that peers that give hints
// slowly cost no time. A thread of its own holds each block against the rules that need no coins
// and stores it; no block is connected or folded. What the booster does next takes the blocks from
// the disk. Owned by Node; made, stopped and destroyed on the start's thread. Memory: the queue of
// the supply (PeerBlockSupply::kQueueBytes).
#pragma once

#include "node/peer_block_source.h"
#include "util/log.h"

namespace ibd {

struct BlockPrefetchOptions {
    bool full_validation = false; //!< no block is assumed valid: all headers' blocks are fetched
    // At no moment is more than this stored and not yet durable.
    uint64_t sync_bytes = uint64_t{32} << 30;
    int64_t sync_seconds = 60;
    /** Whether the headers are there that say how far to fetch. Any thread. */
    std::function<bool()> has_headers;
    /** The machine failed, as Stop() will say; on the thread of the blocks. */
    std::function<void()> failed;
};

class BlockPrefetch {
public:
    /** Begins once there are headers. All must outlive it. */
    BlockPrefetch(Env& env, Logger& log, ChainManager& chain, BlockFetcher& fetcher,
                  BlockPrefetchOptions options);
    ~BlockPrefetch() { (void)Stop(); }
    BlockPrefetch(const BlockPrefetch&) = delete;
    BlockPrefetch& operator=(const BlockPrefetch&) = delete;

    /** Nothing more is fetched; what has come is stored and durable when it returns. Errors are the
     *  machine's. Does nothing the second time. */
    Result<> Stop();
    /** Nothing: it has not begun. Any thread. */
    std::optional<DownloadProgress> Progress() const;
    /** For the line of progress. */
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

    // The thread's, then Stop()'s.
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

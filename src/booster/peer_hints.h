// PeerHints: hints from peers for a session (-ibdboosterfile=auto): asks for them from the first
// connection on, fetches blocks while it waits, and afterwards keeps right hints for other peers
// and has peers punished for wrong ones. Owned by Node. The start's thread, but for Prefetching()
// and Interrupt().
#pragma once

#include "booster/block_prefetch.h"
#include "booster/booster_session.h"
#include "booster/hints_from_peers.h"
#include "booster/hints_library.h"
#include "net/network_interfaces.h"
#include "util/found.h"

namespace ibd {

struct PeerHintsOptions {
    BlockPrefetchOptions prefetch = {};
    HintsFetchOptions fetch = {};
    int64_t wait_micros = 0; //!< for an offer
    bool wanted = false;
    bool serve = true; //!< right hints are kept for other peers
};

class PeerHints {
public:
    /** All arguments must outlive it. */
    PeerHints(Env& env, Logger& log, HintsLibrary& library, PeerHintsOptions options)
        : m_env(env), m_log(log), m_library(library), m_options(std::move(options))
    {
    }

    /** Sets the network, before all other calls. */
    void Attach(HintsFetching& peers, BlockFetching& headers)
    {
        m_peers = &peers;
        m_headers = &headers;
    }
    /** Before the first connection, because the handshake announces that hints are wanted. They are
     *  fetched from Fetch() on. */
    void Prepare(ChainManager& chain);
    /** Whether Fetch() asks peers. */
    bool Asks() const { return m_goal != nullptr; }
    /** No path: no peers are asked, or none has hints. `fetcher`: of blocks; null: no network.
     *  Called again after the hints were refused. */
    Found<Path> Fetch(ChainManager& chain, BlockFetcher* fetcher);
    /** A run of the session has ended: keeps hints that were right; removes wrong ones from peers.
     */
    void Ended(VerdictKind end, const BoosterSession& session, const ChainManager& chain);
    void Keep(const Hints& hints, const BlockHash& terminal);

    // Any thread.

    /** Blocks that are fetched while it waits; nothing: none. */
    std::optional<DownloadProgress> Prefetching() const;
    void Interrupt();

private:
    void StartPrefetch(ChainManager& chain, BlockFetcher& fetcher);
    Result<> EndPrefetch();
    std::shared_ptr<BlockPrefetch> Prefetch() const;
    Found<Path> WaitForFile();
    Found<Path> FetchNext(const std::string& why);

    Env& m_env;
    Logger& m_log;
    HintsLibrary& m_library;
    const PeerHintsOptions m_options;
    HintsFetching* m_peers = nullptr;
    BlockFetching* m_headers = nullptr;
    mutable Mutex m_mutex;
    std::unique_ptr<HintsFromPeers> m_file IBD_GUARDED_BY(m_mutex);
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
    HintsFromPeers* m_goal = nullptr; //!< m_file, for the start's thread
    std::shared_ptr<BlockPrefetch> m_prefetch IBD_GUARDED_BY(m_mutex); //!< while it waits
    bool m_asked = false;                                              //!< Fetch() was called
};

} // namespace ibd

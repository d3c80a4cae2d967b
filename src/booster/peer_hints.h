// PeerHints: gets hints from peers for a session (-ibdboosterfile=auto). Requests hints from the
// first connection on, and downloads blocks while it waits. After the session it keeps right hints
// for other peers, and punishes the peers that sent wrong ones. Owned by Node. Runs on the start's
// thread, except for Prefetching() and Interrupt().
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
    /** Call it before the first connection, because the handshake announces that hints are wanted.
     *  Fetch() starts the download. */
    void Prepare(ChainManager& chain);
    /** Whether Fetch() will ask peers. */
    bool Asks() const { return m_goal != nullptr; }
    /** The path of a file of hints; nothing: no peer is asked, or no peer has hints. `fetcher`
     *  downloads blocks meanwhile; null: no peer is asked. Call it again if the hints were
     *  refused. */
    Found<Path> Fetch(ChainManager& chain, BlockFetcher* fetcher);
    /** Call it after a run of the session: keeps hints that were right; removes wrong ones from
     *  peers. */
    void Ended(VerdictKind end, const BoosterSession& session, const ChainManager& chain);
    void Keep(const Hints& hints, const BlockHash& terminal);

    // Any thread.

    /** Progress of the block download while Fetch() waits; nothing: no download is running. */
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
    HintsFromPeers* m_goal = nullptr; //!< copy of m_file for the start's thread
    std::shared_ptr<BlockPrefetch> m_prefetch IBD_GUARDED_BY(m_mutex); //!< while Fetch() waits
    bool m_asked = false;                                              //!< Fetch() was called
};

} // namespace ibd

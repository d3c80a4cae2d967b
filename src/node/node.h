// Node: the composition root. Opens the stores, brings the chain up (reindex, booster, serial
// validation) and serves RPC until it is stopped. Owned by main; Run() on main's thread,
// RequestStop() from any.
#pragma once

#include "booster/peer_hints.h"
#include "events/scheduler.h"
#include "index/indexes.h"
#include "jsonrpc/server.h"
#include "node/chain_for_indexes.h"
#include "node/chain_start.h"
#include "node/commands.h"
#include "node/filters_for_peers.h"
#include "node/node_network.h"
#include "node/pool_feed.h"
#include "node/pool_for_peers.h"
#include "node/pool_news.h"
#include "rpc/blockchain.h"
#include "rpc/control.h"
#include "rpc/mempool.h"
#include "rpc/mining.h"
#include "rpc/network.h"
#include "rpc/tip_coins.h"
#include "rpc/zmq_calls.h"
#include "util/found.h"
#include "util/log_file.h"
#include "util/thread_log.h"
#include "zmq/publisher.h"

namespace ibd {

/** Wakes RPC calls that wait for a new tip. */
class WaiterFeed final : public EventConsumer {
public:
    explicit WaiterFeed(TipWaiters& waiters) : m_waiters(waiters) {}
    void Take(const Event& event) override
    {
        if (std::holds_alternative<TipChanged>(event)) m_waiters.Notify();
    }

private:
    TipWaiters& m_waiters;
};

class Node {
public:
    /** The logger must be open, the data directory locked. */
    Node(Env& env, FileLogger& log, const ArgsManager& args, const DataPaths& paths,
         const ChainParams& params, DataDir& dir, NodeOptions options);
    ~Node();

    /** Starts, works and shuts down; returns after RequestStop(). `started`: called when the node
     *  serves calls, or starts work that may take hours; possibly again later, on any thread. An
     *  error is one line for the user. */
    Result<> Run(const std::function<void()>& started);
    void RequestStop();
    /** Call it after SIGCHLD: commands may have ended. */
    void CollectCommands() { m_commands.CollectEnded(); }
    /** Whether Run() failed because of the databases: the message then asks the user to rebuild
     *  them, and has no prefix "Error:", as in Core. */
    bool AsksForReindex() const { return m_chain_start.AsksForReindex(); }

private:
    void AddEventConsumers();
    void StartZmq();
    std::vector<ZmqNotification> ZmqActive() const;
    Result<> StartRpc();
    std::optional<BoosterProgress> BoosterStatus() const;
    ProgressTargets ProgressOnTerminal() { return {&m_log.ProgressLine(), &m_overall}; }
    void ConnectStored();
    Result<> Start();
    void MakeNetwork(uint64_t files);
    void OpenEarlyCalls(ChainManager& chain);
    void BeginLongWork();
    BlockFetcher* StartFetcher(ChainManager& chain);
    Found<Path> FetchHints(ChainManager& chain);
    SessionOptions BoosterSettings();
    SessionHooks BoosterHooks();
    SnapshotHooks SnapshotSettings();
    SnapshotProofHooks ProofHooks();
    PeerHintsOptions PeerHintsSettings();
    Result<> GoLive();
    bool HasReachedStop(const HeaderNode& tip) const;
    /** Work that must be done before the next block is connected. */
    void TipConnected(const HeaderNode& tip);
    Result<> Sync();
    Result<> LoadBlockFiles();
    void LoadPool();
    void StartScheduler(); //!< as soon as a network has addresses to save; then without effect
    void ScheduleTxs();    //!< the regular jobs of peers about transactions
    void SavePool();
    void ForwardJobs(std::chrono::seconds time) { m_scheduler.Forward(time); } //!< for tests
    void LoadFeeEstimates();
    void SaveFeeEstimates();
    Result<> OpenIndexes();
    Result<> StartIndexes();
    void StartBackgroundWork();
    /** Numbers of connected transactions or blocks, and the totals. */
    struct DownloadCount {
        uint64_t done = 0;
        uint64_t all = 0;
    };
    DownloadCount CountDownload(const HeaderNode& tip, const HeaderNode& best) const;
    uint64_t BytesToDownload(const HeaderNode& best) const;
    ProgressOptions DownloadProgressOf(const DownloadCount& count, const HeaderNode& best);
    /** Whether this many blocks may be downloaded, and that takes long enough to show progress. */
    bool IsLongDownload(int32_t missing) const;
    void ShowDownload();
    Result<> WaitForStop();
    Result<> ShutDown();
    Error Fatal(const Error& error) const;
    /** Stops the node after a failure in an RPC call. */
    void StopFor(const Error& error);
    void SetStatus(const std::string& status);

    Env& m_env;
    FileLogger& m_log;
    OverallProgress m_overall;
    const ArgsManager& m_args;
    const DataPaths& m_paths;
    const ChainParams& m_params;
    DataDir& m_dir;
    const NodeOptions m_options;

    std::atomic<bool> m_interrupt{false};
    std::function<void()> m_started; //!< may be called several times
    Mutex m_stop_mutex;
    std::condition_variable_any m_stop;
    std::optional<Error> m_failure IBD_GUARDED_BY(m_stop_mutex);

    VerificationCaches m_caches;
    ScriptThreads m_scripts;
    NodeWarnings m_warnings;
    TipWaiters m_waiters;
    WaiterFeed m_waiter_feed{m_waiters};
    Commands m_commands;
    Scheduler m_scheduler{m_env};
    std::optional<ThreadLines> m_scheduler_lines; //!< named as Core's thread of events and jobs
    Events m_events;
    ChainEvents m_chain_events{m_events, m_warnings};
    PoolNews m_pool_news{m_events};
    std::unique_ptr<ZmqPublisher> m_zmq; //!< null: nothing is published by ZeroMQ
    Indexes m_indexes;
    std::unique_ptr<ChainForIndexes> m_chain_for_indexes; //!< made before they are opened
    HintsLibrary m_library;
    PeerHints m_peer_hints;
    BoosterSession m_booster;
    SnapshotSession m_snapshots;
    ChainStart m_chain_start;
    ChainManager* m_chain = nullptr;             //!< set once it is loaded, or partly loaded
    std::unique_ptr<ChainThread> m_chain_thread; //!< set by GoLive()
    std::atomic<bool> m_live{false};             //!< set by GoLive()
    std::unique_ptr<NodeNetwork> m_network;      //!< made before the chain is loaded
    std::atomic<NodeNetwork*> m_open_network = nullptr; //!< for threads that stop the node at any
                                                        //!< time

    RpcTable m_table;
    ControlContext m_control;
    ChainContext m_chain_context;
    std::unique_ptr<FeeEstimator> m_fees; //!< null: no transactions come from peers
    TxPool m_pool;
    TxAcceptance m_acceptance;
    ChainTipCoins m_tip_coins{m_chain_context.chain, m_env};
    TxSubmission m_submission{m_acceptance, m_pool, m_tip_coins};
    TxIntake m_tx_intake{m_submission, m_pool, m_env};
    PoolForPeers m_pool_for_peers{m_pool, m_options.policy, m_tx_intake, m_env};
    FiltersForPeers m_filters_for_peers{m_chain_context.indexes};
    PoolContext m_pool_context{m_chain_context, m_pool, m_acceptance, m_submission, m_log};
    PoolFeed m_pool_feed;
    BlockAssembler m_assembler;
    MiningContext m_mining;
    NetContext m_net{m_chain_context, m_options.policy.min_relay_fee,
                     m_options.policy.incremental_fee, m_options.network.private_broadcast};
    std::unique_ptr<RpcServer> m_server;
};

} // namespace ibd

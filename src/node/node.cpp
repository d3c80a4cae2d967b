// See node.h.
#include "node/node.h"

#include "booster/core_undo.h"
#include "booster/kept_call.h"
#include "crypto/random_key.h"
#include "mempool/fee_file.h"
#include "mempool/upkeep.h"
#include "net/network_config.h"
#include "net/peer/peer_set.h"
#include "node/stack_options.h"
#include "node/start_checks.h"
#include "node/start_log.h"
#include "rpc/all_calls.h"
#include "rpc/rest/rest.h"
#include "rpc/server_options.h"
#include "rpc/unfinished_file.h"
#include "validation/block_import.h"

#include <algorithm>
#include <utility>

namespace ibd {

namespace {

/** Open files: a part is for the booster's runs; Core requests the same number. */
constexpr uint64_t kOpenFiles = 2048;
constexpr int kCoreBlockPeers = 2;        //!< usual block-only connections
constexpr uint64_t kLeastOpenFiles = 160; //!< Core's number without peers

constexpr const char* kFeeFile = "fee_estimates.dat";
constexpr std::chrono::hours kSaveFeesEvery{1};
constexpr std::chrono::minutes kSaveAddressesEvery{15};
// Interval between announcements of users' transactions that no peer has fetched.
constexpr std::chrono::minutes kAnnounceAgainAfter{10};
constexpr std::chrono::minutes kAnnounceAgainBefore{15};
// Interval between checks for private transactions that are due again.
constexpr std::chrono::minutes kSendAgainAfter{2};
constexpr std::chrono::minutes kSendAgainBefore{3};

CacheSalt RandomSalt(Env& env)
{
    CacheSalt salt;
    env.RandomBytes(salt);
    return salt;
}

/** Whether the user has no block assumed valid. */
bool ChecksAllScripts(const ArgsManager& args, const NodeOptions& options)
{
    return options.booster.full_validation ||
           (args.IsSet("-assumevalid") && options.assume_valid.IsNull());
}

} // namespace

Node::Node(Env& env, FileLogger& log, const ArgsManager& args, const DataPaths& paths,
           const ChainParams& params, DataDir& dir, NodeOptions options)
    : m_env(env), m_log(log), m_overall(env), m_args(args), m_paths(paths), m_params(params),
      m_dir(dir), m_options(std::move(options)),
      m_caches(m_options.signature_cache_bytes, RandomSalt(env)),
      m_scripts(m_options.script_threads - 1, m_options.booster.signature_lanes),
      m_commands({m_options.block_notify, m_options.alert_notify}, log),
      m_indexes({.env = env,
                 .log = log,
                 .consensus = params.consensus,
                 .folder = dir.Indexes(),
                 .options = m_options.indexes,
                 .failed = [this](const Error& error) { StopFor(error); }}),
      m_library(env, log, params, std::filesystem::absolute(dir.Net() / "hints")),
      m_peer_hints(env, log, m_library, PeerHintsSettings()),
      m_booster(env, log, params, BoosterSettings()),
      m_snapshots(env, log, params, dir, m_interrupt, SnapshotSettings()),
      m_chain_start({.env = env,
                     .log = log,
                     .params = params,
                     .dir = dir,
                     .options = m_options,
                     .scripts = m_scripts,
                     .caches = m_caches,
                     .events = m_chain_events,
                     .indexes = m_indexes,
                     .booster = m_booster,
                     .snapshots = m_snapshots,
                     .booster_hooks = BoosterHooks(),
                     .interrupt = m_interrupt,
                     .progress = ProgressOnTerminal(),
                     .set_status = [this](const std::string& status) { SetStatus(status); },
                     .started = [this] { BeginLongWork(); }}),
      m_table(env), m_control{env,
                              m_table,
                              log,
                              LogPath(args, dir.Net()),
                              env.MonotonicMicros(),
                              [this] { RequestStop(); },
                              params.is_mockable ? m_options.mock_time : nullptr,
                              [this](std::chrono::seconds time) { ForwardJobs(time); }},
      m_chain_context{.env = env,
                      .log = log,
                      .waiters = m_waiters,
                      .warnings = m_warnings,
                      .interrupt = m_interrupt,
                      .wants_tx_index = m_options.indexes.tx,
                      .drain_events =
                          [this] {
                              m_events.Drain();
                              m_indexes.WaitForTip();
                          },
                      .net_dir = dir.Net(),
                      .coins_db_cache_bytes = m_options.cache.coins_db,
                      .coins_cache_bytes = m_options.cache.coins,
                      .user_agent = UserAgent(args),
                      .fatal = [this](const Error& error) { StopFor(error); },
                      .undo_state = [this] { return m_booster.Undo().Describe(); },
                      .overall = &m_overall,
                      .snapshots = &m_snapshots},
      m_pool(m_options.pool, RandomKey(m_env)),
      m_acceptance(params.consensus, m_options.policy, &m_caches),
      m_pool_feed(m_pool, m_acceptance, m_chain_context.chain, m_tip_coins, env,
                  [this](const Error& error) { StopFor(error); }),
      m_assembler(env, log, m_pool, m_options.assembler),
      m_mining{m_chain_context, m_assembler, m_pool, [this] { return m_network->PeerCount(); }}
{
    m_scripts.SetCaches(&m_caches);
    m_pool_context.file.path = std::filesystem::absolute(dir.Net() / "mempool.dat");
    if (m_options.persist_pool_v1) m_pool_context.file.version = PoolFileVersion::kPlain;
    m_pool_context.announce = [this](const TransactionRef& tx) {
        if (PeerNetwork* const peers = m_net.network) peers->Txs().Announce(tx);
    };
    m_chain_events.SetFirst(m_pool_feed);
    AddEventConsumers();
    m_chain_events.OnTip([this](const HeaderNode& tip) { TipConnected(tip); });
    const std::vector<std::string> deprecated = args.GetAll("-deprecatedrpc");
    m_chain_context.deprecated_warnings =
        std::find(deprecated.begin(), deprecated.end(), "warnings") != deprecated.end();
}

// None of them can delay the chain: a slow start of a command delays only further commands.
void Node::AddEventConsumers()
{
    const EventKinds tips = EventKinds::Of<TipChanged>();
    // Waiting calls read the current tip, so one queued event suffices for all later ones.
    m_events.AddConsumer(m_waiter_feed,
                         {.kinds = tips, .when_full = WhenFull::kDrop, .capacity = 1});
    // So do the indexes.
    m_events.AddConsumer(m_indexes, {.kinds = tips, .when_full = WhenFull::kDrop, .capacity = 1});
    m_events.AddConsumer(m_commands, {.kinds = tips}, "notify");
    // There are few kinds of warnings, so that this queue cannot fill while tips are missed.
    m_events.AddConsumer(m_commands, {.kinds = EventKinds::Of<WarningRaised>()}, "notify");
}

Node::~Node() = default;

SessionOptions Node::BoosterSettings()
{
    SessionOptions options{.booster = m_options.booster,
                           .own = m_options.own_hints,
                           .hints = m_options.hints,
                           .assume_valid = m_options.assume_valid,
                           .net_dir = m_dir.Net(),
                           .stop_at = m_options.stop_at_height,
                           .wait_micros = m_options.hints_wait_seconds * kSecond};
    options.booster.chainstate = m_dir.Chainstate();
    options.booster.progress = ProgressOnTerminal();
    return options;
}

SessionHooks Node::BoosterHooks()
{
    return {
        .started = [this] { BeginLongWork(); },
        .set_status = [this](const std::string& status) { SetStatus(status); },
        .start_fetcher = [this](ChainManager& chain) { return StartFetcher(chain); },
        .fetch_hints = [this](ChainManager& chain) { return FetchHints(chain); },
        .ended =
            [this](VerdictKind end) { m_peer_hints.Ended(end, m_booster, *m_chain_start.Chain()); },
        .own_hints_proven =
            [this](const Hints& hints, const BlockHash& terminal) {
                m_peer_hints.Keep(hints, terminal);
            }};
}

/** Transactions accepted while a snapshot was loaded may spend coins that no longer exist. */
SnapshotHooks Node::SnapshotSettings()
{
    return {.coins = StackOptions(m_env, m_options).coins,
            .pool_is_empty =
                [this] {
                    const Lock lock(m_pool.mutex);
                    return m_pool.Size() == 0;
                },
            .switched =
                [this] {
                    m_network->Peers()->Control().LimitServices(true);
                    const PoolGate::Pass pass(m_pool.gate);
                    const Lock lock(m_pool.mutex);
                    Expire(m_pool, std::numeric_limits<int64_t>::max());
                },
            .booster = m_options.booster,
            .proof = ChecksAllScripts(m_args, m_options) ? std::function<SnapshotProofHooks()>()
                                                         : [this] { return ProofHooks(); },
            .fatal = [this](const Error& error) { StopFor(error); }};
}

SnapshotProofHooks Node::ProofHooks()
{
    return {.run = [this](const auto& task) { return m_chain_thread->Run(task); },
            .peers = m_network.get(),
            .proven =
                [this] {
                    m_network->Peers()->Control().LimitServices(false);
                    m_booster.AskForUndo(); // of the blocks below
                },
            .refuted = [this](const Error& error) { StopFor(error); }};
}

PeerHintsOptions Node::PeerHintsSettings()
{
    const BoosterOptions& booster = m_options.booster;
    const HintsChoice& hints = m_options.hints;
    const bool usable = !m_options.assume_valid.IsNull() || booster.full_validation;
    return {.prefetch = {.full_validation = booster.full_validation,
                         .sync_bytes = booster.checkpoint_bytes,
                         .sync_seconds = booster.checkpoint_seconds,
                         .has_headers = {},
                         .failed = {}},
            .fetch = {.folder = hints.folder.value_or(Path()),
                      .pin = hints.hash,
                      .known = KnownHintsOf(m_params.network),
                      .full_validation = booster.full_validation,
                      .progress = ProgressOnTerminal()},
            .wait_micros = m_options.hints_wait_seconds * kSecond,
            .wanted = hints.folder && usable,
            .serve = m_options.serve_hints};
}

void Node::RequestStop()
{
    m_interrupt = true;
    m_booster.Interrupt();
    m_peer_hints.Interrupt();
    if (NodeNetwork* const network = m_open_network) network->Interrupt();
    m_waiters.Stop();
    const Lock lock(m_stop_mutex);
    m_stop.notify_all();
}

void Node::StopFor(const Error& error)
{
    {
        const Lock lock(m_stop_mutex);
        if (!m_failure) m_failure = error;
    }
    RequestStop();
}

void Node::SetStatus(const std::string& status)
{
    m_table.SetWarmup(status);
    m_log.Info("init message: {}", status);
}

std::optional<BoosterProgress> Node::BoosterStatus() const
{
    auto progress = m_booster.Progress();
    if (const auto download = m_peer_hints.Prefetching()) {
        if (!progress) progress.emplace();
        progress->state = BoosterState::kWaiting;
        progress->download = download;
    }
    const auto undo = m_booster.Undo().Progress();
    if (undo && !progress) progress.emplace();
    if (undo) progress->undo = undo;
    return progress;
}

/** As in Core, the node runs without notifications if an address cannot be used. */
void Node::StartZmq()
{
    if (m_options.zmq.empty()) return;
    const auto read_block = [this](const BlockHash& hash) -> Result<Bytes> {
        const HeaderNode* const node = m_chain->Read().Find(hash);
        if (!node) return BadData("not in the index");
        return m_chain->ReadBlock(*node);
    };
    auto opened = ZmqPublisher::Open(m_options.zmq, read_block, m_log);
    if (!opened) return m_log.Error("zmq: {}", opened.Message());
    m_zmq = std::move(*opened);
    m_events.AddConsumer(*m_zmq, m_zmq->Wanted(), "zmq");
    if (m_zmq->WantsPool()) m_pool.AddListener(m_pool_news);
}

std::vector<ZmqNotification> Node::ZmqActive() const
{
    std::vector<ZmqNotification> active;
    if (!m_zmq) return active;
    for (const auto& [topic, address, most] : m_options.zmq) {
        active.push_back({std::string("pub") + NameOf(topic), address, most});
    }
    return active;
}

Result<> Node::StartRpc()
{
    const Path calls = FolderOfCalls(m_options.booster.directory);
    AddAllCalls(
        m_table,
        {.control = m_control,
         .chain = m_chain_context,
         .pool = m_pool_context,
         .mining = m_mining,
         .net = m_net,
         .booster = [this] { return BoosterStatus(); },
         .overall = m_overall,
         .signature_verifier = SignatureVerifierName(m_options.booster.signature_lanes),
         .hints_join = JoinOptionsFrom(m_options.booster, calls),
         .hints_made = [this](const Hints& hints,
                              const BlockHash& terminal) { m_peer_hints.Keep(hints, terminal); },
         .zmq = ZmqActive()});
    m_table.ShowProgress(m_overall);
    if (!m_args.GetBool("-server", true)) return {};
    IBD_ASSIGN_OR_RETURN(const RpcServerOptions options,
                         ReadRpcOptions(m_args, m_paths.rpc_port, m_dir.Net(), m_log));
    const HttpHandler rest =
        options.rest ? MakeRest({m_chain_context, m_pool, m_table}) : HttpHandler();
    IBD_ASSIGN_OR_RETURN(m_server, RpcServer::Start(m_env, m_log, options, m_table, rest));
    return {};
}

bool Node::HasReachedStop(const HeaderNode& tip) const
{
    return m_options.stop_at_height > 0 && tip.height >= m_options.stop_at_height;
}

void Node::TipConnected(const HeaderNode& tip)
{
    m_booster.Validated(tip);
    if (!m_live) return;
    // A crash must not lose the state in which Core can use this directory again.
    if (UndoJustSuffices(*m_chain, tip)) m_chain->FlushSoon();
    if (HasReachedStop(tip)) RequestStop();
}

Result<> Node::LoadBlockFiles()
{
    for (const Path& file : m_options.load_blocks) {
        if (m_interrupt) break;
        BlockImporter importer(*m_chain, m_chain_start.Blocks(), m_env, m_log, m_interrupt);
        IBD_RETURN_IF_ERROR(importer.LoadFile(file));
        m_chain_thread->Activate();
    }
    return {};
}

void Node::MakeNetwork(uint64_t files)
{
    PeerNetworkOptions options = m_options.network;
    options.folder = m_dir.Net();
    const auto free = static_cast<int>(std::min<uint64_t>(files - kLeastOpenFiles, kOpenFiles));
    const int left = std::max(free - options.MaxPrivatePeers(), 0);
    if (left < options.max_connections) {
        InitWarning(m_log, fmt::format("Reducing -maxconnections from {} to {}, because of system "
                                       "limitations.",
                                       options.max_connections, left));
        options.max_connections = left;
    }
    m_log.Info("Using at most {} automatic connections ({} file descriptors available)",
               options.max_connections, files);
    m_network = std::make_unique<NodeNetwork>(
        NodeNetworkParts{.env = m_env,
                         .log = m_log,
                         .params = m_params,
                         .extra_booster_peers = m_options.booster_peers - kCoreBlockPeers,
                         .mock_time = m_options.mock_time,
                         .set_status = [this](const std::string& status) { SetStatus(status); },
                         .warnings = &m_warnings,
                         .fatal = [this](const Error& error) { StopFor(error); },
                         .hints = m_options.serve_hints ? &m_library : nullptr,
                         .pool = m_pool_for_peers,
                         .filters = m_filters_for_peers},
        std::move(options));
    m_open_network = m_network.get();
    m_events.AddConsumer(*m_network, {.kinds = EventKinds::Of<TipChanged>()});
    m_chain_events.OnChecked([this](const BlockHash& hash, const RuleResult& verdict) {
        m_network->Checked(hash, verdict);
    });
}

/** Called when work that may take hours begins and the index is open: from now on calls that need
 *  no coins are answered, and the chain must exist until the server has ended. */
void Node::OpenEarlyCalls(ChainManager& chain)
{
    if (!chain.Tip()) m_chain_context.hides_tip = true; // it is built in this start
    m_chain_context.chain = &chain;
    m_net.network = m_network->Peers();
    m_table.OpenNetworkCalls();
}

void Node::BeginLongWork()
{
    OpenEarlyCalls(*m_chain_start.Chain());
    m_started();
}

/** For the booster. */
BlockFetcher* Node::StartFetcher(ChainManager& chain)
{
    m_peer_hints.Prepare(chain);
    BlockFetcher* const fetcher = m_network->StartFetcher(chain);
    if (!fetcher) return nullptr;
    StartScheduler();
    OpenEarlyCalls(chain);
    return fetcher;
}

Found<Path> Node::FetchHints(ChainManager& chain)
{
    m_peer_hints.Prepare(chain);
    return m_peer_hints.Fetch(chain, m_peer_hints.Asks() ? StartFetcher(chain) : nullptr);
}

/** Continues to the state in which the node serves calls and peers, however many blocks are still
 *  to be connected. */
Result<> Node::GoLive()
{
    StartScheduler();
    m_events.Start();
    m_chain_thread = std::make_unique<ChainThread>(
        *m_chain, [this](const Error& error) { StopFor(error); }, [this] { m_network->Wake(); });
    m_live = true;
    // For a new chain connects genesis, as peers need a tip.
    IBD_RETURN_IF_ERROR(m_chain_thread->Run([this] {
        if (m_chain->Tip()) return Result<>();
        return m_chain->ActivateBestChain([this] { return m_chain->Tip() != nullptr; });
    }));
    if (m_interrupt) return {};
    if (m_snapshots.InUse()) m_network->Peers()->Control().LimitServices(true);
    IBD_RETURN_IF_ERROR(m_network->Start(*m_chain));
    m_network->Follow(*m_chain_thread);
    m_net.network = m_network->Peers();
    ScheduleTxs();
    m_chain_context.chain_thread = m_chain_thread.get();
    m_chain_context.chain = m_chain;
    m_tx_intake.Start([this] { m_network->Wake(); },
                      [this](const Error& error) { StopFor(error); });
    m_table.EndWarmup();
    m_chain_context.hides_tip = false;
    return {};
}

/** Connects the stored blocks, with a progress line if there are many. */
void Node::ConnectStored()
{
    const HeaderNode* last = nullptr;
    uint64_t before = 0;
    {
        const ChainReader reader = m_chain->Read();
        last = reader.Tree().BestHeader();
        while (last->prev && !last->HaveChainTxs()) last = last->prev;
        if (const HeaderNode* const tip = reader.Active().Tip()) before = tip->chain_tx_count;
    }
    const int32_t height = m_chain->Current().height;
    if (last->height <= height) return m_chain_thread->Activate();
    const uint64_t above = [&] {
        const ChainReader reader = m_chain->Read(); // other threads may store blocks
        return BlockPlan(*last, [&](int32_t at) { return at <= height; }).BytesToFold();
    }();
    if (above < kLeastToConnect) return m_chain_thread->Activate();
    if (!m_overall.Now()) m_overall.Plan(PlanOf({WorkStep::kConnect}, {.above = above}));
    ProgressMeter meter(m_env, m_log,
                        {.label = "Connecting blocks",
                         .unit = "transactions",
                         .total = last->chain_tx_count - std::min(before, last->chain_tx_count),
                         .to = ProgressOnTerminal(),
                         .step = WorkStep::kConnect});
    m_chain_thread->Activate([&] {
        const HeaderNode* const tip = m_chain->Read().Active().Tip();
        const uint64_t now = tip ? tip->chain_tx_count : before;
        meter.Update(now - std::min(now, before), tip ? fmt::format("block {}", tip->height) : "");
    });
}

/** If the file cannot be used, its transactions are lost, but the node runs. */
void Node::LoadPool()
{
    const Path& file = m_pool_context.file.path;
    if (m_options.persist_pool && !m_interrupt && m_chain->Tip() && m_env.Exists(file)) {
        const Result<> loaded =
            ImportPool(file, {}, m_submission, m_pool, m_env, m_log, m_interrupt);
        if (!loaded) {
            m_log.Warning(
                "Failed to deserialize mempool data on file: '{}': {}. Continuing anyway.",
                file.string(), loaded.Message());
        }
    }
    m_pool_context.loaded = !m_interrupt;
}

void Node::StartScheduler()
{
    if (m_scheduler_lines) return;
    m_scheduler_lines.emplace(m_log, "scheduler");
    m_scheduler.Start("scheduler");
    m_scheduler.Every(kSaveAddressesEvery, [this] { m_network->Peers()->Addresses().Save(); });
}

void Node::ScheduleTxs()
{
    PeerNetwork* const peers = m_net.network;
    m_scheduler.EveryBetween(kAnnounceAgainAfter, kAnnounceAgainBefore,
                             [peers] { peers->Txs().AnnounceAgain(); });
    m_scheduler.EveryBetween(kSendAgainAfter, kSendAgainBefore,
                             [peers] { peers->Txs().FindStalePrivate(); });
}

void Node::SavePool()
{
    if (!m_options.persist_pool || !m_pool_context.loaded) return;
    const Result<> saved = DumpPool(m_pool, m_pool_context.file, m_env, m_log);
    if (!saved) m_log.Error("Failed to dump mempool: {}. Continuing anyway.", saved.Message());
}

/** Before the first call and the first transaction. */
void Node::LoadFeeEstimates()
{
    if (m_options.network.peers.blocks_only) return;
    m_fees = std::make_unique<FeeEstimator>(RandomKey(m_env));
    LoadFees(*m_fees, m_dir.Net() / kFeeFile, m_options.accept_old_fees, m_env, m_log);
    m_pool.AddListener(*m_fees);
    m_pool_context.fees = m_fees.get();
    m_scheduler.Every(kSaveFeesEvery, [this] { SaveFeeEstimates(); });
}

void Node::SaveFeeEstimates() { SaveFees(*m_fees, m_dir.Net() / kFeeFile, m_env, m_log); }

Result<> Node::Sync()
{
    const ThreadLines lines(m_log, "initload");
    if (m_chain->Tip() != nullptr) m_started();
    // The booster or an earlier start may have reached that height already.
    if (m_chain->Tip() != nullptr && HasReachedStop(*m_chain->Tip())) {
        RequestStop();
        return {};
    }
    ConnectStored();
    const int32_t best = m_chain->Read().Tree().BestHeader()->height;
    if (!IsLongDownload(best - m_chain->Current().height)) m_overall.End();
    IBD_RETURN_IF_ERROR(m_chain_thread->Run([this] { return m_chain->Flush(FlushMode::kAlways); }));
    IBD_RETURN_IF_ERROR(LoadBlockFiles());
    m_chain_context.import_done = !m_interrupt;
    LoadPool();
    if (m_options.stop_after_import) {
        m_log.Info("Stopping after block import");
        RequestStop();
    }
    // Not earlier: blocks of a rebuilt chainstate would appear to be disconnected.
    IBD_RETURN_IF_ERROR(StartIndexes());
    LogChain(*m_chain, m_log);
    m_log.Info("init message: Done loading");
    return {};
}

Result<> Node::StartIndexes()
{
    if (m_interrupt) return {};
    if (const auto there = m_indexes.CheckBlocks(); !there) {
        InitError(m_log, there.Message());
        return BadData("Failed to start indexes, shutting down…");
    }
    for (const std::string& lack : m_indexes.LackOfSpace()) InitWarning(m_log, lack);
    m_indexes.Start();
    return {};
}

Error Node::Fatal(const Error& error) const
{
    const std::string log = LogPath(m_args, m_dir.Net()).filename().string();
    return {
        fmt::format("A fatal internal error occurred, see {} for details: {}", log, error.message),
        error.kind};
}

constexpr auto kShowEvery = std::chrono::milliseconds(500);
constexpr auto kLookEvery = std::chrono::milliseconds(100); // before anything is shown
constexpr int kLogEverySeconds = 600;                       // the log has a line for each block

/** Weighs blocks by their transactions, whose total is an estimate. On networks without known
 *  figures all blocks weigh the same. */
Node::DownloadCount Node::CountDownload(const HeaderNode& tip, const HeaderNode& best) const
{
    if (m_params.chain_tx_data.tx_count == 0) {
        return {static_cast<uint64_t>(tip.height), static_cast<uint64_t>(best.height)};
    }
    const double share = m_chain->VerificationProgress(&tip);
    const auto done = static_cast<double>(tip.chain_tx_count);
    return {tip.chain_tx_count, static_cast<uint64_t>(share > 0 ? done / share : done)};
}

/** Bytes of all blocks, of which a part is missing. */
uint64_t Node::BytesToDownload(const HeaderNode& best) const
{
    const uint64_t assumed = m_params.assumed_blockchain_size_gb * 1'000'000'000;
    return assumed > 0 ? assumed : static_cast<uint64_t>(best.height) * kGuessedBlockBytes;
}

/** If a sync by the booster has planned this step, the plan has only the blocks above the sync's
 *  own: then `count` starts there. */
ProgressOptions Node::DownloadProgressOf(const DownloadCount& count, const HeaderNode& best)
{
    if (!m_overall.Awaits(WorkStep::kConnect)) {
        const uint64_t bytes = BytesToDownload(best);
        m_overall.Plan(PlanOf({WorkStep::kConnect}, {.above = bytes, .above_missing = bytes}));
    }
    return {.label = "Connecting blocks from peers",
            .unit = m_params.chain_tx_data.tx_count > 0 ? "transactions" : "blocks",
            .total = count.all,
            .start = count.done,
            .log_every_seconds = kLogEverySeconds,
            .to = ProgressOnTerminal(),
            .step = WorkStep::kConnect};
}

/** A line of progress until the blocks that peers have are connected. It begins when the headers
 *  are known, without which the number of blocks is unknown. */
void Node::ShowDownload()
{
    std::optional<ProgressMeter> meter;
    uint64_t base = 0; // connected before the steps that are shown
    int32_t last = m_chain->Read().Tree().BestHeader()->height;
    while (!m_interrupt && m_chain->IsInitialBlockDownload()) {
        const HeaderNode* const tip = m_chain->Tip();
        if (!tip) return; // the genesis block cannot be read
        const HeaderNode* const best = m_chain->Read().Tree().BestHeader();
        const int32_t missing = best->height - tip->height;
        const bool settled = std::exchange(last, best->height) == best->height;
        const DownloadCount count = CountDownload(*tip, *best);
        if (!meter && IsLongDownload(missing) && settled) {
            base = m_overall.Awaits(WorkStep::kConnect) ? count.done : 0;
            meter.emplace(m_env, m_log,
                          DownloadProgressOf({count.done - base, count.all - base}, *best));
        }
        if (meter && missing > 0) {
            meter->SetTotal(count.all - base);
            meter->Update(count.done - base, fmt::format("block {}", tip->height));
        } else if (!IsLongDownload(missing)) {
            meter.reset();
            m_overall.End();
        }
        const Lock lock(m_stop_mutex);
        if (!m_interrupt) m_stop.wait_for(m_stop_mutex, meter ? kShowEvery : kLookEvery);
    }
    meter.reset();
    m_overall.End();
}

bool Node::IsLongDownload(int32_t missing) const
{
    return m_options.network.MayHavePeers() && missing > static_cast<int32_t>(kFewMissing);
}

Result<> Node::WaitForStop()
{
    ShowDownload();
    const Lock lock(m_stop_mutex);
    while (!m_interrupt) m_stop.wait(m_stop_mutex);
    if (m_failure) return Fatal(*m_failure);
    return {};
}

Result<> Node::OpenIndexes()
{
    m_chain_for_indexes = std::make_unique<ChainForIndexes>(*m_chain);
    IBD_RETURN_IF_ERROR(m_indexes.Open(*m_chain_for_indexes));
    m_chain_context.indexes = &m_indexes;
    return m_chain_start.Prune();
}

void Node::StartBackgroundWork()
{
    if (m_interrupt) return;
    m_booster.StartUndo([this](const Result<>& made) {
        if (m_booster.Undo().Broken() != nullptr) return StopFor(made.GetError());
        if (!made)
            m_log.Error("Undo data could not be made, a restart tries again: {}", made.Message());
        if (m_interrupt) return;
        m_chain->TryLeftAside(); // branches that still lack undo data end the node
        m_chain_thread->ActivateSoon();
    });
    m_snapshots.StartProof(*m_chain);
}

Result<> Node::ShutDown()
{
    // The node waits for these commands, which may query it.
    m_commands.RunAndWait(m_options.shutdown_notify);
    m_log.Info("Shutdown in progress...");
    SetThreadNameInLog("shutoff");
    m_interrupt = true; // after an error it is not set yet
    if (m_server) m_server->Interrupt();
    m_waiters.Stop();
    m_server.reset();
    m_booster.Undo().Stop();
    m_snapshots.StopProof();
    m_scheduler.Stop(); // its jobs use the network
    m_net.network = nullptr;
    if (m_network) m_network->Stop(); // now no other code gives the chain's thread work
    m_tx_intake.Stop();
    m_chain_context.chain_thread = nullptr;
    m_chain_thread.reset();
    SavePool();
    if (m_fees) {
        m_fees->ForgetWaiting();
        SaveFeeEstimates();
    }
    Result<> flushed;
    if (m_chain && m_chain->HasCoins()) {
        m_snapshots.Disown(*m_chain);
        flushed = m_chain->Flush(FlushMode::kAlways);
        if (m_booster.Undo().Broken() == nullptr) WarnIfUndoIsShort(*m_chain, m_log);
    }
    m_events.Stop();
    m_indexes.Stop(); // after the coins, as indexes must not be ahead of them
    m_scheduler_lines.reset();
    m_chain_context.chain = nullptr;
    m_chain = nullptr;
    m_chain_start.Close();
    m_snapshots.Settle();
    m_log.Info("Shutdown done");
    return flushed;
}

Result<> Node::Start()
{
    const Result<> opened = m_booster.OpenHints(m_options.hints);
    if (!opened) {
        return Error{fmt::format("-ibdboosterfile: {}. Fetch or make the file again, or start "
                                 "without -ibdboosterfile",
                                 opened.Message()),
                     opened.GetError().kind};
    }
    IBD_RETURN_IF_ERROR(m_chain_start.PrepareChainstate());
    LoadFeeEstimates();
    StartZmq();
    IBD_RETURN_IF_ERROR(StartRpc());
    if (m_options.serve_hints) m_library.Load();
    IBD_RETURN_IF_ERROR(m_network->Load());
    m_peer_hints.Attach(m_network->Peers()->Hints(), m_network->Peers()->Blocks());
    IBD_RETURN_IF_ERROR(LogCaches(m_args, m_options, m_log));
    Result<> loaded = m_chain_start.Load();
    if (!loaded && m_chain_start.AsksForReindex() && m_options.reindex_if_damaged &&
        !m_chain_start.Reindexes() && !m_chain_context.chain) {
        m_chain_start.ForgetAndReindex();
        loaded = m_chain_start.Load();
    }
    m_chain = m_chain_start.Chain();
    if (loaded && !m_interrupt) {
        TendKeptCall(m_env, m_log, *m_chain, FolderOfCalls(m_options.booster.directory));
    }
    if (const auto removed = RemoveUnfinishedFiles(m_env, m_log, m_chain_context.net_dir);
        !removed) {
        m_log.Warning("Files that a crash left unfinished could not be removed: {}",
                      removed.Message());
    }
    if (loaded && m_interrupt) m_log.Info("Shutdown requested. Exiting.");
    if (loaded && !m_interrupt) return OpenIndexes();
    return loaded;
}

Result<> Node::Run(const std::function<void()>& started)
{
    m_started = started;
    const PeerNetworkOptions& network = m_options.network;
    const int peers = network.max_connections + network.MaxPrivatePeers();
    const uint64_t files = m_env.OpenFileLimit(kOpenFiles + static_cast<uint64_t>(peers));
    if (files < kLeastOpenFiles) {
        return SystemError("Not enough file descriptors available. {} available, {} required.",
                           files, kLeastOpenFiles);
    }
    MakeNetwork(files);
    Result<> result = Start();
    if (result && !m_interrupt) result = GoLive();
    if (result && !m_interrupt) {
        result = Sync();
        if (!result) result = Fatal(result.GetError());
        if (result) m_commands.StartDetached(m_options.startup_notify);
        if (result) StartBackgroundWork();
    }
    if (result) result = WaitForStop();
    const Result<> flushed = ShutDown();
    if (!result || flushed) return result;
    return Fatal(flushed.GetError());
}

} // namespace ibd

// See node.h.
#include "node/node.h"
#include "node/start_checks.h"
#include "node/start_log.h"

#include "rpc/network.h"
#include "rpc/util_calls.h"
#include "storage/chainstate_builder.h"
#include "storage/kv_store.h"
#include "swiftsync/checkpoint.h"
#include "validation/verify_chain.h"

#include <algorithm>

namespace ibd {

namespace {

/** Files open at once: what the booster's runs may take is a part of it, and what Core asks for. */
constexpr uint64_t kOpenFiles = 2048;
constexpr uint64_t kLeastOpenFiles = 160; //!< as Core counts without peers

// Of block files with -fastprune, bytes.
constexpr uint64_t kSmallBlockFile = 64 << 10;
constexpr uint64_t kSmallBlockFileChunk = 16 << 10;

constexpr int kBlocksThatCoreChecks = 6; //!< its -checkblocks

/** How many of the last `most` blocks have undo data; a chain that begins among them needs no
 *  more. */
int BlocksWithUndo(const HeaderNode& tip, int most)
{
    int blocks = 0;
    const HeaderNode* node = &tip;
    for (; blocks < most && node->HasUndo(); node = node->prev) ++blocks;
    return node->height == 0 ? most : blocks;
}

/** Blocks from `segwit_height` up to the tip that were stored before their witnesses mattered. */
bool LacksWitnesses(const HeaderNode& tip, int segwit_height)
{
    for (const HeaderNode* node = &tip; node && node->height >= segwit_height; node = node->prev) {
        if ((node->status & kOptWitness) == 0) return true;
    }
    return false;
}

ChainManagerOptions ManagerOptions(Env& env, const NodeOptions& options)
{
    ChainManagerOptions out;
    out.cache_bytes = options.cache.coins;
    out.assume_valid = options.assume_valid;
    out.minimum_work = options.minimum_work;
    out.threads = 1 + options.prevout_threads;
    out.max_tip_age = options.max_tip_age;
    env.RandomBytes({reinterpret_cast<uint8_t*>(&out.hash_key), sizeof out.hash_key});
    return out;
}

CacheSalt RandomSalt(Env& env)
{
    CacheSalt salt;
    env.RandomBytes(salt);
    return salt;
}

} // namespace

Node::Node(Env& env, FileLogger& log, const ArgsManager& args, const DataPaths& paths,
           const ChainParams& params, DataDir& dir, NodeOptions options)
    : m_env(env), m_log(log), m_args(args), m_paths(paths), m_params(params), m_dir(dir),
      m_options(std::move(options)), m_reindex(m_options.reindex),
      m_reindex_chainstate(m_options.reindex_chainstate),
      m_caches(m_options.signature_cache_bytes, RandomSalt(env)),
      m_scripts(m_options.script_threads - 1),
      m_commands({m_options.block_notify, m_options.alert_notify}, log),
      m_booster(env, log, params),
      m_table(env), m_control{env,
                              m_table,
                              log,
                              LogPath(args, dir.Net()),
                              env.MonotonicMicros(),
                              [this] { RequestStop(); },
                              params.is_mockable ? m_options.mock_time : nullptr},
      m_chain_context{.env = env,
                      .waiters = m_waiters,
                      .warnings = m_warnings,
                      .interrupt = m_interrupt,
                      .drain_events = [this] { m_events.Drain(); },
                      .net_dir = dir.Net(),
                      .coins_db_cache_bytes = m_options.cache.coins_db,
                      .coins_cache_bytes = m_options.cache.coins,
                      .user_agent = UserAgent(args),
                      .fatal = [this](const Error& error) { StopFor(error); }},
      m_assembler(env, log, m_options.assembler), m_mining{m_chain_context, m_assembler}
{
    m_scripts.SetCaches(&m_caches);
    m_events.AddConsumer(m_waiter_feed);
    m_events.AddConsumer(m_commands);
    m_events.OnTip([this](const HeaderNode& tip) { TipConnected(tip); });
    const std::vector<std::string> deprecated = args.GetAll("-deprecatedrpc");
    m_chain_context.deprecated_warnings =
        std::find(deprecated.begin(), deprecated.end(), "warnings") != deprecated.end();
}

Node::~Node() = default;

void Node::RequestStop()
{
    m_interrupt = true;
    m_booster.Interrupt();
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

Result<> Node::StartRpc()
{
    AddControlMethods(m_table, m_control);
    AddChainInfoMethods(m_table, m_chain_context);
    AddDeploymentMethods(m_table, m_chain_context);
    AddBlockMethods(m_table, m_chain_context);
    AddCoinsMethods(m_table, m_chain_context);
    AddScanMethods(m_table, m_chain_context);
    AddDescriptorMethods(m_table, m_chain_context);
    AddTransactionMethods(m_table, m_chain_context);
    AddChainControlMethods(m_table, m_chain_context);
    AddMempoolMethods(m_table, m_chain_context);
    AddMiningMethods(m_table, m_mining);
    AddBlockTemplateMethods(m_table, m_mining);
    AddGenerateMethods(m_table, m_mining);
    AddBoosterMethods(m_table, [this] { return m_booster.Progress(); });
    AddIndexMethods(m_table);
    AddAddressMethods(m_table, m_chain_context);
    AddMessageMethods(m_table, m_chain_context);
    AddDecodeScriptMethod(m_table, m_chain_context);
    AddRawTransactionMethods(m_table, m_chain_context);
    AddNetworkMethods(m_table, m_chain_context);
    if (!m_args.GetBool("-server", true)) return {};
    IBD_ASSIGN_OR_RETURN(const RpcServerOptions options,
                         ReadRpcOptions(m_args, m_paths.rpc_port, m_dir.Net(), m_log));
    IBD_ASSIGN_OR_RETURN(m_server, RpcServer::Start(m_env, m_log, options, m_table));
    return {};
}

// Without all blocks no chainstate can be built again, so the old one must not be touched.
Result<> Node::RefusePruned(const BlockIndexDb& index) const
{
    IBD_ASSIGN_OR_RETURN(const std::optional<bool> pruned, index.Flag("prunedblockfiles"));
    if (!pruned.value_or(false)) return {};
    return BadData("the blocks in '{}' were pruned; this version works with all blocks only",
                   m_dir.Blocks().string());
}

ChainStackOptions Node::StackOptions()
{
    ChainStackOptions options;
    options.manager = ManagerOptions(m_env, m_options);
    options.index.cache_bytes = m_options.cache.index_db;
    options.blocks.obfuscate_new = m_options.obfuscate_blocks;
    if (m_options.small_block_files) {
        options.blocks.max_file_size = kSmallBlockFile;
        options.blocks.block_chunk = kSmallBlockFileChunk;
    }
    options.coins.cache_bytes = m_options.cache.coins_db;
    options.coins.batch_bytes = m_options.batch_bytes;
    options.checker = &m_scripts;
    options.observer = &m_events;
    return options;
}

Result<> Node::OpenIndex()
{
    SetStatus("Loading block index…");
    IBD_ASSIGN_OR_RETURN(const bool adopted, m_dir.AdoptOldBlockIndex());
    if (adopted) {
        m_log.Info("The block index was moved from {} to {}, where Bitcoin Core keeps it too",
                   m_dir.OldBlockIndex().string(), m_dir.BlockIndex().string());
    }
    ChainStackOptions options = StackOptions();
    IBD_ASSIGN_OR_RETURN(const bool indexed, m_env.IsThere(m_dir.BlockIndex() / "CURRENT"));
    if (m_reindex && indexed) {
        // One that is damaged is what -reindex is for.
        ChainStack old(m_env, m_log, m_params, m_dir, options, m_interrupt);
        if (old.OpenIndex()) IBD_RETURN_IF_ERROR(RefusePruned(old.Index()));
    }
    options.index.wipe = m_reindex;
    m_stack = std::make_unique<ChainStack>(m_env, m_log, m_params, m_dir, std::move(options),
                                           m_interrupt);
    IBD_RETURN_IF_ERROR(Damaged("Error opening block database", m_stack->OpenIndex()));
    IBD_RETURN_IF_ERROR(RefusePruned(m_stack->Index()));
    return m_reindex ? StartReindex() : Result<>();
}

// The new index knows no undo data, so a chainstate above it could never go back: it must not
// outlive a reindex that is interrupted and goes on without the option.
Result<> Node::StartReindex()
{
    const Path chainstate = m_dir.Chainstate();
    IBD_RETURN_IF_ERROR(DestroyDb(chainstate));
    if (m_dir.ChainstateIsLink()) IBD_RETURN_IF_ERROR(m_env.CreateDirectories(chainstate));
    return m_stack->Index().SetReindexing(true);
}

// A link to nowhere is a disk that is not mounted: everything would go to the one below it.
Result<> Node::PrepareChainstate()
{
    const Path chainstate = m_dir.Chainstate();
    IBD_RETURN_IF_ERROR(RecoverPublish(m_env, m_log, chainstate));
    if (!m_dir.ChainstateIsLink() || m_env.Exists(chainstate)) return {};
    return SystemError("'{}' is a symbolic link to '{}', which is not there: mount its disk, or "
                       "make that directory",
                       (m_dir.Net() / "chainstate").string(), chainstate.string());
}

Result<> Node::OpenStores()
{
    for (const auto& [what, cache] : {std::pair{"signature", &m_caches.signatures.Entries()},
                                      std::pair{"script execution", &m_caches.scripts.Entries()}}) {
        m_log.Info("Using {} MiB for {} cache, able to store {} elements",
                   m_options.signature_cache_bytes >> 21, what, cache->Capacity());
    }
    m_log.Info("Script verification uses {} additional threads", m_options.script_threads - 1);
    if (m_options.prevout_threads > 0) {
        m_log.Info("Block input prevout fetching uses {} additional threads",
                   m_options.prevout_threads);
    }
    LogTrust(m_options, m_params, m_log);
    IBD_RETURN_IF_ERROR(m_stack->OpenBlocks());
    m_chain = &m_stack->Chain();
    m_events.Follow(*m_chain);
    return Damaged("Error loading block database", m_chain->LoadIndex());
}

// With hints the blocks are read once: checked for the index and folded by the same threads. Full
// validation needs undo data, which a reindex forgets.
Result<> Node::Reindex()
{
    BlockImporter importer(*m_chain, m_stack->Blocks(), m_env, m_log, m_interrupt);
    if (!m_booster.HasHints() || m_options.booster.full_validation) return importer.Reindex();
    if (!m_reindex_chainstate) {
        IBD_ASSIGN_OR_RETURN(const bool to_build, ChainstateIsEmpty());
        if (!to_build) return importer.Reindex();
    }
    BlockSurvey survey(m_params);
    IBD_RETURN_IF_ERROR(survey.Take(m_env, m_log, m_stack->Blocks(), m_interrupt));
    if (m_interrupt) return {};
    IBD_RETURN_IF_ERROR(
        m_booster.FoldSurvey(survey, m_chain->Options(), m_stack->Blocks(), BoosterSettings()));
    if (m_interrupt) return {};
    return importer.Reindex(survey);
}

BoosterOptions Node::BoosterSettings() const
{
    BoosterOptions options = m_options.booster;
    options.chainstate = m_dir.Chainstate();
    options.terminal = stderr;
    return options;
}

Result<> Node::BuildIndex()
{
    IBD_ASSIGN_OR_RETURN(const bool reindexing, m_stack->Index().Reindexing());
    if (reindexing) {
        SetStatus("Reindexing blocks on disk…");
        m_started(); // this can take hours
        IBD_RETURN_IF_ERROR(Reindex());
        if (m_interrupt) return {};
    }
    if (!reindexing) IBD_RETURN_IF_ERROR(CheckBlocksAreIndexed());
    IBD_RETURN_IF_ERROR(m_chain->StoreGenesis());
    IBD_RETURN_IF_ERROR(m_chain->Flush(FlushMode::kAlways));
    if (reindexing) IBD_RETURN_IF_ERROR(m_stack->Index().SetReindexing(false));
    return {};
}

// A new index beside block files that it does not know would have them overwritten.
Result<> Node::CheckBlocksAreIndexed()
{
    if (m_chain->Read().Tree().Genesis()->HasData()) return {};
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_stack->Blocks().ListBlockFiles());
    if (files.empty()) return {};
    return Damaged("Error initializing block database",
                   BadData("the block files in '{}' are not indexed", m_dir.Blocks().string()));
}

Result<bool> Node::ChainstateIsEmpty()
{
    const auto looked = LookAtChainstate(m_env, m_log, m_dir.Chainstate());
    if (!looked) return Damaged("Error opening coins database", looked.GetError()).GetError();
    const ChainstateSummary& there = *looked;
    // A chain that never got beyond genesis has nothing to lose.
    return !there.between && (there.best.IsNull() || there.best == m_params.consensus.genesis_hash);
}

// There is a chainstate and nobody asked for another: what a run may have left that was killed
// behind its last step goes. One that has not published was begun on purpose, over this chainstate.
Result<> Node::CleanUpBooster()
{
    m_log.Info("IBD Booster: not needed, there is a chainstate; -reindex-chainstate rebuilds it");
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(const bool exists, m_env.IsThere(directory));
    if (!exists) return {};
    const auto lock = LockBooster(m_env, directory);
    if (!lock) return {}; // another node is at work there, and this one needs nothing of it
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary there,
                         LookAtChainstate(m_env, m_log, m_dir.Chainstate()));
    IBD_ASSIGN_OR_RETURN(const KeptWork kept,
                         FindKeptWork(m_env, directory, m_booster.HintsId(), there.best));
    if (kept == KeptWork::kNone) return {};
    if (kept == KeptWork::kPublished) {
        m_log.Info("IBD Booster: removing what '{}' keeps of the run that led to the chainstate",
                   directory.string());
        return RemoveCheckpoint(m_env, directory);
    }
    m_log.Warning("IBD Booster: '{}' keeps a rebuild that was begun; -reindex-chainstate goes on "
                  "with it",
                  directory.string());
    return {};
}

Result<> Node::BuildChainstate()
{
    bool wipe = m_reindex_chainstate;
    bool built = false;
    if (m_booster.HasHints() && !wipe) {
        IBD_ASSIGN_OR_RETURN(wipe, ChainstateIsEmpty());
        if (!wipe) IBD_RETURN_IF_ERROR(CleanUpBooster());
    }
    if (m_booster.HasHints() && wipe) {
        SetStatus("Building the chainstate with the IBD Booster…");
        m_started(); // so can this
        IBD_ASSIGN_OR_RETURN(const BoosterRun::Outcome outcome,
                             m_booster.Run(*m_chain, m_stack->Blocks(), BoosterSettings()));
        if (outcome == BoosterRun::Outcome::kInterrupted) return {};
        built = outcome == BoosterRun::Outcome::kBuilt;
        if (built) wipe = false;
    }
    SetStatus("Loading the chainstate…");
    IBD_RETURN_IF_ERROR(OpenCoins(wipe));
    IBD_RETURN_IF_ERROR(CheckWitnesses());
    if (!built) return {};
    // The index is to say at once what the coins say, for whoever opens both after a crash.
    return m_chain->Flush(FlushMode::kAlways);
}

// Core takes the last six blocks back in memory when it starts; below the booster's last block
// there is no undo data. So the first moment at which it can must not be lost to a crash.
void Node::WhenUndoSuffices(const HeaderNode& tip)
{
    const int blocks = BlocksWithUndo(tip, kBlocksThatCoreChecks + 1);
    if (blocks == kBlocksThatCoreChecks) m_chain->FlushSoon();
}

void Node::WarnIfUndoIsShort() const
{
    const HeaderNode* const tip = m_chain->Tip();
    if (tip == nullptr) return;
    const int blocks = BlocksWithUndo(*tip, kBlocksThatCoreChecks);
    if (blocks >= kBlocksThatCoreChecks) return;
    m_log.Warning("IBD Booster: there is undo data of the last {} blocks only. Bitcoin Core takes "
                  "back {} at its start and would refuse this directory: let this node connect {} "
                  "more first, or start Core with -checklevel=2",
                  blocks, kBlocksThatCoreChecks, kBlocksThatCoreChecks - blocks);
}

Result<> Node::OpenCoins(bool wipe)
{
    auto coins = m_stack->OpenCoins(wipe);
    if (!coins) return Damaged("Error opening coins database", coins.GetError());
    return Damaged("Error initializing block database",
                   m_chain->AttachCoins(std::move(coins).Value()));
}

// An older node took these blocks without looking at witnesses, or -testactivationheight was other.
Result<> Node::CheckWitnesses()
{
    const HeaderNode* const tip = m_chain->Tip();
    const int segwit_height = m_params.consensus.segwit_height;
    if (tip == nullptr || !LacksWitnesses(*tip, segwit_height)) return {};
    const std::string text =
        fmt::format("Witness data for blocks after height {} requires validation. Please restart "
                    "with -reindex.",
                    segwit_height);
    return Damaged(text.c_str(), BadData("{}", text));
}

Result<> Node::CheckStored()
{
    if (m_reindex_chainstate || m_interrupt) return {};
    SetStatus("Verifying blocks…");
    IBD_ASSIGN_OR_RETURN(const Verification found,
                         VerifyChain(*m_chain, m_options.check_level, m_options.check_blocks));
    if (found.sound) return {};
    return Damaged("Corrupted block database detected", BadData("see the error above"));
}

bool Node::HasReachedStop(const HeaderNode& tip) const
{
    return m_options.stop_at_height > 0 && tip.height >= m_options.stop_at_height;
}

void Node::TipConnected(const HeaderNode& tip)
{
    if (!m_live) return;
    m_started(); // on a new chain the first tip comes late
    WhenUndoSuffices(tip);
    if (HasReachedStop(tip)) RequestStop();
}

Result<> Node::LoadBlockFiles()
{
    for (const Path& file : m_options.load_blocks) {
        if (m_interrupt) break;
        if (!m_env.OpenRead(file)) {
            m_log.Warning("Could not open blocks file {}", file.string());
            continue;
        }
        BlockImporter importer(*m_chain, m_stack->Blocks(), m_env, m_log, m_interrupt);
        IBD_RETURN_IF_ERROR(importer.LoadFile(file));
        m_chain_thread->Activate();
    }
    return {};
}

Result<> Node::Sync()
{
    m_events.Start();
    m_chain_thread =
        std::make_unique<ChainThread>(*m_chain, [this](const Error& error) { StopFor(error); });
    m_live = true;
    m_chain_context.chain_thread = m_chain_thread.get();
    m_chain_context.chain = m_chain;
    m_table.EndWarmup();
    if (m_chain->Tip() != nullptr) m_started();
    // The booster or an earlier run may have gone to that height: no block needs to be connected.
    if (m_chain->Tip() != nullptr && HasReachedStop(*m_chain->Tip())) {
        RequestStop();
        return {};
    }
    m_chain_thread->Activate();
    IBD_RETURN_IF_ERROR(m_chain_thread->Run([this] { return m_chain->Flush(FlushMode::kAlways); }));
    IBD_RETURN_IF_ERROR(LoadBlockFiles());
    m_chain_context.import_done = !m_interrupt;
    if (m_options.stop_after_import) {
        m_log.Info("Stopping after block import");
        RequestStop();
    }
    WarnIfThereAreNoBlocks();
    LogChain(*m_chain, m_log);
    m_log.Info("init message: Done loading");
    return {};
}

// On regtest anybody makes blocks as they are needed.
void Node::WarnIfThereAreNoBlocks()
{
    if (m_params.is_mockable || m_interrupt || m_chain->Tip() == nullptr) return;
    if (m_chain->Tip()->height > 0 || m_chain->Read().Tree().Size() > 1) return;
    const std::string text =
        "There are no blocks, and this version cannot fetch any from peers yet: give it the blocks "
        "directory of another node (-blocksdir, -reindex) or a file of blocks (-loadblock).";
    m_log.Warning("{}", text);
    m_events.WarningSet(NodeWarning::kNoBlocks, text);
}

Error Node::Fatal(const Error& error) const
{
    const std::string log = LogPath(m_args, m_dir.Net()).filename().string();
    return {
        fmt::format("A fatal internal error occurred, see {} for details: {}", log, error.message),
        error.kind};
}

Result<> Node::WaitForStop()
{
    const Lock lock(m_stop_mutex);
    while (!m_interrupt) m_stop.wait(m_stop_mutex);
    if (m_failure) return Fatal(*m_failure);
    return {};
}

Result<> Node::ShutDown()
{
    // The node waits for these: the command may want to see it as it is.
    for (const std::string& command : m_options.shutdown_notify) m_commands.RunAndWait(command);
    m_log.Info("Shutdown in progress...");
    SetThreadNameInLog("shutoff");
    m_interrupt = true; // after an error nobody has asked yet
    if (m_server) m_server->Interrupt();
    m_waiters.Stop();
    m_server.reset(); // nobody else gives the chain's thread anything to do
    m_chain_context.chain_thread = nullptr;
    m_chain_thread.reset();
    Result<> flushed;
    if (m_chain && m_chain->HasCoins()) {
        flushed = m_chain->Flush(FlushMode::kAlways);
        WarnIfUndoIsShort();
    }
    m_events.Stop();
    m_chain_context.chain = nullptr;
    m_chain = nullptr;
    m_stack.reset();
    m_log.Info("Shutdown done");
    return flushed;
}

Result<> Node::Damaged(const char* what, Result<> result)
{
    if (result || result.GetError().kind == Error::Kind::kSystem) return result;
    m_log.Error("{}", result.Message());
    m_asks_for_reindex = true;
    return BadData("{}.\nPlease restart with -reindex or -reindex-chainstate to recover.", what);
}

Result<> Node::LoadChain()
{
    m_asks_for_reindex = false;
    IBD_RETURN_IF_ERROR(OpenIndex());
    IBD_RETURN_IF_ERROR(OpenStores());
    IBD_RETURN_IF_ERROR(BuildIndex());
    if (m_interrupt) return {};
    IBD_RETURN_IF_ERROR(BuildChainstate());
    if (m_interrupt) return {};
    IBD_RETURN_IF_ERROR(CheckStored());
    if (!m_interrupt) m_log.Info("Block index and chainstate loaded");
    return {};
}

Result<> Node::Start()
{
    if (m_options.hints) IBD_RETURN_IF_ERROR(m_booster.OpenHintsFile(*m_options.hints));
    IBD_RETURN_IF_ERROR(PrepareChainstate());
    IBD_RETURN_IF_ERROR(StartRpc());
    IBD_RETURN_IF_ERROR(LogCaches(m_args, m_options.cache, m_log));
    Result<> loaded = LoadChain();
    if (!loaded && m_asks_for_reindex && m_options.reindex_if_damaged && !m_reindex) {
        m_chain = nullptr;
        m_stack.reset();
        m_reindex = m_reindex_chainstate = true;
        loaded = LoadChain();
    }
    if (loaded && m_interrupt) m_log.Info("Shutdown requested. Exiting.");
    return loaded;
}

Result<> Node::Run(const std::function<void()>& started)
{
    m_started = started;
    const uint64_t files = m_env.OpenFileLimit(kOpenFiles);
    if (files < kLeastOpenFiles) {
        return SystemError("Not enough file descriptors available. {} available, {} required.",
                           files, kLeastOpenFiles);
    }
    Result<> result = Start();
    if (result && !m_interrupt) {
        result = Sync();
        if (!result) result = Fatal(result.GetError());
        if (result) m_commands.StartDetached(m_options.startup_notify);
    }
    if (result) result = WaitForStop();
    const Result<> flushed = ShutDown();
    if (!result || flushed) return result;
    return Fatal(flushed.GetError());
}

} // namespace ibd

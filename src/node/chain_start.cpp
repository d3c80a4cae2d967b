// See chain_start.h.
#include "node/chain_start.h"

#include "booster/full_mark.h"
#include "consensus/limits.h"
#include "node/start_checks.h"
#include "node/start_log.h"
#include "storage/block_files.h"
#include "storage/chainstate_builder.h"
#include "storage/kv_store.h"
#include "swiftsync/checkpoint.h"
#include "util/hex.h"
#include "util/strings.h"
#include "validation/block_import.h"
#include "validation/stored_files.h"
#include "validation/verify_chain.h"

namespace ibd {

namespace {

// Sizes of block files with -fastprune, bytes.
constexpr uint64_t kSmallBlockFile = 64 << 10;
constexpr uint64_t kSmallBlockFileChunk = 16 << 10;

/** Whether blocks from `segwit_height` up to the tip were stored without their witnesses being
 *  checked. */
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
    out.prune_target = options.prune_target;
    out.peers_bring_blocks = options.network.MayHavePeers();
    env.RandomBytes({reinterpret_cast<uint8_t*>(&out.hash_key), sizeof out.hash_key});
    return out;
}

} // namespace

ChainStart::ChainStart(ChainStartParts parts)
    : m_env(parts.env), m_log(parts.log), m_params(parts.params), m_dir(parts.dir),
      m_options(parts.options), m_interrupt(parts.interrupt), m_parts(std::move(parts)),
      m_reindex(m_options.reindex), m_reindex_chainstate(m_options.reindex_chainstate)
{
    if (m_options.undo != UndoWhen::kBackground) return;
    m_parts.booster.OnFold([this](const FoldTask& fold) {
        return m_parts.undo.WatchFold(*m_chain, m_stack->Blocks(), BoosterSettings(), fold);
    });
}

void ChainStart::ForgetAndReindex()
{
    Close();
    m_reindex = m_reindex_chainstate = true;
}

void ChainStart::Close()
{
    m_chain = nullptr;
    m_stack.reset();
}

Result<> ChainStart::Load()
{
    m_asks_for_reindex = false;
    // Check before any file is removed.
    if (m_reindex) IBD_RETURN_IF_ERROR(LookBeforeReindex(m_env, m_log, m_dir.Blocks()));
    if (m_reindex_chainstate) IBD_RETURN_IF_ERROR(RemoveSnapshot(m_env, m_log, m_dir));
    IBD_RETURN_IF_ERROR(OpenIndex());
    IBD_RETURN_IF_ERROR(OpenStores());
    WarnOnly(TendLeftovers(m_env, m_log, WhereLeftovers()));
    WarnOnly(TellOfOtherFolders(m_env, m_log, m_dir.Net() / "ibdboosterdirs.txt",
                                m_options.booster.directory, m_dir.Net() / "ibdbooster"));
    RemoveBegun();
    IBD_RETURN_IF_ERROR(BuildIndex());
    if (m_interrupt) return {};
    // A rebuild does not open the old chainstate, which may be damaged.
    const bool plain = !m_reindex && !m_reindex_chainstate;
    bool empty = false;
    if (plain) {
        IBD_ASSIGN_OR_RETURN(empty, ChainstateIsEmpty());
        if (empty) WarnOfLowSpace(); // warn before a sync of hours
    }
    IBD_RETURN_IF_ERROR(BuildChainstate());
    if (m_interrupt) return {};
    if (plain && !empty && m_chain->Tip() && m_chain->Tip()->height <= 1) WarnOfLowSpace();
    IBD_RETURN_IF_ERROR(MakeUndo());
    if (m_interrupt) return {};
    WarnOnly(TellOfTheRest());
    IBD_RETURN_IF_ERROR(CheckStored());
    if (m_interrupt) return {};
    IBD_RETURN_IF_ERROR(Prune());
    if (!m_interrupt) m_log.Info("Block index and chainstate loaded");
    return {};
}

// Warns a node without blocks if the disk cannot hold the whole chain.
void ChainStart::WarnOfLowSpace()
{
    uint64_t needed = m_params.assumed_blockchain_size_gb << 30;
    if (m_options.prune_target != 0) needed = std::min(needed, m_options.prune_target);
    const auto free = m_env.SpaceAvailable(m_parts.dir.Blocks());
    if (!free || *free >= kMinDiskSpace + needed) return;
    InitWarning(m_log,
                fmt::format("Disk space for \"{}\" may not accommodate the block files. "
                            "Approximately {} GB of data will be stored in this directory.",
                            m_parts.dir.Blocks().string(), m_params.assumed_blockchain_size_gb));
}

Result<> ChainStart::Damaged(const char* what, Result<> result)
{
    if (result || result.GetError().kind == Error::Kind::kSystem) return result;
    m_log.Error("{}", result.Message());
    m_asks_for_reindex = true;
    return BadData("{}.\nPlease restart with -reindex or -reindex-chainstate to recover.", what);
}

// A node without -prune promises all blocks to peers.
Result<> ChainStart::RefuseUnpruning()
{
    if (m_options.prune_target != 0 || !m_chain->HasPruned()) return {};
    const Result<> refused =
        BadData("block files in '{}' were deleted by -prune", m_dir.Blocks().string());
    return Damaged("You need to rebuild the database using -reindex to go back to unpruned mode.  "
                   "This will redownload the entire blockchain",
                   refused);
}

ChainStackOptions ChainStart::StackOptions() const
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
    options.index.compact = options.coins.compact = m_options.compact_databases;
    options.checker = &m_parts.scripts;
    options.observer = &m_parts.events;
    return options;
}

Result<> ChainStart::OpenIndex()
{
    m_parts.set_status("Loading block index…");
    IBD_ASSIGN_OR_RETURN(const bool adopted, m_dir.AdoptOldBlockIndex());
    if (adopted) {
        m_log.Info("The block index was moved from {} to {}, where Bitcoin Core keeps it too",
                   m_dir.OldBlockIndex().string(), m_dir.BlockIndex().string());
    }
    if (m_reindex) IBD_RETURN_IF_ERROR(DestroyChainstate());
    ChainStackOptions options = StackOptions();
    options.index.wipe = m_reindex;
    m_stack = std::make_unique<ChainStack>(m_env, m_log, m_params, m_dir, std::move(options),
                                           m_interrupt);
    IBD_RETURN_IF_ERROR(Damaged("Error opening block database", m_stack->OpenIndex()));
    return m_reindex ? StartReindex() : Result<>();
}

// The new index knows no undo data, so a chainstate above it could never be rolled back: it must
// not survive a reindex that is interrupted and continued without the option. It is removed before
// the old index: this may take a while, and a removed index must be built again.
Result<> ChainStart::DestroyChainstate()
{
    const Path chainstate = m_dir.Chainstate();
    IBD_RETURN_IF_ERROR(DestroyDb(chainstate));
    return m_dir.ChainstateIsLink() ? m_env.CreateDirectories(chainstate) : Result<>();
}

Result<> ChainStart::StartReindex()
{
    IBD_RETURN_IF_ERROR(m_stack->Index().SetReindexing(true));
    if (m_options.prune_target == 0) return {};
    m_log.Info("Removing unusable blk?????.dat and rev?????.dat files for -reindex with -prune");
    return RemoveUnusableBlockFiles(m_env, m_dir.Blocks());
}

Result<> ChainStart::OpenStores()
{
    const std::pair<const char*, const DigestCache*> caches[] = {
        {"signature", &m_parts.caches.signatures.Entries()},
        {"script execution", &m_parts.caches.scripts.Entries()}};
    for (const auto& [what, cache] : caches) {
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
    m_parts.events.Follow(*m_chain);
    if (m_options.undo != UndoWhen::kOff) {
        m_chain->SetUndoMaker([this] { return m_parts.undo.Ask(*m_chain); });
    }
    IBD_RETURN_IF_ERROR(Damaged("Error loading block database", m_chain->LoadIndex()));
    IBD_RETURN_IF_ERROR(
        Damaged("Error loading block database",
                CheckStoredFiles(m_env, m_log, *m_chain, m_stack->Blocks(), m_dir.Blocks())));
    return RefuseUnpruning();
}

Result<> ChainStart::BuildIndex()
{
    IBD_ASSIGN_OR_RETURN(bool reindexing, m_stack->Index().Reindexing());
    if (!reindexing) {
        IBD_ASSIGN_OR_RETURN(reindexing, CheckBlocksAreIndexed());
    }
    if (reindexing) {
        m_parts.started(); // may take hours
        m_parts.set_status("Reindexing blocks on disk…");
        IBD_RETURN_IF_ERROR(Reindex());
        if (m_interrupt) return {};
    }
    IBD_RETURN_IF_ERROR(m_chain->StoreGenesis());
    if (!reindexing) IBD_RETURN_IF_ERROR(LookForMissing());
    IBD_RETURN_IF_ERROR(m_chain->Flush(FlushMode::kAlways));
    if (reindexing) IBD_RETURN_IF_ERROR(m_stack->Index().SetReindexing(false));
    return {};
}

// With hints the same threads read the blocks once, to check them for the index and to fold them,
// or to join them for hints. Full validation joins coins before it folds, so given hints must wait;
// hints to be converted wait for the index.
Result<> ChainStart::Reindex()
{
    BlockImporter importer(*m_chain, m_stack->Blocks(), m_env, m_log, m_interrupt);
    importer.ShowIn(m_parts.progress);
    BoosterRun& booster = m_parts.booster;
    const bool waits =
        booster.HintsWait() || (booster.HasHints() && m_options.booster.full_validation);
    if (!booster.MayRun(m_chain->Options()) || waits) return ReindexAlone(importer);
    if (!m_reindex_chainstate) {
        IBD_ASSIGN_OR_RETURN(const bool to_build, ChainstateIsEmpty());
        if (!to_build) return ReindexAlone(importer);
    }
    BlockSurvey survey(m_params);
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, importer.StoredBytes());
    booster.PlanSurvey(bytes, BoosterSettings());
    IBD_RETURN_IF_ERROR(
        survey.Take(m_env, m_log, m_stack->Blocks(), m_interrupt, m_parts.progress));
    if (m_interrupt) return {};
    bool checked = true;
    if (booster.HasHints()) {
        IBD_RETURN_IF_ERROR(
            booster.FoldSurvey(survey, m_chain->Options(), m_stack->Blocks(), BoosterSettings()));
    } else {
        IBD_ASSIGN_OR_RETURN(checked, booster.JoinSurvey(survey, m_chain->Options(),
                                                         m_stack->Blocks(), BoosterSettings()));
    }
    if (m_interrupt) return {};
    return checked ? importer.Reindex(survey) : ReindexAlone(importer);
}

// The steps after the index are planned again once it exists.
Result<> ChainStart::ReindexAlone(BlockImporter& importer)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, importer.StoredBytes());
    const bool boosted = m_parts.booster.MayRun(m_chain->Options());
    const std::vector<WorkStep> then =
        boosted ? std::vector{WorkStep::kIndex, WorkStep::kReadBlocks, WorkStep::kJoin,
                              WorkStep::kFold, WorkStep::kLoad}
                : std::vector{WorkStep::kIndex, WorkStep::kConnect};
    m_parts.progress.overall->Plan(
        PlanOf(then, {.bytes = bytes, .threads = m_options.booster.threads, .above = bytes}));
    return importer.Reindex();
}

// Without a network there is no other source for a block that -reindex left out.
Result<> ChainStart::LookForMissing()
{
    const bool may_fetch = m_options.network.MayHavePeers();
    if (may_fetch || m_chain->HasPruned() || !m_chain->HasHoles()) return {};
    m_parts.started();
    m_log.Info("Blocks are missing below others: looking for them in the block files");
    BlockImporter importer(*m_chain, m_stack->Blocks(), m_env, m_log, m_interrupt);
    return importer.FindMissing();
}

// A new index next to unknown block files would have them overwritten. The error is Bitcoin Core's
// and names both rebuild options, so both build the index. True: it must be built.
Result<bool> ChainStart::CheckBlocksAreIndexed()
{
    if (m_chain->Read().Tree().Genesis()->tx_count > 0) return false; // it may have been pruned
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_stack->Blocks().ListBlockFiles());
    if (files.empty()) return false;
    if (m_reindex_chainstate) {
        m_log.Info("The block files are not indexed: -reindex-chainstate makes the index first");
        IBD_RETURN_IF_ERROR(DestroyChainstate());
        IBD_RETURN_IF_ERROR(m_stack->Index().SetReindexing(true));
        return true;
    }
    return Damaged("Error initializing block database",
                   BadData("the block files in '{}' are not indexed", m_dir.Blocks().string()))
        .GetError();
}

// A dead link means a disk that is not mounted: data would go to the disk below it.
Result<> ChainStart::PrepareChainstate()
{
    if (!m_reindex_chainstate) IBD_RETURN_IF_ERROR(RefuseSnapshot(m_env, m_log, m_dir));
    const Path chainstate = m_dir.Chainstate();
    IBD_RETURN_IF_ERROR(RecoverPublish(m_env, m_log, chainstate));
    if (!m_dir.ChainstateIsLink() || m_env.Exists(chainstate)) return {};
    return SystemError("'{}' is a symbolic link to '{}', which is not there: mount its disk, or "
                       "make that directory",
                       (m_dir.Net() / "chainstate").string(), chainstate.string());
}

BoosterOptions ChainStart::BoosterSettings() const
{
    BoosterOptions options = m_options.booster;
    options.chainstate = m_dir.Chainstate();
    options.progress = m_parts.progress;
    return options;
}

Result<> ChainStart::ConvertHints()
{
    if (!m_parts.booster.HintsWait()) return {};
    if (!m_reindex_chainstate) {
        IBD_ASSIGN_OR_RETURN(const bool to_build, ChainstateIsEmpty());
        if (!to_build) return {};
    }
    m_parts.started(); // reads all blocks
    m_parts.set_status("Converting hints…");
    return DespiteDamage([this] {
        return m_parts.booster.ConvertHints(*m_chain, m_stack->Blocks(), BoosterSettings());
    });
}

Result<> ChainStart::AskPeersForHints()
{
    // With -reindex the node has made its own hints by now, or cannot.
    const bool wanted = m_options.hints.folder && m_parts.fetch_hints;
    if (m_parts.booster.HasHints() || m_reindex || !wanted) return {};
    if (!m_reindex_chainstate) {
        IBD_ASSIGN_OR_RETURN(const bool to_build, ChainstateIsEmpty());
        if (!to_build) return {};
    }
    m_parts.started(); // may wait for headers
    m_parts.set_status("Asking peers for hints…");
    IBD_ASSIGN_OR_RETURN(const std::optional<Path> file, m_parts.fetch_hints(*m_chain));
    if (!file) return {};
    return m_parts.booster.OpenHints({.file = file, .folder = {}, .hash = m_options.hints.hash},
                                     m_options.assume_valid);
}

// A file named by the user has no successor. One from the folder is followed by the next best of
// the folder, then by hints of peers.
Result<> ChainStart::TakeNextHints()
{
    if (!m_options.hints.folder) return {};
    HintsChoice choice = m_options.hints;
    choice.refused = m_parts.booster.RefusedIds();
    IBD_RETURN_IF_ERROR(m_parts.booster.OpenHints(choice, m_options.assume_valid));
    IBD_RETURN_IF_ERROR(ConvertHints());
    if (m_interrupt) return {};
    return AskPeersForHints();
}

Result<> ChainStart::BuildChainstate()
{
    IBD_RETURN_IF_ERROR(ConvertHints());
    if (m_interrupt) return {};
    IBD_RETURN_IF_ERROR(AskPeersForHints());
    if (m_interrupt) return {};
    bool wipe = m_reindex_chainstate;
    bool built = false;
    const bool may_run = m_parts.booster.MayRun(m_chain->Options());
    if (may_run && !wipe) {
        IBD_ASSIGN_OR_RETURN(wipe, ChainstateIsEmpty());
        if (!wipe) IBD_RETURN_IF_ERROR(CleanUpBooster());
    }
    if (!may_run && !wipe) {
        WarnOnly(RemoveFullMark(m_env, m_options.booster.directory));
        WarnOnly(CleanUpOwnHints());
        WarnOnly(CleanUpPublished());
    }
    if (may_run && wipe) {
        IBD_ASSIGN_OR_RETURN(BoosterRun::Outcome outcome, RunBooster());
        // After hints that failed: with the next ones; without further ones, by the join if it is
        // worth it, else serially.
        bool dropped = false;
        while (outcome == BoosterRun::Outcome::kSerial && m_parts.booster.DropFailedHints()) {
            dropped = true;
            IBD_RETURN_IF_ERROR(TakeNextHints());
            if (m_interrupt) return {};
            IBD_ASSIGN_OR_RETURN(outcome, RunBooster());
        }
        if (dropped && outcome == BoosterRun::Outcome::kSerial) {
            m_log.Info("IBD Booster: validating serially");
        }
        if (outcome == BoosterRun::Outcome::kInterrupted) return {};
        built = outcome == BoosterRun::Outcome::kBuilt;
        if (built) wipe = false;
    }
    m_parts.set_status("Loading the chainstate…");
    IBD_RETURN_IF_ERROR(OpenCoins(wipe));
    IBD_RETURN_IF_ERROR(CheckWitnesses());
    if (!built) return {};
    // The index must match the coins at once, for programs that open both after a crash.
    return m_chain->Flush(FlushMode::kAlways);
}

StartFetcher ChainStart::Fetcher()
{
    return [this] { return m_parts.start_fetcher ? m_parts.start_fetcher(*m_chain) : nullptr; };
}

Result<BoosterRun::Outcome> ChainStart::RunBooster()
{
    const auto begins = [this] {
        m_parts.started(); // may take hours
        m_parts.set_status("Building the chainstate with the IBD Booster…");
    };
    IBD_ASSIGN_OR_RETURN(
        const BoosterRun::Outcome outcome,
        m_parts.booster.Run(*m_chain, m_stack->Blocks(), BoosterSettings(), Fetcher(), begins));
    if (outcome == BoosterRun::Outcome::kSerial) m_parts.progress.overall->End();
    if (m_parts.booster_done) m_parts.booster_done(outcome);
    return outcome;
}

Result<bool> ChainStart::ChainstateIsEmpty()
{
    const auto looked = LookAtChainstate(m_env, m_log, m_dir.Chainstate());
    if (!looked) return Damaged("Error opening coins database", looked.GetError()).GetError();
    const ChainstateSummary& there = *looked;
    // A chain at genesis has nothing to lose.
    return !there.between && (there.best.IsNull() || there.best == m_params.consensus.genesis_hash);
}

// Spills take up to a sixth of the size of the blocks. No start can resume them once the chain is
// validated serially from its first block, or blocks are not kept. Runs before a reindex of hours,
// which may need the room.
void ChainStart::RemoveBegun()
{
    const bool off = m_options.own_hints.mode == OwnHintsOptions::Mode::kOff;
    if (m_options.prune_target != 0) {
        WarnOnly(DropBegun("with -prune blocks are not kept, and nothing goes on with it", false));
    } else if (off && m_reindex_chainstate && !m_parts.booster.HasHints()) {
        WarnOnly(DropBegun("the chainstate is rebuilt without (-ibdbooster=0)", true));
    }
}

// A failure of optional work is logged and does not stop the start.
void ChainStart::WarnOnly(const Result<>& done)
{
    if (done) return;
    m_log.Warning("IBD Booster: files in '{}' that are no longer needed could not be read or "
                  "removed: {}",
                  m_options.booster.directory.string(), done.Message());
}

// `all`: including blocks folded with given hints.
Result<> ChainStart::DropBegun(const char* why, bool all)
{
    const Path& directory = m_options.booster.directory;
    OwnHints& own = m_parts.booster.Own();
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWork());
    if (bytes == 0) return {};
    const auto lock = LockBooster(m_env, directory);
    if (!lock) return {}; // another node works there
    bool folded = all;
    IBD_ASSIGN_OR_RETURN(const auto kept, own.Look(directory));
    if (kept && kept->hints) {
        const Uint256& id = kept->hints->Info().id;
        const auto checkpoint = LoadCheckpoint(m_env, directory);
        folded = folded || (checkpoint && *checkpoint && (*checkpoint)->hints_id == id);
    }
    IBD_ASSIGN_OR_RETURN(const auto begun, own.BytesKept(directory));
    if (!folded && !begun) return {}; // only of given hints, whose sync can be resumed
    m_log.Info("IBD Booster: removing {} of work that was begun, in '{}': {}",
               FormatBytes(folded ? bytes : *begun), directory.string(), why);
    if (folded) IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_env, directory));
    IBD_RETURN_IF_ERROR(RemoveFullMark(m_env, directory));
    return own.Remove(directory, false);
}

// The chainstate exists and no other one is requested: removes the files of a run that was killed
// after its last step. An unpublished run was started deliberately, over this chainstate, and
// stays.
Result<> ChainStart::CleanUpBooster()
{
    IBD_RETURN_IF_ERROR(RemoveFullMark(m_env, m_options.booster.directory));
    const bool hinted = m_parts.booster.HasHints();
    if (hinted || m_options.own_hints.mode == OwnHintsOptions::Mode::kAsked) {
        m_log.Info("IBD Booster: not needed, there is a chainstate; -reindex-chainstate rebuilds "
                   "it{}",
                   m_options.booster.full_validation ? " with full validation" : "");
    }
    if (hinted) {
        IBD_ASSIGN_OR_RETURN(const bool told, CleanUpGivenHints());
        if (told) return {};
    }
    WarnOnly(CleanUpOwnHints());
    if (!hinted) WarnOnly(CleanUpPublished());
    return {};
}

// Removes a published run whose hints are not given to this start.
Result<> ChainStart::CleanUpPublished()
{
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(const bool exists, m_env.IsThere(directory));
    if (!exists) return {};
    const auto lock = LockBooster(m_env, directory);
    if (!lock) return {};
    const auto checkpoint = LoadCheckpoint(m_env, directory);
    if (!checkpoint && checkpoint.GetError().kind == Error::Kind::kSystem) {
        return checkpoint.GetError();
    }
    if (!checkpoint || !*checkpoint) return {};
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary there,
                         LookAtChainstate(m_env, m_log, m_dir.Chainstate()));
    IBD_ASSIGN_OR_RETURN(const KeptWork kept,
                         FindKeptWork(m_env, directory, (*checkpoint)->hints_id, there.best));
    if (kept != KeptWork::kPublished) return {};
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWork());
    m_log.Info("IBD Booster: removing {} in '{}' of the run that led to the chainstate",
               FormatBytes(bytes), directory.string());
    return RemoveCheckpoint(m_env, directory);
}

LeftoverPlaces ChainStart::WhereLeftovers() const
{
    return {m_options.booster.directory, m_dir.Net() / "hints"};
}

Result<uint64_t> ChainStart::BytesOfWork() const
{
    IBD_ASSIGN_OR_RETURN(const auto left, FindLeftovers(m_env, WhereLeftovers()));
    return BytesOf(left, Leftover::Use::kWork);
}

// Logs the remaining work: of hints that are not given, or with a damaged checkpoint.
Result<> ChainStart::TellOfTheRest()
{
    if (m_told_of_work) return {};
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(auto left, FindLeftovers(m_env, WhereLeftovers()));
    if (m_options.undo == UndoWhen::kBackground && UndoRun::IsNeeded(*m_chain)) {
        std::erase_if(left, [&](const Leftover& l) {
            return l.path.parent_path() == UndoFolder(directory);
        });
    }
    const uint64_t bytes = BytesOf(left, Leftover::Use::kWork);
    if (bytes == 0) return {};
    const auto checkpoint = LoadCheckpoint(m_env, directory);
    const bool hinted = checkpoint && *checkpoint;
    m_log.Warning("IBD Booster: '{}' keeps {} of a rebuild that was begun and that this start has "
                  "no use for: -reindex-chainstate with {} goes on with it, -reindex-chainstate "
                  "with -ibdbooster=0 and without hints removes it, and so may you while no node "
                  "runs",
                  directory.string(), FormatBytes(bytes),
                  hinted ? fmt::format("the hints of id {} (-ibdboosterfile)",
                                       ToHex((*checkpoint)->hints_id.Span()))
                         : "the options that it was begun with");
    return {};
}

// True: the folder keeps work, and the log says so.
Result<bool> ChainStart::CleanUpGivenHints()
{
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(const bool exists, m_env.IsThere(directory));
    if (!exists) return false;
    const auto lock = LockBooster(m_env, directory);
    if (!lock) return false; // another node works there; this one needs none of it
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary there,
                         LookAtChainstate(m_env, m_log, m_dir.Chainstate()));
    IBD_ASSIGN_OR_RETURN(const KeptWork kept,
                         FindKeptWork(m_env, directory, m_parts.booster.HintsId(), there.best));
    if (kept == KeptWork::kNone) return false;
    if (kept == KeptWork::kPublished) {
        m_log.Info("IBD Booster: removing the work in '{}' of the run that built the chainstate",
                   directory.string());
        IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_env, directory));
        return false;
    }
    // TellOfTheRest() logs work of other hints.
    const auto checkpoint = LoadCheckpoint(m_env, directory);
    if (checkpoint && *checkpoint && (*checkpoint)->hints_id != m_parts.booster.HintsId()) {
        return false;
    }
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWork());
    m_told_of_work = true;
    m_log.Warning("IBD Booster: '{}' keeps a rebuild that was begun ({}); -reindex-chainstate goes "
                  "on with it",
                  directory.string(), FormatBytes(bytes));
    return true;
}

// The same for hints of its own, which are kept beside the rest.
Result<> ChainStart::CleanUpOwnHints()
{
    const Path& directory = m_options.booster.directory;
    OwnHints& own = m_parts.booster.Own();
    IBD_ASSIGN_OR_RETURN(const auto kept, own.Look(directory));
    if (!kept) return {};
    const auto lock = LockBooster(m_env, directory);
    if (!lock) return {};
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary there,
                         LookAtChainstate(m_env, m_log, m_dir.Chainstate()));
    if (there.best != kept->terminal || !kept->hints) return TellOfBegun(kept->pairs);
    m_log.Info("IBD Booster: removing the work in '{}' of the run that built the chainstate",
               directory.string());
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_env, directory));
    return own.Remove(directory, m_options.undo != UndoWhen::kOff);
}

// If the options disable the booster, names the options for resuming.
Result<> ChainStart::TellOfBegun(bool has_pairs)
{
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOfWork());
    const std::string size = FormatBytes(bytes);
    m_told_of_work = true;
    if (!m_parts.booster.MayRun(m_chain->Options())) {
        m_log.Warning("IBD Booster: '{}' keeps a rebuild that was begun ({}); -reindex-chainstate "
                      "with -ibdbooster goes on with it, -reindex-chainstate with -ibdbooster=0 "
                      "removes it, and so may you while no node runs",
                      directory.string(), size);
        return {};
    }
    const bool taken = has_pairs && m_options.undo != UndoWhen::kOff;
    m_log.Warning("IBD Booster: '{}' keeps a rebuild that was begun ({}); -reindex-chainstate goes "
                  "on with it{}",
                  directory.string(), size, taken ? ", unless undo data is made of it first" : "");
    return {};
}

Result<> ChainStart::OpenCoins(bool wipe)
{
    auto coins = m_stack->OpenCoins(wipe);
    if (!coins) return Damaged("Error opening coins database", coins.GetError());
    IBD_RETURN_IF_ERROR(RefuseBroken(**coins));
    return Damaged("Error initializing block database",
                   m_chain->AttachCoins(std::move(coins).Value()));
}

// A check after the coins were made has found a block that breaks a rule. The user must request the
// check for the rebuild, or given hints would be trusted again.
Result<> ChainStart::RefuseBroken(const CoinsDb& coins)
{
    IBD_ASSIGN_OR_RETURN(const BlockHash best, coins.BestBlock());
    const ChainReader reader = m_chain->Read();
    const HeaderNode* broken = nullptr; // lowest one
    bool can_go_back = true;
    for (const HeaderNode* node = reader.Find(best); node && node->Failed(); node = node->prev) {
        broken = node;
        can_go_back = can_go_back && node->HasUndo();
    }
    if (can_go_back) return {};
    return BadData("The chainstate is built on block {} at height {}, which is invalid, and there "
                   "is no undo data to go back. Please restart with {} -ibdbooster=0 to recover",
                   broken->hash.ToHex(), broken->height, m_chain->RebuildOption());
}

// Before the checks at start, and before a block above is connected: so that the files equal those
// of serial validation.
Result<> ChainStart::MakeUndo()
{
    const UndoWhen when = m_options.undo;
    if (when == UndoWhen::kOff || !UndoRun::IsNeeded(*m_chain)) {
        WarnOnly(RemoveUndoWork());
        return {};
    }
    if (when == UndoWhen::kBackground) {
        IBD_RETURN_IF_ERROR(MakeLastUndo());
        m_parts.undo.Expect(*m_chain);
        return {};
    }
    m_parts.started(); // may take hours too
    m_parts.set_status("Making undo data…");
    PlanUndo({WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo});
    return DespiteDamage(
        [this] { return m_parts.undo.Run(*m_chain, m_stack->Blocks(), BoosterSettings()); });
}

// False: within a sync they are planned already.
bool ChainStart::PlanUndo(const std::vector<WorkStep>& steps)
{
    const HeaderNode* const tip = m_chain->Tip();
    if (m_parts.progress.overall->Now() || !tip) return false;
    const uint64_t bytes = BlockPlan(*tip, [](int32_t) { return false; }).EstimatedBytes();
    m_parts.progress.overall->Plan(
        PlanOf(steps, {.bytes = bytes, .threads = m_options.booster.threads}));
    return true;
}

// Where stored blocks are damaged, peers send them again, and the work goes on.
Result<> ChainStart::DespiteDamage(const std::function<Result<>()>& work)
{
    for (;;) {
        Result<> done = work();
        if (done || m_parts.undo.Broken() != nullptr) return done;
        IBD_ASSIGN_OR_RETURN(const bool mended, m_parts.booster.Mend(*m_chain, m_stack->Blocks(),
                                                                     done.GetError(), Fetcher()));
        if (!mended) return done;
    }
}

// Removes the data that a join has kept for undo data which is not wanted, or exists, unless a
// rebuild has begun.
Result<> ChainStart::RemoveUndoWork()
{
    const Path& directory = m_options.booster.directory;
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(UndoFolder(directory)));
    if (!there) return {};
    IBD_ASSIGN_OR_RETURN(const auto begun, m_parts.booster.Own().Look(directory));
    if (begun) return {};
    const auto lock = LockBooster(m_env, UndoFolder(directory));
    return lock ? RemovePairs(m_env, directory) : Result<>();
}

// Makes the undo data of the last blocks, so that Core can use this directory whenever the node
// stops. A failure does not stop the start.
Result<> ChainStart::MakeLastUndo()
{
    if (!UndoRun::IsLastNeeded(*m_chain)) return {};
    m_parts.started();
    m_parts.set_status("Making undo data of the last blocks…");
    const bool planned = PlanUndo({WorkStep::kFetchCoins});
    Result<> made = DespiteDamage(
        [this] { return m_parts.undo.RunLast(*m_chain, m_stack->Blocks(), BoosterSettings()); });
    if (planned) m_parts.progress.overall->End();
    if (made || m_parts.undo.Broken() != nullptr) return made;
    m_log.Error("Undo data of the last blocks could not be made: {}", made.Message());
    return {};
}

// An older node accepted these blocks without checking witnesses, or -testactivationheight was
// different.
Result<> ChainStart::CheckWitnesses()
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

Result<> ChainStart::CheckStored()
{
    if (m_reindex_chainstate || m_interrupt) return {};
    if (m_chain->HasPruned() && m_options.check_blocks > kMinBlocksToKeep) {
        m_log.Warning("pruned datadir may not have more than {} blocks; only checking available "
                      "blocks",
                      kMinBlocksToKeep);
    }
    m_parts.set_status("Verifying blocks…");
    const HeaderNode* const tip = m_chain->Tip();
    if (tip != nullptr && int64_t{tip->time} > m_env.UnixTime() + kMaxFutureBlockTime) {
        return Damaged("The block database contains a block which appears to be from the future. "
                       "This may be due to your computer's date and time being set incorrectly. "
                       "Only rebuild the block database if you are sure that your computer's date "
                       "and time are correct",
                       BadData("block {} at height {} is of the time {}", tip->hash.ToHex(),
                               tip->height, tip->time));
    }
    IBD_ASSIGN_OR_RETURN(const Verification found,
                         VerifyChain(*m_chain, m_options.check_level, m_options.check_blocks));
    if (found.sound) return {};
    return Damaged("Corrupted block database detected", BadData("see the error above"));
}

Result<> ChainStart::Prune()
{
    if (!m_chain->IsPruneMode()) return {};
    m_parts.set_status("Pruning blockstore…");
    return m_chain->PruneAtStart();
}

} // namespace ibd

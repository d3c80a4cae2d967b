// See chain_start.h.
#include "node/chain_start.h"

#include "node/chain_checks.h"
#include "node/stack_options.h"
#include "node/start_log.h"
#include "storage/block_files.h"
#include "storage/chainstate_builder.h"
#include "storage/kv_store.h"
#include "storage/store_mark.h"
#include "storage/store_places.h"
#include "util/found.h"
#include "validation/block_import.h"
#include "validation/stored_files.h"
#include "validation/verify_chain.h"

namespace ibd {

ChainStart::ChainStart(ChainStartParts parts)
    : m_env(parts.env), m_log(parts.log), m_params(parts.params), m_dir(parts.dir),
      m_options(parts.options), m_interrupt(parts.interrupt), m_parts(std::move(parts)),
      m_reindex(m_options.reindex), m_reindex_chainstate(m_options.reindex_chainstate)
{
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
    if (m_reindex) {
        const bool prunes = m_options.prune_target != 0;
        IBD_RETURN_IF_ERROR(LookBeforeReindex(m_env, m_log, m_dir, prunes));
    }
    if (m_reindex_chainstate) IBD_RETURN_IF_ERROR(m_parts.snapshots.Remove());
    IBD_RETURN_IF_ERROR(OpenIndex());
    IBD_RETURN_IF_ERROR(OpenStores());
    m_parts.booster.TendKeptWork(m_reindex, m_reindex_chainstate);
    IBD_RETURN_IF_ERROR(BuildIndex());
    if (m_interrupt) return {};
    // A rebuild does not open the old chainstate, which may be damaged.
    const bool plain = !m_reindex && !m_reindex_chainstate;
    bool empty = false;
    if (plain) {
        IBD_ASSIGN_OR_RETURN(empty, ChainstateIsEmpty());
        if (empty) WarnOfLowSpace(m_env, m_log, m_params, m_dir, m_options.prune_target);
    }
    IBD_RETURN_IF_ERROR(BuildChainstate());
    if (m_interrupt) return {};
    if (plain && !empty && m_chain->Tip() && m_chain->Tip()->height <= 1) {
        WarnOfLowSpace(m_env, m_log, m_params, m_dir, m_options.prune_target);
    }
    IBD_RETURN_IF_ERROR(m_parts.booster.MakeUndo());
    if (m_interrupt) return {};
    m_parts.booster.DescribeKeptWork();
    IBD_RETURN_IF_ERROR(CheckStored());
    if (!m_interrupt) m_log.Info("Block index and chainstate loaded");
    return {};
}

Result<> ChainStart::Damaged(const char* what, Result<> result)
{
    if (result || SystemFailed(result)) return result;
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

Result<> ChainStart::OpenIndex()
{
    m_parts.set_status("Loading block index…");
    bool adopted = false;
    if (!m_reindex) {
        IBD_ASSIGN_OR_RETURN(adopted, m_dir.AdoptOldBlockIndex());
    }
    if (adopted) {
        m_log.Info("The block index was moved from {} to {}, where Bitcoin Core keeps it too",
                   m_dir.OldBlockIndex().string(), m_dir.BlockIndex().string());
    }
    if (m_reindex) IBD_RETURN_IF_ERROR(DestroyCoinsAndIndexes());
    ChainStackOptions options = StackOptions(m_env, m_options);
    options.checker = &m_parts.scripts;
    options.observer = &m_parts.events;
    options.index.wipe = m_reindex;
    options.manager.prune_locks = {&m_parts.indexes, &m_parts.snapshots};
    m_stack = std::make_unique<ChainStack>(m_env, m_log, m_params, m_dir, std::move(options),
                                           m_interrupt);
    IBD_RETURN_IF_ERROR(Damaged("Error opening block database", m_stack->OpenIndex()));
    return m_reindex ? StartReindex() : Result<>();
}

// The new block index knows no undo data, so a chainstate above it could never be rolled back; and
// blocks may be at other positions than those in -txindex. Neither must survive a reindex that is
// interrupted and continued without the option. They are removed before the old block index: this
// may take a while, and a removed block index must be built again.
Result<> ChainStart::DestroyCoinsAndIndexes()
{
    const Path chainstate = m_dir.Chainstate();
    IBD_RETURN_IF_ERROR(DestroyDb(m_env, chainstate));
    if (m_dir.ChainstateIsLink()) IBD_RETURN_IF_ERROR(m_env.CreateDirectories(chainstate));
    return m_parts.indexes.Destroy();
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
    m_parts.booster.Attach(*m_chain, m_parts.booster_hooks);
    m_parts.booster.ServeUndo();
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

// The booster's threads may read the blocks once, to check them for the index and to fold or join
// them.
Result<> ChainStart::Reindex()
{
    BlockImporter importer(*m_chain, m_stack->Blocks(), m_env, m_log, m_interrupt);
    importer.ShowIn(m_parts.progress);
    importer.TellBreakIn(m_break);
    if (!m_parts.booster.TakesSurvey()) return ReindexAlone(importer);
    IBD_ASSIGN_OR_RETURN(const bool builds, MustBuild());
    if (!builds) return ReindexAlone(importer);
    BlockSurvey survey(m_params);
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, importer.StoredBytes());
    m_parts.booster.PlanSurvey(bytes);
    IBD_RETURN_IF_ERROR(
        survey.Take(m_env, m_log, m_stack->Blocks(), m_interrupt, m_parts.progress));
    if (m_interrupt) return {};
    IBD_ASSIGN_OR_RETURN(const bool checked, m_parts.booster.TakeSurvey(survey));
    if (m_interrupt) return {};
    return checked ? importer.Reindex(survey) : ReindexAlone(importer);
}

// The steps after the index are planned again once it exists.
Result<> ChainStart::ReindexAlone(BlockImporter& importer)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, importer.StoredBytes());
    if (m_parts.booster.MayRun()) {
        m_parts.booster.PlanIndex(bytes);
    } else {
        m_parts.progress.overall->Plan(
            PlanOf({WorkStep::kIndex, WorkStep::kConnect}, {.bytes = bytes, .above = bytes}));
    }
    return importer.Reindex();
}

// Without a network there is no other source for a block that -reindex left out.
Result<> ChainStart::LookForMissing()
{
    const bool may_fetch = m_options.network.MayHavePeers();
    const bool may_lack = m_chain->HasPruned() || m_parts.snapshots.InUse();
    if (may_fetch || may_lack || !m_chain->HasHoles()) return {};
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
    IBD_ASSIGN_OR_RETURN(const bool none, m_stack->Blocks().HoldsAtMost(m_params.genesis.raw));
    if (none) return false;
    if (m_reindex_chainstate) {
        m_log.Info("The block files are not indexed: -reindex-chainstate makes the index first");
        IBD_RETURN_IF_ERROR(DestroyCoinsAndIndexes());
        IBD_RETURN_IF_ERROR(m_stack->Index().SetReindexing(true));
        return true;
    }
    return Damaged("Error initializing block database",
                   BadData("the block files in '{}' are not indexed", m_dir.Blocks().string()))
        .GetError();
}

Result<> ChainStart::PrepareChainstate()
{
    IBD_RETURN_IF_ERROR(PrepareStores(m_env, m_log, m_dir,
                                      {.chainstate_rebuilt = m_reindex_chainstate,
                                       .indexes_used = m_options.indexes.Any(),
                                       .indexes_rebuilt = m_reindex}));
    return m_reindex_chainstate ? m_parts.booster.CheckPlace() : m_parts.snapshots.Prepare();
}

Result<> ChainStart::BuildChainstate()
{
    BoosterSession& booster = m_parts.booster;
    IBD_RETURN_IF_ERROR(m_parts.snapshots.Judge(*m_chain));
    IBD_ASSIGN_OR_RETURN(const bool builds, MustBuild());
    if (builds) IBD_RETURN_IF_ERROR(booster.PrepareHints());
    if (m_interrupt) return {};
    const bool may_run = booster.MayRun();
    bool wipe = m_reindex_chainstate;
    bool built = false;
    if (!builds || (!may_run && !wipe)) IBD_RETURN_IF_ERROR(booster.StayBesideChainstate());
    if (builds && may_run) {
        const auto end = booster.Build();
        if (!end && booster.LacksHeaders()) return WithBreak(end.GetError(), m_break);
        if (!end) return end.GetError();
        if (*end == VerdictKind::kInterrupted) return {};
        built = *end == VerdictKind::kDone;
        wipe = !built;
    }
    // Pruning may have removed the block with which a new chainstate begins.
    if (builds && !built) IBD_RETURN_IF_ERROR(m_chain->StoreGenesis(true));
    m_parts.set_status("Loading the chainstate…");
    IBD_RETURN_IF_ERROR(OpenCoins(wipe));
    if (m_reindex_chainstate) IBD_RETURN_IF_ERROR(FinishStoreMark(m_env, m_dir.Chainstate()));
    const auto damage = FindUncheckedWitnesses(*m_chain, m_params.consensus.segwit_height);
    if (damage) return Damaged(damage->what.c_str(), damage->cause);
    if (!built) return {};
    // The index must match the coins at once, for programs that open both after a crash.
    return m_chain->Flush(FlushMode::kAlways);
}

Result<bool> ChainStart::MustBuild()
{
    if (m_reindex_chainstate) return true;
    return ChainstateIsEmpty();
}

Result<bool> ChainStart::ChainstateIsEmpty()
{
    if (m_parts.snapshots.InUse()) return false;
    const auto looked = LookAtChainstate(m_env, m_log, m_dir.Chainstate());
    if (!looked) return Damaged("Error opening coins database", looked.GetError()).GetError();
    const ChainstateSummary& there = *looked;
    // A chain at genesis has nothing to lose.
    return !there.between && (there.best.IsNull() || there.best == m_params.consensus.genesis_hash);
}

Result<> ChainStart::OpenCoins(bool wipe)
{
    const auto snapshot = m_parts.snapshots.Start();
    auto coins = snapshot ? m_parts.snapshots.OpenCoins() : m_stack->OpenCoins(wipe);
    if (!coins) return Damaged("Error opening coins database", coins.GetError());
    IBD_RETURN_IF_ERROR(RefuseBroken(*m_chain, **coins));
    return Damaged("Error initializing block database",
                   m_chain->AttachCoins(std::move(coins).Value(), snapshot ? &*snapshot : nullptr));
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
    IBD_ASSIGN_OR_RETURN(const auto damage, VerifyStored(m_env, *m_chain, m_options));
    return damage ? Damaged(damage->what.c_str(), damage->cause) : Result<>();
}

Result<> ChainStart::Prune()
{
    if (!m_chain->IsPruneMode()) return {};
    m_parts.set_status("Pruning blockstore…");
    return m_chain->PruneAtStart();
}

} // namespace ibd

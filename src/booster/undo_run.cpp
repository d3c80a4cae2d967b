// See undo_run.h.
#include "booster/undo_run.h"

#include "booster/live_supply.h"
#include "join/durable_undo.h"
#include "join/undo_rebuild.h"
#include "swiftsync/sync_progress.h"
#include "util/strings.h"
#include "util/thread_priority.h"
#include "util/time_left.h"
#include "validation/pruning.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int kNodesAtOnce = 512; //!< under one headers lock
/** Interval of checks whether damaged blocks were received again. */
constexpr auto kLookForDamaged = std::chrono::milliseconds(200);

/** Share of each phase in the whole work, measured (doc/develop/join.md). */
struct Shares {
    double read, join, fetch, write;
};
constexpr Shares kShares = {.read = 0.51, .join = 0.09, .fetch = 0, .write = 0.40};
constexpr Shares kSharesOfLast = {.read = 0, .join = 0, .fetch = 0.97, .write = 0.03};

double Part(uint64_t done, uint64_t total)
{
    if (total == 0) return 0;
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

/** Seconds to the end of the last phase, at the present rate; nothing: the phase has just begun. */
std::optional<int64_t> SecondsToTheEnd(const JoinProgress& now, int32_t blocks,
                                       const Shares& shares)
{
    double before = 0, share = 0, done = 0; // of earlier phases, of this one, of its finished part
    double resumed = 0;                     // part of this phase done by earlier starts
    switch (now.phase) {
    case JoinProgress::Phase::kIdle: return std::nullopt;
    case JoinProgress::Phase::kReading:
        share = shares.read;
        done = Part(now.bytes, now.total_bytes);
        resumed = Part(now.resumed_bytes, now.total_bytes);
        break;
    case JoinProgress::Phase::kJoining:
    case JoinProgress::Phase::kWriting:
    case JoinProgress::Phase::kChecking:
        before = shares.read;
        share = shares.join;
        done = Part(now.joined, now.partitions);
        break;
    case JoinProgress::Phase::kFetching:
        before = shares.read + shares.join;
        share = shares.fetch;
        done = Part(now.fetched_bytes, now.total_bytes);
        break;
    case JoinProgress::Phase::kUndo:
        before = shares.read + shares.join + shares.fetch;
        share = shares.write;
        done = Part(now.undo_blocks, static_cast<uint64_t>(std::max(blocks, 1)));
        break;
    }
    return SecondsLeft(share * (done - resumed), 1 - before - share * done, now.seconds_in_phase);
}

} // namespace

/** Appends each record to the rev file of its block. */
class UndoRun::Keeper final : public UndoSink {
public:
    Keeper(UndoRun& run, ChainManager& chain, const UndoTask& task)
        : m_run(run), m_chain(chain), m_task(task)
    {
    }

    Result<> Put(const HeaderNode& node, const UndoRecord& undo) override
    {
        if (m_task.records) IBD_RETURN_IF_ERROR(m_chain.PutUndo(node, undo));
        m_run.m_done = node.height;
        return {};
    }
    Result<> MakeDurable(int32_t height) override
    {
        if (m_task.records) IBD_RETURN_IF_ERROR(m_chain.FlushIndex());
        const bool told = m_task.durable && height >= m_task.first;
        return told ? m_task.durable(height) : Result<>();
    }

private:
    UndoRun& m_run;
    ChainManager& m_chain;
    const UndoTask& m_task;
};

// A few blocks at a time: the chain is long, and other threads need the lock.
UndoRun::Gap UndoRun::FindGap(const ChainManager& chain, const HeaderNode* tip, int32_t lowest)
{
    Gap gap;
    if (chain.SnapshotBase()) return gap; // blocks below are not stored
    const HeaderNode* node = tip;
    while (node && node->height >= lowest) {
        const ChainReader reader = chain.Read();
        for (int i = 0; i < kNodesAtOnce && node && node->height >= lowest;
             ++i, node = node->prev) {
            if (node->HasUndo()) continue;
            gap.first = node->height;
            if (!gap.last) gap.last = node;
        }
    }
    return gap;
}

UndoRun::Gap UndoRun::FindLastGap(const ChainManager& chain, const HeaderNode* tip)
{
    return tip ? FindGap(chain, tip, std::max(1, tip->height - kMinBlocksToKeep + 1)) : Gap{};
}

bool UndoRun::IsNeeded(const ChainManager& chain) { return FindGap(chain).last != nullptr; }

bool UndoRun::IsLastNeeded(const ChainManager& chain) { return FindLastGap(chain).last != nullptr; }

/** Resumes the kept work of a join of the same chain, even if the last of its blocks have undo data
 *  by now. */
Result<const HeaderNode*> UndoRun::ChooseTerminal(const Gap& gap) const
{
    const auto kept = m_kept.Pairs();
    IBD_RETURN_IF_SYSTEM_ERROR(kept);
    if (!kept || !*kept) return gap.last; // the join reports damage
    const ChainReader reader = m_chain->Read();
    const HeaderNode* const terminal = reader.Find((*kept)->terminal_hash);
    const bool fits =
        terminal && terminal->height >= gap.last->height && reader.Active().Contains(terminal);
    return fits ? terminal : gap.last;
}

/** Checks the disk space for the data still to be written; spills of an earlier start exist
 *  already. */
Found<RoomShortage> UndoRun::LookForRoom(const Gap& gap, bool last_only) const
{
    LiveSupply supply(m_env, m_log, *m_chain, *gap.last, PlanOrder::OfFiles()); // no block is read
    IBD_RETURN_IF_ERROR(supply.Begin([&](int32_t height) { return height < gap.first; }));
    const uint64_t bytes = supply.EstimatedBytes();
    uint64_t spills = ExpectedCoinBytes(bytes);
    if (!last_only) {
        const auto kept = m_kept.Pairs();
        IBD_RETURN_IF_SYSTEM_ERROR(kept);
        IBD_RETURN_IF_ERROR(supply.Begin([](int32_t) { return false; }));
        spills = ExpectedPairedBytes(supply.EstimatedBytes(), false);
        if (kept && *kept) {
            spills -= std::min(spills, SizeOf((*kept)->AllSpills()));
        }
    }
    const RoomNeed needs[] = {
        {m_kept.PairsFolder(), spills},
        {m_chain->Blocks().UndoPath(0).parent_path(), ExpectedUndoBytes(bytes)}};
    return FindShortage(m_env, needs);
}

Result<> UndoRun::Run()
{
    Result<> done = RunOnce();
    NoteFailure(done);
    return done;
}

void UndoRun::NoteFailure(const Result<>& done)
{
    const Lock lock(m_mutex);
    if (!done) m_failure = done.Message();
}

Result<> UndoRun::RunOnce()
{
    const Gap gap = FindGap(*m_chain);
    if (!gap.last) {
        const Lock lock(m_mutex);
        m_missing_to = 0;
        return {};
    }
    Tell(gap);
    return Fill(gap);
}

Result<> UndoRun::Fill(const Gap& gap)
{
    IBD_ASSIGN_OR_RETURN(const auto shortage, LookForRoom(gap, false));
    if (shortage && m_if_room) {
        NoteShortage(gap, *shortage);
        return {};
    }
    ForgetShortage();
    m_log.Info("Undo data: making that of blocks {} to {}", gap.first, gap.last->height);
    if (shortage) {
        return SystemError("{} has {} free, but undo data takes about {}", shortage->place.string(),
                           FormatBytes(shortage->free), FormatBytes(shortage->needed));
    }
    IBD_ASSIGN_OR_RETURN(const bool done, MakeMissing(gap, false));
    const Lock lock(m_mutex);
    if (done) m_missing_to = 0;
    return {};
}

void UndoRun::Tell(const Gap& gap)
{
    m_done = gap.first - 1;
    const Lock lock(m_mutex);
    m_missing_to = gap.last->height;
}

void UndoRun::Expect()
{
    if (const Gap gap = FindGap(*m_chain); gap.last) Tell(gap);
}

void UndoRun::NoteShortage(const Gap& gap, const RoomShortage& shortage)
{
    const std::string why =
        fmt::format("it takes about {} in '{}', {} more than is free", FormatBytes(shortage.needed),
                    shortage.place.string(), FormatBytes(shortage.needed - shortage.free));
    m_log.Info("Undo data of blocks {} to {} is not made: {}. The next start with this "
               "space makes it; -ibdboosterdir moves its temporary files to another disk",
               gap.first, gap.last->height, why);
    const Lock lock(m_mutex);
    m_shortage = why;
}

void UndoRun::ForgetShortage()
{
    const Lock lock(m_mutex);
    m_shortage.clear();
}

std::unique_ptr<FoldObserver> UndoRun::WatchFold(const FoldTask& fold)
{
    const Gap gap = FindLastGap(*m_chain, &fold.terminal);
    if (!gap.last) return nullptr;
    std::vector<PlannedBlock> last;
    for (const HeaderNode* node = gap.last; node->height >= gap.first; node = node->prev) {
        const FilePos pos = fold.place(*node);
        if (!pos.IsNull()) last.push_back({.node = node, .file = pos.file, .offset = pos.offset});
    }
    const auto blocks_left = static_cast<uint64_t>(gap.last->height - gap.first + 1) - last.size();
    const uint64_t bytes = BlockPlan(last).EstimatedBytes() + blocks_left * fold.usual_bytes;
    const BlockStore& blocks = m_chain->Blocks();
    const RoomNeed needs[] = {{m_kept.Folder(), fold.coins * kRunBytesPerCoin},
                              {m_options.chainstate.parent_path(), fold.coins * kTableBytesPerCoin},
                              {m_kept.PairsFolder(), ExpectedCoinBytes(bytes)},
                              {blocks.UndoPath(0).parent_path(),
                               ExpectedUndoBytes(bytes) + fold.missing * fold.usual_bytes}};
    const auto shortage = FindShortage(m_env, needs);
    if (!shortage || *shortage) return nullptr; // the fold has priority
    JoinOptions options = JoinSettings();
    options.memory_bytes = FoldSearch::SearchShare(options.memory_bytes);
    return std::make_unique<FoldSearch>(
        m_env, m_log, m_params, *gap.last, static_cast<uint32_t>(gap.first), blocks, fold.place,
        std::move(options), m_stop,
        [this](std::optional<FoundCoins> found) { m_found = std::move(found); });
}

Result<> UndoRun::RunLast()
{
    const Gap gap = FindLastGap(*m_chain);
    if (!gap.last) return {};
    // Run() logs a lack of disk space. Results of the fold already occupy theirs.
    if (m_if_room && !m_found) {
        IBD_ASSIGN_OR_RETURN(const auto shortage, LookForRoom(gap, true));
        const Lock lock(m_mutex);
        m_last_short = shortage.has_value();
        if (m_last_short) return {};
    }
    m_log.Info("Undo data: first that of the last blocks, {} to {}", gap.first, gap.last->height);
    IBD_ASSIGN_OR_RETURN(const bool done, MakeMissing(gap, true));
    if (!done) return {};
    m_log.Info("Undo data: the last {} blocks have it",
               std::min(kMinBlocksToKeep, m_chain->Tip()->height));
    // Otherwise a join's kept work would stay, as Run() has nothing to do.
    return IsNeeded(*m_chain) ? Result<>()
                              : m_kept.Discard(KeptWork::kBegunHints | KeptWork::kPairs);
}

Result<bool> UndoRun::MakeMissing(const Gap& gap, bool last_only)
{
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const terminal, ChooseTerminal(gap));
    // Coins of the last blocks are looked up in all others, in any order.
    LiveSupply supply(m_env, m_log, *m_chain, *terminal,
                      last_only ? PlanOrder::OfFiles() : PlanOrder::OfChain());
    IBD_ASSIGN_OR_RETURN(const JoinVerdict verdict, Make({.terminal = *terminal,
                                                          .supply = supply,
                                                          .first = gap.first,
                                                          .connected = true,
                                                          .last_only = last_only}));
    if (verdict.kind == VerdictKind::kInterrupted) return false;
    if (verdict.kind == VerdictKind::kNoRoom) return SystemError("{}", verdict.reason);
    if (verdict.kind == VerdictKind::kUndecided) {
        return SystemError("{}; -reindex-chainstate -ibdbooster=0 finds it out without, and leaves "
                           "undo data of all blocks",
                           verdict.reason);
    }
    if (verdict.kind != VerdictKind::kDone) {
        return RefuseChain(*terminal->Ancestor(verdict.height), verdict.reason);
    }
    if (last_only) return true;
    m_log.Info("Undo data: all blocks up to height {} have it", terminal->height);
    IBD_RETURN_IF_ERROR(m_kept.Discard(KeptWork::kBegunHints | KeptWork::kPairs));
    return true;
}

/** Marks and logs it immediately: the node may not shut down in order. */
Error UndoRun::RefuseChain(const HeaderNode& broken, const std::string& reason)
{
    m_broken = &broken;
    const Error error =
        BadData("Undo data: block at height {} is invalid: {}. The chainstate was built on it "
                "as -assumevalid allows: restart with -reindex-chainstate -ibdbooster=0",
                broken.height, reason);
    const Result<> noted = m_chain->NoteBroken(broken);
    m_log.Error("{}", error.message);
    if (!noted) m_log.Error("That could not be noted yet: {}", noted.Message());
    return error;
}

void UndoRun::Start(std::function<void(const Result<>&)> ended)
{
    m_options.threads = std::max(1u, m_options.threads / 2);
    m_options.progress = {};
    m_thread = NamedThread("undo", [this, ended = std::move(ended)] {
        LowerThreadPriority();
        do {
            MakeAll(ended);
        } while (WaitForAsk());
    });
}

void UndoRun::MakeAll(const std::function<void(const Result<>&)>& ended)
{
    Result<> made = MakeLastAndAll(ended);
    while (!made && WaitForDamaged()) made = MakeLastAndAll(ended);
    NoteFailure(made);
    ended(made);
}

Result<> UndoRun::MakeLastAndAll(const std::function<void(const Result<>&)>& ended)
{
    Result<> last;
    if (IsLastNeeded(*m_chain)) {
        last = RunLast();
        if (m_broken != nullptr) return last;
        if (last) ended(last); // usually enough for branches that were put aside
    }
    Result<> all = RunOnce(); // may succeed although RunLast() failed
    const Lock lock(m_mutex);
    return all && !m_shortage.empty() ? last : all;
}

/** After a failure: returns true if damaged blocks were the cause and peers have sent them again.
 */
bool UndoRun::WaitForDamaged()
{
    if (m_stop || m_broken != nullptr || !m_chain->Options().peers_bring_blocks) return false;
    const auto lost = m_chain->ForgetDamaged();
    if (!lost) m_log.Error("{}", lost.Message());
    // They may have been received already, while the rest of the file was read.
    if (!lost || (lost->empty() && !m_chain->NextLost(-1))) return false;
    m_log.Info("Undo data: fetching damaged blocks from peers before it continues");
    while (!m_stop && m_chain->NextLost(-1)) {
        const Lock lock(m_mutex);
        if (!m_stop) m_changed.wait_for(m_mutex, kLookForDamaged);
    }
    return !m_stop;
}

bool UndoRun::WaitForAsk()
{
    const Lock lock(m_mutex);
    while (!m_asked && !m_stop) m_changed.wait(m_mutex);
    m_asked = false;
    return !m_stop;
}

bool UndoRun::Ask()
{
    if (m_chain->SnapshotBase()) return false;
    const Gap gap = FindGap(*m_chain);
    const bool last = IsLastNeeded(*m_chain);
    const Lock lock(m_mutex);
    if (!m_failure.empty()) return false;
    // The last blocks may have room although all blocks have none.
    if (gap.last && !m_shortage.empty() && (!last || m_last_short)) return false;
    m_asked = true;
    m_changed.notify_all();
    if (m_rebuild || !gap.last) return true;
    m_done = gap.first - 1;
    m_missing_to = gap.last->height;
    return true;
}

void UndoRun::Interrupt()
{
    m_stop = true;
    const Lock lock(m_mutex);
    m_changed.notify_all();
}

void UndoRun::Stop()
{
    Interrupt();
    m_thread.Join();
}

Result<JoinVerdict> UndoRun::Make(const UndoTask& task)
{
    m_done = task.first - 1;
    UndoOptions undo;
    undo.join = JoinSettings();
    if (task.memory_bytes > 0) undo.join.memory_bytes = task.memory_bytes;
    undo.join.progress = m_options.progress;
    undo.join.connected = task.connected;
    undo.checks = task.checks;
    undo.signature_lanes = m_options.signature_lanes;
    undo.known_height = task.known_height;
    undo.records = task.records;
    undo.first_height = task.first;
    undo.side_fold = task.side_fold;
    undo.keep_pairs = task.keep_pairs;
    undo.join.values = task.values;
    undo.place = [chain = m_chain](const HeaderNode& node) { return chain->Where(node).data; };
    UndoRebuild rebuild(m_env, m_log, m_params, task.terminal, m_chain->Blocks(), task.supply, undo,
                        m_stop);
    {
        const Lock lock(m_mutex);
        m_rebuild = &rebuild;
        m_first = task.first;
        m_last = task.terminal.height;
        m_last_only = task.last_only;
    }
    Keeper keeper(*this, *m_chain, task);
    DurableUndo durable(m_env, keeper, {.micros = m_options.checkpoint_seconds * 1'000'000});
    auto verdict = task.last_only ? rebuild.RunLast(durable, std::exchange(m_found, std::nullopt))
                                  : rebuild.Run(durable);
    {
        const Lock lock(m_mutex);
        m_rebuild = nullptr;
    }
    // Finished work is kept, even after a later failure.
    IBD_RETURN_IF_ERROR(durable.End());
    return verdict;
}

std::optional<UndoProgress> UndoRun::Progress() const
{
    const Lock lock(m_mutex);
    return ProgressHeld();
}

std::optional<UndoProgress> UndoRun::ProgressHeld() const
{
    UndoProgress out;
    out.height = m_done;
    if (!m_rebuild) {
        if (m_missing_to == 0) return std::nullopt;
        out.phase = m_failure.empty() && m_shortage.empty() ? "waiting" : "failed";
        out.terminal_height = m_missing_to;
        return out;
    }
    const JoinProgress now = m_rebuild->Progress();
    out.phase = PhaseName(now.phase);
    out.terminal_height = m_last;
    out.bytes = m_last_only ? now.fetched_bytes : now.bytes;
    out.total_bytes = std::max(now.total_bytes, out.bytes);
    out.joined = now.joined;
    out.partitions = now.partitions;
    out.seconds_left =
        SecondsToTheEnd(now, m_last - m_first + 1, m_last_only ? kSharesOfLast : kShares);
    return out;
}

std::string UndoRun::Describe() const
{
    const Lock lock(m_mutex);
    if (m_missing_to == 0) return {};
    std::string text = fmt::format("Undo data of blocks exists up to height {} and above {}",
                                   m_done.load(), m_missing_to);
    const std::string& why = m_failure.empty() ? m_shortage : m_failure;
    if (!why.empty()) return text + "; the rest could not be made: " + why;
    const auto progress = ProgressHeld();
    if (!progress || !progress->seconds_left) return text + "; the rest is being made";
    return text + "; the rest will be there in about " + FormatDuration(*progress->seconds_left);
}

} // namespace ibd

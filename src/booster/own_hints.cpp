// See own_hints.h.
#include "booster/own_hints.h"

#include "join/spend_join.h"
#include "util/time_left.h"

#include <algorithm>

namespace ibd {

namespace {

/** Ratio of the size of all blocks to that of the coins, as runs or as chainstate: sixty on mainnet
 *  in 2026, less on chains of small blocks. */
constexpr uint64_t kBlockBytesPerCoinByte = 30;

} // namespace

JoinOptions JoinOptionsFrom(const BoosterOptions& booster, Path directory)
{
    JoinOptions options;
    options.threads = booster.threads;
    options.memory_bytes = booster.memory_bytes;
    options.directory = std::move(directory);
    options.checkpoint_bytes = booster.checkpoint_bytes;
    options.checkpoint_seconds = booster.checkpoint_seconds;
    options.background = booster.background;
    return options;
}

std::vector<RoomNeed> OwnHintsRoom(const BoosterOptions& options, const Path& blocks_dir,
                                   uint64_t block_bytes, const JoinBesides& besides)
{
    const bool undo = besides.pairs;
    const uint64_t coins = block_bytes / kBlockBytesPerCoinByte;
    const uint64_t spills =
        (undo ? ExpectedPairedBytes(block_bytes, false) : ExpectedSpillBytes(block_bytes, false)) +
        (besides.values ? ExpectedValueBytes(block_bytes, false) : 0);
    // The peak of disk use: events are removed before the runs are written. Runs are removed before
    // an UndoRun fetches coins, unless the UndoRun comes first because it checks rules.
    const bool at_once = undo && (options.check_rules || options.full_validation);
    return {{options.directory, at_once ? spills + coins : std::max(spills, coins)},
            {options.chainstate.parent_path(), coins},
            {blocks_dir, undo ? ExpectedUndoBytes(block_bytes) : 0}};
}

Path ExistingFolder(Env& env, Path folder)
{
    while (!env.Exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
    return folder;
}

Found<RoomShortage> FindShortage(Env& env, std::span<const RoomNeed> needs)
{
    for (const RoomNeed& need : needs) {
        const Path place = ExistingFolder(env, need.place);
        uint64_t bytes = 0;
        for (const RoomNeed& other : needs) {
            if (env.SameFileSystem(place, ExistingFolder(env, other.place))) bytes += other.bytes;
        }
        IBD_ASSIGN_OR_RETURN(const uint64_t free, env.SpaceAvailable(place));
        if (free < bytes) return std::optional(RoomShortage{place, bytes, free});
    }
    return std::optional<RoomShortage>();
}

Result<JoinVerdict> OwnHints::Make(const HeaderNode& terminal, BlockSupply& supply,
                                   const JoinBesides& besides, MadeHints& made)
{
    const bool pairs = besides.pairs;
    const Path path = OwnHintsPath(m_kept.Folder());
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_kept.Folder()));
    IBD_RETURN_IF_ERROR(m_kept.MakeWayForJoin(terminal, pairs));
    JoinOptions join = JoinOptionsFrom(m_options, pairs ? m_kept.PairsFolder() : m_kept.Folder());
    join.progress = m_options.progress;
    join.pairs = pairs;
    join.values = besides.values;
    // With full validation the fold sums whole coins, unless the join provides the sums.
    if (!m_options.full_validation || pairs) join.aggregate = m_options.aggregate;
    m_log.Info("IBD Booster: making hints from the blocks up to height {}", terminal.height);
    const auto observer = [this](const SpendJoin* at_work) {
        const Lock lock(m_mutex);
        m_join = at_work;
    };
    IBD_ASSIGN_OR_RETURN(GeneratedHints generated,
                         GenerateHints(m_env, m_log, m_params, terminal, supply, join, m_stop, path,
                                       HintsFormat::kContainer1, observer));
    if (generated.verdict.kind == VerdictKind::kDone) {
        IBD_ASSIGN_OR_RETURN(made.hints, OpenHints(m_env, path));
        IBD_ASSIGN_OR_RETURN(made.first, m_kept.FirstPassOfHints(terminal.hash));
    }
    return std::move(generated.verdict);
}

std::optional<OwnHintsProgress> OwnHints::Progress() const
{
    const Lock lock(m_mutex);
    if (!m_join) return std::nullopt;
    const JoinProgress now = m_join->Progress();
    OwnHintsProgress out;
    out.phase = PhaseName(now.phase);
    out.bytes = now.bytes;
    out.total_bytes = std::max(now.total_bytes, now.bytes);
    out.joined = now.joined;
    out.partitions = now.partitions;
    if (now.phase == JoinProgress::Phase::kReading) {
        const uint64_t read = now.bytes - std::min(now.bytes, now.resumed_bytes);
        if (now.seconds_in_phase > 0) {
            out.bytes_per_second = static_cast<double>(read) / now.seconds_in_phase;
        }
        out.seconds_left =
            SecondsLeft(static_cast<double>(read), static_cast<double>(out.total_bytes - out.bytes),
                        now.seconds_in_phase);
    } else if (now.phase == JoinProgress::Phase::kJoining) {
        out.seconds_left =
            SecondsLeft(now.joined, now.partitions - now.joined, now.seconds_in_phase);
    }
    return out;
}

} // namespace ibd

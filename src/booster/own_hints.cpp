// See own_hints.h.
#include "booster/own_hints.h"

#include "join/spend_join.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/terminal.h"

#include <algorithm>

namespace ibd {

namespace {

/** Ratio of the size of all blocks to that of the coins, as runs or as chainstate: sixty on mainnet
 *  in 2026, less on chains of small blocks. */
constexpr uint64_t kBlockBytesPerCoinByte = 30;

Path HintsPath(const Path& directory) { return directory / "own.hints"; }
Path IncompletePath(const Path& directory) { return directory / "own.hints.incomplete"; }

const char* PhaseName(JoinProgress::Phase phase)
{
    switch (phase) {
    case JoinProgress::Phase::kIdle: return "starting";
    case JoinProgress::Phase::kReading: return "reading";
    case JoinProgress::Phase::kJoining: return "joining";
    case JoinProgress::Phase::kWriting: return "writing";
    case JoinProgress::Phase::kChecking: return "checking";
    case JoinProgress::Phase::kFetching:
    case JoinProgress::Phase::kUndo: break; // not for hints
    }
    return "unknown";
}

/** Estimated seconds for the rest, at the present rate. */
std::optional<double> SecondsLeft(uint64_t done, uint64_t total, double seconds)
{
    if (done == 0 || total < done) return std::nullopt;
    return seconds * static_cast<double>(total - done) / static_cast<double>(done);
}

/** The folder, or its nearest existing parent. */
Path Existing(Env& env, Path folder)
{
    while (!env.Exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
    return folder;
}

Result<> RemoveIfThere(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    return there ? env.Remove(path) : Result<>();
}

/** For a join that keeps pairs: whether it makes hints, and not only undo data, which needs no
 *  sums. Unfinished hints are removed at a stop, and may be lost in a power cut. */
bool IsOfHints(const JoinState& state)
{
    return state.stage == JoinStage::kReading && state.aggregate;
}

} // namespace

bool IsOwnHintsFile(const std::string& name)
{
    return name == HintsPath({}) || name == IncompletePath({});
}

Result<> RemoveUndoFolder(Env& env, const Path& booster)
{
    const Path folder = UndoFolder(booster);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    if (!there) return {};
    IBD_RETURN_IF_ERROR(RemoveJoin(env, folder));
    // The user may have a folder of this name in the booster's folder.
    IBD_ASSIGN_OR_RETURN(const auto left, env.List(folder));
    const bool ours = std::all_of(left.begin(), left.end(), IsBoosterLock);
    return ours ? env.RemoveAll(folder) : Result<>();
}

Result<> RemovePairs(Env& env, const Path& booster)
{
    // Removed first, so that the rest is not mistaken for resumable hints.
    IBD_RETURN_IF_ERROR(RemoveIfThere(env, IncompletePath(booster)));
    return RemoveUndoFolder(env, booster);
}

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
    // Events are removed before the runs are written, runs before an UndoRun fetches coins, unless
    // that comes first, as it checks.
    const bool at_once = undo && (options.check_rules || options.full_validation);
    return {{options.directory, at_once ? spills + coins : std::max(spills, coins)},
            {options.chainstate.parent_path(), coins},
            {blocks_dir, undo ? ExpectedUndoBytes(block_bytes) : 0}};
}

std::optional<RoomShortage> FindShortage(Env& env, std::span<const RoomNeed> needs)
{
    for (const RoomNeed& need : needs) {
        const Path place = Existing(env, need.place);
        uint64_t bytes = 0;
        for (const RoomNeed& other : needs) {
            if (env.SameFileSystem(place, Existing(env, other.place))) bytes += other.bytes;
        }
        const auto room = env.SpaceAvailable(place);
        const uint64_t free = room ? *room : 0;
        if (free < bytes) return RoomShortage{place, bytes, free};
    }
    return std::nullopt;
}

Result<std::optional<OwnHints::Kept>> OwnHints::Look(const Path& directory)
{
    const Path path = HintsPath(directory);
    IBD_ASSIGN_OR_RETURN(const bool made, m_env.IsThere(path));
    if (made) {
        auto hints = OpenHints(m_env, path);
        if (!hints && hints.GetError().kind == Error::Kind::kSystem) return hints.GetError();
        if (hints && CheckNetwork((*hints)->Info(), m_params) && (*hints)->Info().terminal_hash) {
            const BlockHash terminal = *(*hints)->Info().terminal_hash;
            IBD_ASSIGN_OR_RETURN(auto first, FindFirstPass(directory, terminal));
            return Kept{terminal, std::move(*hints), std::move(first), false};
        }
        m_log.Warning("IBD Booster: hints made before are made anew: {}",
                      hints ? "they are of another network" : hints.Message());
        IBD_RETURN_IF_ERROR(m_env.Remove(path));
    }
    auto state = LoadJoinState(m_env, directory);
    const bool pairs = state && !*state;
    if (pairs) {
        IBD_ASSIGN_OR_RETURN(const bool begun, m_env.IsThere(IncompletePath(directory)));
        state = LoadJoinState(m_env, UndoFolder(directory));
        if (state && *state && !begun && !IsOfHints(**state)) return std::nullopt;
    }
    if (!state && state.GetError().kind == Error::Kind::kSystem) return state.GetError();
    if (!state || !*state || (*state)->network_magic != m_params.magic ||
        (*state)->stage == JoinStage::kHinted) { // hints that are gone
        return std::nullopt;
    }
    return Kept{(*state)->terminal_hash, nullptr, {}, pairs};
}

Result<std::optional<uint64_t>> OwnHints::BytesKept(const Path& directory) const
{
    std::optional<uint64_t> bytes;
    for (const Path& folder : {directory, UndoFolder(directory)}) {
        IBD_ASSIGN_OR_RETURN(const auto join, BytesOfJoin(m_env, folder));
        if (join) bytes = bytes.value_or(0) + *join;
    }
    for (const Path& path : {HintsPath(directory), IncompletePath(directory)}) {
        IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(path));
        if (!there) continue;
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        bytes = bytes.value_or(0) + size;
    }
    return bytes;
}

/** Reads the state of the join that made the hints. Without it, or if it is damaged, the fold
 *  checks all blocks again. */
Result<std::optional<FirstPass>> OwnHints::FindFirstPass(const Path& directory,
                                                         const BlockHash& terminal)
{
    for (const Path& folder : {directory, UndoFolder(directory)}) {
        auto state = LoadJoinState(m_env, folder);
        if (!state && state.GetError().kind == Error::Kind::kSystem) return state.GetError();
        if (!state) m_log.Warning("IBD Booster: blocks are checked again: {}", state.Message());
        if (!state || !*state || (*state)->terminal_hash != terminal) continue;
        auto first = FirstPassOf(**state);
        if (!first) continue;
        // It died after the hints were made. A join with pairs is still useful for undo data.
        if ((*state)->stage == JoinStage::kReading && !(*state)->pairs) {
            IBD_RETURN_IF_ERROR(KeepFirstPass(m_env, folder, std::move(**state)));
        }
        return first;
    }
    return std::nullopt;
}

/** Removes unfinished work without pairs, which are needed. */
Result<> OwnHints::RemoveWithoutPairs(const Path& directory, const HeaderNode& terminal)
{
    const auto state = LoadJoinState(m_env, directory);
    if (state && *state && (*state)->terminal_hash == terminal.hash) {
        m_log.Warning("IBD Booster: a begun join, with {} blocks read, is dropped: the options now "
                      "need a join that records which input spends which output",
                      (*state)->BlocksRead());
    }
    return RemoveJoin(m_env, directory);
}

Result<OwnHints::Made> OwnHints::Make(const HeaderNode& terminal, BlockSupply& supply,
                                      const BoosterOptions& options, const JoinBesides& besides)
{
    const bool pairs = besides.pairs;
    const Path& directory = options.directory;
    const Path path = HintsPath(directory);
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(directory));
    IBD_RETURN_IF_ERROR(RemoveIfThere(m_env, path)); // of another terminal block
    IBD_RETURN_IF_ERROR(pairs ? RemoveWithoutPairs(directory, terminal)
                              : RemoveJoin(m_env, UndoFolder(directory)));
    JoinOptions join = JoinOptionsFrom(options, pairs ? UndoFolder(directory) : directory);
    join.progress = options.progress;
    join.pairs = pairs;
    join.values = besides.values;
    // With full validation the fold sums whole coins, unless the join provides the sums.
    if (!options.full_validation || pairs) join.aggregate = options.aggregate;
    m_log.Info("IBD Booster: making hints from the blocks up to height {}", terminal.height);
    const auto observer = [this](const SpendJoin* at_work) {
        const Lock lock(m_mutex);
        m_join = at_work;
    };
    Made made;
    IBD_ASSIGN_OR_RETURN(GeneratedHints generated,
                         GenerateHints(m_env, m_log, m_params, terminal, supply, join, m_stop, path,
                                       HintsFormat::kContainer1, observer));
    made.verdict = std::move(generated.verdict);
    if (made.verdict.kind == JoinVerdict::Kind::kDone) {
        IBD_ASSIGN_OR_RETURN(made.hints, OpenHints(m_env, path));
        IBD_ASSIGN_OR_RETURN(made.first, FindFirstPass(directory, terminal.hash));
    }
    return made;
}

Result<> OwnHints::KeepFirst(const Path& directory)
{
    auto state = LoadJoinState(m_env, UndoFolder(directory));
    if (!state && state.GetError().kind == Error::Kind::kSystem) return state.GetError();
    if (!state || !*state || !FirstPassOf(**state)) return {};
    return KeepFirstPass(m_env, directory, std::move(**state));
}

Result<> OwnHints::Remove(const Path& directory, bool keep_pairs)
{
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(directory));
    if (!there) return {};
    // Removes the hints last: while they exist, a start resumes this work.
    IBD_RETURN_IF_ERROR(RemoveJoin(m_env, directory));
    for (const Path& path : {IncompletePath(directory), HintsPath(directory)}) {
        IBD_RETURN_IF_ERROR(RemoveIfThere(m_env, path));
    }
    return keep_pairs ? Result<>() : RemoveUndoFolder(m_env, directory);
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
            SecondsLeft(read, read + out.total_bytes - out.bytes, now.seconds_in_phase);
    } else if (now.phase == JoinProgress::Phase::kJoining) {
        out.seconds_left = SecondsLeft(now.joined, now.partitions, now.seconds_in_phase);
    }
    return out;
}

} // namespace ibd

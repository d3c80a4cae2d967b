// The booster's directory: its checkpoint, runs, lock and list of bad hints. See checkpoint.h.
#include "swiftsync/checkpoint_log.h"
#include "util/atomic_file.h"
#include "util/found.h"
#include "util/hex.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace ibd {

namespace {

constexpr const char* kBadHintsFile = "badhints.txt";
constexpr const char* kSuspectHintsFile = "suspecthints.txt";
constexpr const char* kLockFile = ".lock";

} // namespace

Path CheckpointPath(const Path& directory) { return directory / "checkpoint.dat"; }

bool IsRunFile(const std::string& name)
{
    constexpr std::string_view kBefore = "run", kBehind = ".dat";
    if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return false;
    std::string_view digits = name;
    digits.remove_prefix(kBefore.size());
    if (digits.size() < kBehind.size()) return false;
    digits.remove_suffix(kBehind.size());
    return digits.size() >= 6 && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsCheckpointFile(const std::string& name)
{
    return name == CheckpointPath({}) || name == CheckpointLogPath({});
}

bool IsBoosterLock(const std::string& name) { return name == kLockFile; }

bool IsHintsRecord(const std::string& name)
{
    return name == kBadHintsFile || name == kSuspectHintsFile;
}

Result<> SaveCheckpoint(Env& env, const Path& directory, const Checkpoint& checkpoint)
{
    return WriteFileAtomically(env, CheckpointPath(directory), checkpoint.Encode());
}

Found<Checkpoint> LoadCheckpoint(Env& env, const Path& directory)
{
    const Path path = CheckpointPath(directory);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
    auto checkpoint = Checkpoint::Decode(bytes);
    if (!checkpoint) return BadData("checkpoint {}: {}", path.string(), checkpoint.Message());
    IBD_RETURN_IF_ERROR(ReplayLog(env, directory, bytes, *checkpoint));
    return std::move(*checkpoint);
}

namespace {

Result<> RemoveRunsAndLog(Env& env, const Path& directory)
{
    IBD_RETURN_IF_ERROR(RemoveOtherRuns(env, directory, {}));
    IBD_RETURN_IF_ERROR(RemoveIfThere(env, CheckpointLogPath(directory)));
    return {};
}

} // namespace

Result<> RemoveCheckpoint(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(directory));
    if (!there) return {};
    const auto kept = LoadCheckpoint(env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(kept);
    // While a published checkpoint exists, a start only cleans up, so it is removed last. Another
    // one is removed first: without its log or its runs it would seem to be unfinished or damaged
    // work, while runs and a log without a checkpoint are useless to every start.
    const bool last = kept && *kept && (*kept)->published;
    if (last) IBD_RETURN_IF_ERROR(RemoveRunsAndLog(env, directory));
    IBD_ASSIGN_OR_RETURN(const bool removed, RemoveWithUnwritten(env, CheckpointPath(directory)));
    if (removed) IBD_RETURN_IF_ERROR(env.SyncDirectory(directory));
    return last ? Result<>() : RemoveRunsAndLog(env, directory);
}

Result<> RemoveOtherRuns(Env& env, const Path& directory, const Checkpoint& checkpoint)
{
    std::set<std::string> kept;
    for (const RunInfo& run : checkpoint.runs) {
        kept.insert(RunPath(directory, run.number).filename().string());
    }
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(directory));
    for (const std::string& name : names) {
        if (!IsRunFile(name) || kept.contains(name)) continue;
        IBD_RETURN_IF_ERROR(env.Remove(directory / name));
    }
    return {};
}

Result<FoldStanding> FindFoldStanding(Env& env, const Path& directory, const Uint256& hints_id,
                                      const BlockHash& best_block)
{
    const auto found = LoadCheckpoint(env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(found);
    if (!found) return FoldStanding::kUnpublished;
    if (!*found) return FoldStanding::kNone;
    const Checkpoint& kept = **found;
    const bool complete = kept.folded.Count() == kept.terminal_height;
    const bool in_place = complete && kept.hints_id == hints_id && kept.terminal_hash == best_block;
    return kept.published || in_place ? FoldStanding::kPublished : FoldStanding::kUnpublished;
}

Result<std::unique_ptr<FileLock>> LockBooster(Env& env, const Path& directory)
{
    const Path path = directory / kLockFile;
    IBD_ASSIGN_OR_RETURN(auto lock, env.Lock(path));
    if (lock) return lock;
    return SystemError("cannot lock the booster's directory, a node may be using it "
                       "(-ibdboosterdir): '{}' is locked",
                       path.string());
}

namespace {

/** The start of the line for hints that failed on the branch that ends at this block. */
std::string BadHintsKey(const Uint256& hints_id, const BlockHash& terminal_hash)
{
    return fmt::format("{} {} ", ToHex(hints_id.Span()), terminal_hash.ToHex());
}

/** Empty if there is no such file. */
Result<Bytes> ReadRecord(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return Bytes();
    return ReadWholeFile(env, path);
}

/** Takes the first line. */
std::string_view NextLine(std::string_view& rest)
{
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
}

/** Nothing: the line is damaged. */
std::optional<SuspectEntry> ParseSuspect(std::string_view line)
{
    constexpr size_t kHexDigits = 64;
    constexpr size_t kHeightAt = 2 * (kHexDigits + 1); // behind two hashes
    if (line.size() < kHeightAt) return std::nullopt;
    const auto id = FromHex(line.substr(0, kHexDigits));
    const auto terminal = Uint256::FromHex(line.substr(kHexDigits + 1, kHexDigits));
    SuspectEntry entry;
    const char* const end = line.data() + line.size();
    const auto height = std::from_chars(line.data() + kHeightAt, end, entry.height);
    if (!id || !terminal || height.ec != std::errc()) return std::nullopt;
    if (height.ptr == end || *height.ptr != ' ') return std::nullopt;
    entry.id = Uint256::FromBytes(id->data());
    entry.terminal = BlockHash(*terminal);
    entry.why = std::string(height.ptr + 1, end);
    return entry;
}

} // namespace

Result<> RememberBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                          const BlockHash& terminal_hash, std::string_view reason)
{
    IBD_ASSIGN_OR_RETURN(const auto known, KnownBadHints(env, directory, hints_id, terminal_hash));
    if (known) return {};
    IBD_ASSIGN_OR_RETURN(Bytes text, ReadRecord(env, directory / kBadHintsFile));
    Append(text, AsBytes(BadHintsKey(hints_id, terminal_hash)));
    Append(text, AsBytes(fmt::format("{}\n", reason)));
    return WriteFileAtomically(env, directory / kBadHintsFile, text);
}

Found<std::string> KnownBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                                 const BlockHash& terminal_hash)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadRecord(env, directory / kBadHintsFile));
    const std::string key = BadHintsKey(hints_id, terminal_hash);
    std::string_view rest = AsChars(bytes);
    while (!rest.empty()) {
        const std::string_view line = NextLine(rest);
        if (line.starts_with(key)) return std::string(line.substr(key.size()));
    }
    return std::nullopt;
}

Result<std::vector<SuspectEntry>> LoadSuspectHints(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadRecord(env, directory / kSuspectHintsFile));
    std::vector<SuspectEntry> entries;
    std::string_view rest = AsChars(bytes);
    while (!rest.empty()) {
        if (auto entry = ParseSuspect(NextLine(rest))) entries.push_back(std::move(*entry));
    }
    return entries;
}

Result<> SaveSuspectHints(Env& env, const Path& directory, std::span<const SuspectEntry> entries)
{
    const Path path = directory / kSuspectHintsFile;
    if (entries.empty()) {
        const auto removed = RemoveIfThere(env, path);
        return removed ? Result<>() : removed.GetError();
    }
    std::string text;
    for (const SuspectEntry& entry : entries) {
        text += fmt::format("{}{} {}\n", BadHintsKey(entry.id, entry.terminal), entry.height,
                            entry.why);
    }
    return WriteFileAtomically(env, path, AsBytes(text));
}

} // namespace ibd

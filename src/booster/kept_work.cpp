// See kept_work.h.
#include "booster/kept_work.h"

#include "booster/full_mark.h"
#include "chain/header_node.h"
#include "swiftsync/terminal.h"
#include "util/atomic_file.h"
#include "util/strings.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ibd {

namespace {

using Use = KeptFile::Use;

/** For a join that keeps pairs: whether it makes hints, and not only undo data, which needs no
 *  sums. Unfinished hints are removed at a stop, and may be lost in a power cut. */
bool IsOfHints(const JoinState& state)
{
    return state.stage == JoinStage::kReading && state.aggregate;
}

} // namespace

Found<Checkpoint> KeptWork::Fold() const { return LoadCheckpoint(m_env, Folder()); }

Result<FoldStanding> KeptWork::StandingOfFold(const Uint256& hints_id, const BlockHash& best) const
{
    return FindFoldStanding(m_env, Folder(), hints_id, best);
}

Found<JoinState> KeptWork::Pairs() const { return LoadJoinState(m_env, PairsFolder()); }

Found<KeptWork::OwnWork> KeptWork::OwnHints() const
{
    const Path path = OwnHintsPath(Folder());
    IBD_ASSIGN_OR_RETURN(const bool made, m_env.IsThere(path));
    if (made) {
        auto hints = OpenHints(m_env, path);
        IBD_RETURN_IF_SYSTEM_ERROR(hints);
        if (hints && CheckNetwork((*hints)->Info(), m_params) && (*hints)->Info().terminal_hash) {
            const BlockHash terminal = *(*hints)->Info().terminal_hash;
            IBD_ASSIGN_OR_RETURN(auto first, FirstPassOfHints(terminal));
            return OwnWork{terminal, std::move(*hints), std::move(first), false};
        }
        m_log.Warning("IBD Booster: hints made before are made anew: {}",
                      hints ? "they are of another network" : hints.Message());
        IBD_RETURN_IF_ERROR(m_env.Remove(path));
    }
    auto state = LoadJoinState(m_env, Folder());
    const bool pairs = state && !*state;
    if (pairs) {
        IBD_ASSIGN_OR_RETURN(const bool begun, m_env.IsThere(BegunHintsPath(Folder())));
        state = Pairs();
        if (state && *state && !begun && !IsOfHints(**state)) return std::nullopt;
    }
    IBD_RETURN_IF_SYSTEM_ERROR(state);
    if (!state || !*state || (*state)->network_magic != m_params.magic ||
        (*state)->stage == JoinStage::kHinted) { // hints that do not exist any more
        return std::nullopt;
    }
    return OwnWork{(*state)->terminal_hash, nullptr, {}, pairs};
}

/** Reads the state of the join that made the hints. Without it, or if it is damaged, the fold
 *  checks all blocks again. */
Found<FirstPass> KeptWork::FirstPassOfHints(const BlockHash& terminal) const
{
    for (const Path& folder : {Folder(), PairsFolder()}) {
        auto state = LoadJoinState(m_env, folder);
        IBD_RETURN_IF_SYSTEM_ERROR(state);
        if (!state) m_log.Warning("IBD Booster: blocks are checked again: {}", state.Message());
        if (!state || !*state || (*state)->terminal_hash != terminal) continue;
        auto first = FirstPassOf(**state);
        if (!first) continue;
        // The node was killed after the hints were made. A join with pairs is still useful for undo
        // data.
        if ((*state)->stage == JoinStage::kReading && !(*state)->pairs) {
            IBD_RETURN_IF_ERROR(ibd::KeepFirstPass(m_env, folder, std::move(**state)));
        }
        return first;
    }
    return std::nullopt;
}

// Damaged files count as no work: the code that uses them reports the damage and reads all blocks.
Result<std::vector<bool>> KeptWork::BlocksRead(const HeaderNode& terminal) const
{
    std::vector<bool> read(static_cast<size_t>(terminal.height) + 1);
    const auto note = [&](const auto& is_read) {
        for (uint32_t height = 0; height < read.size(); ++height) {
            if (is_read(height)) read[height] = true;
        }
    };
    for (const Path& folder : {Folder(), PairsFolder()}) {
        const auto join = LoadJoinState(m_env, folder);
        IBD_RETURN_IF_SYSTEM_ERROR(join);
        if (!join || !*join || (*join)->terminal_hash != terminal.hash) continue;
        if ((*join)->outputs.size() != read.size()) continue;
        note([&](uint32_t height) { return (*join)->IsRead(height); });
    }
    const auto fold = Fold();
    IBD_RETURN_IF_SYSTEM_ERROR(fold);
    if (fold && *fold && (*fold)->terminal_hash == terminal.hash) {
        note([&](uint32_t height) { return (*fold)->folded.Contains(height); });
    }
    return read;
}

Result<uint64_t> KeptWork::Size() const
{
    IBD_ASSIGN_OR_RETURN(const auto files, Files());
    return BytesOf(files, Use::kWork);
}

Found<uint64_t> KeptWork::SizeOfOwnHints() const
{
    std::optional<uint64_t> bytes;
    for (const Path& folder : {Folder(), PairsFolder()}) {
        IBD_ASSIGN_OR_RETURN(const auto join, BytesOfJoin(m_env, folder));
        if (join) bytes = bytes.value_or(0) + *join;
    }
    for (const Path& path : {OwnHintsPath(Folder()), BegunHintsPath(Folder())}) {
        IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(path));
        if (!there) continue;
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        bytes = bytes.value_or(0) + size;
    }
    return bytes;
}

Result<> KeptWork::DescribeOthers(const Path& list, const Path& usual) const
{
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(list));
    Bytes known;
    if (there) {
        IBD_ASSIGN_OR_RETURN(known, ReadWholeFile(m_env, list));
    }
    std::set<std::string> folders = {usual.string()};
    std::istringstream lines{std::string(AsChars(known))};
    for (std::string line; std::getline(lines, line);) folders.insert(line);
    std::string kept = Folder() == usual ? "" : Folder().string() + "\n";
    for (const std::string& folder : folders) {
        if (folder == Folder().string() || folder.empty()) continue;
        IBD_ASSIGN_OR_RETURN(const auto found, FindKeptFiles(m_env, {.booster = folder}));
        const uint64_t bytes = BytesOf(found, Use::kWork);
        if (bytes == 0) continue;
        if (folder != usual.string()) kept += folder + "\n";
        m_log.Warning("IBD Booster: '{}' has {} of an unfinished rebuild with another "
                      "-ibdboosterdir: a start with that one continues it; while no "
                      "node runs you may delete the folder",
                      folder, FormatBytes(bytes));
    }
    if (kept == AsChars(known)) return {};
    return kept.empty() ? m_env.Remove(list) : WriteFileAtomically(m_env, list, AsBytes(kept));
}

Result<> KeptWork::Discard(unsigned parts) const
{
    IBD_ASSIGN_OR_RETURN(const bool there, IsThere());
    if (!there) return {};
    if (parts & kFold) IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_env, Folder()));
    if (parts & kMark) IBD_RETURN_IF_ERROR(RemoveFullMark(m_env, Folder()));
    if (parts & kOwnHints) IBD_RETURN_IF_ERROR(DiscardOwnHints());
    // Removed before the pairs, so that the remaining files are not mistaken for resumable hints.
    if (parts & kBegunHints) IBD_RETURN_IF_ERROR(RemoveIfThere(m_env, BegunHintsPath(Folder())));
    return parts & kPairs ? DiscardPairs() : Result<>();
}

/** Removes the hints last: while they exist, a start resumes this work. */
Result<> KeptWork::DiscardOwnHints() const
{
    IBD_RETURN_IF_ERROR(RemoveJoin(m_env, Folder()));
    for (const Path& path : {BegunHintsPath(Folder()), OwnHintsPath(Folder())}) {
        IBD_RETURN_IF_ERROR(RemoveIfThere(m_env, path));
    }
    return {};
}

/** Also removes the folder if it is empty then. */
Result<> KeptWork::DiscardPairs() const
{
    const Path folder = PairsFolder();
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(folder));
    if (!there) return {};
    IBD_RETURN_IF_ERROR(RemoveJoin(m_env, folder));
    // The user may have a folder of this name in the booster's folder.
    IBD_ASSIGN_OR_RETURN(const auto left, m_env.List(folder));
    const bool ours = std::all_of(left.begin(), left.end(), IsBoosterLock);
    return ours ? m_env.RemoveAll(folder) : Result<>();
}

Result<> KeptWork::Tend() const
{
    std::unique_ptr<FileLock> lock;
    IBD_ASSIGN_OR_RETURN(const bool there, IsThere());
    if (there) {
        auto locked = Lock();
        if (!locked) return {}; // another node works there
        lock = std::move(*locked);
    }
    IBD_ASSIGN_OR_RETURN(const std::vector<KeptFile> found, Files());
    const std::string useless = Describe(found, Use::kNone);
    if (!useless.empty()) {
        m_log.Info("IBD Booster: removing files that a crash left unfinished: {}", useless);
    }
    for (const KeptFile& file : found) {
        if (file.use == Use::kNone) IBD_RETURN_IF_ERROR(m_env.Remove(file.path));
    }
    const std::string work = Describe(found, Use::kWork);
    if (!work.empty()) {
        m_log.Info("IBD Booster: '{}' has, of earlier starts: {}", Folder().string(), work);
    }
    for (const KeptFile& file : found) {
        if (file.use != Use::kFetched) continue;
        m_log.Info("IBD Booster: '{}' ({}) is an unfinished download of hints from peers: a start "
                   "with -ibdboosterfile=auto that builds a chainstate continues it",
                   file.path.string(), FormatBytes(file.size));
    }
    return {};
}

Result<> KeptWork::MakeWayForJoin(const HeaderNode& terminal, bool pairs) const
{
    IBD_RETURN_IF_ERROR(RemoveIfThere(m_env, OwnHintsPath(Folder()))); // of another terminal block
    if (!pairs) return RemoveJoin(m_env, PairsFolder());
    const auto state = LoadJoinState(m_env, Folder());
    if (state && *state && (*state)->terminal_hash == terminal.hash) {
        m_log.Warning(
            "IBD Booster: an unfinished join, with {} blocks read, is removed: the options now "
            "need a join that records which input spends which output",
            (*state)->BlocksRead());
    }
    return RemoveJoin(m_env, Folder());
}

Result<> KeptWork::RememberBad(const Uint256& hints_id, const BlockHash& terminal,
                               std::string_view why) const
{
    IBD_ASSIGN_OR_RETURN(const auto lock, Lock());
    return RememberBadHints(m_env, Folder(), hints_id, terminal, why);
}

Result<> KeptWork::SaveSuspects(std::span<const SuspectEntry> entries) const
{
    IBD_ASSIGN_OR_RETURN(const auto lock, Lock());
    return SaveSuspectHints(m_env, Folder(), entries);
}

Result<> KeptWork::KeepFirstPass() const
{
    auto state = Pairs();
    IBD_RETURN_IF_SYSTEM_ERROR(state);
    if (!state || !*state || !FirstPassOf(**state)) return {};
    return ibd::KeepFirstPass(m_env, Folder(), std::move(**state));
}

} // namespace ibd

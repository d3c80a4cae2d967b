// See leftovers.h.
#include "booster/leftovers.h"

#include "booster/full_mark.h"
#include "booster/hints_choice.h"
#include "booster/own_hints.h"
#include "join/join_state.h"
#include "swiftsync/checkpoint.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ibd {

namespace {

using Use = Leftover::Use;

/** Files of one kind. */
struct Kind {
    bool (*matches)(const std::string& name);
    Use use;
    const char* what;
};

/** The temporary file of WriteFileAtomically(), for a name that `matches`. */
template <bool (*matches)(const std::string&)>
bool IsNewOf(const std::string& name)
{
    constexpr std::string_view kNew = ".new";
    return name.ends_with(kNew) && matches(name.substr(0, name.size() - kNew.size()));
}

bool IsJoinWork(const std::string& name) { return IsJoinFile(name) && !name.ends_with(".new"); }

bool IsNewJoinState(const std::string& name) { return IsJoinFile(name) && name.ends_with(".new"); }

/** A container being made of swifthints, or of hints kept for peers. */
bool IsHintsInTheMaking(const std::string& name)
{
    std::string whole = name;
    if (whole.ends_with(kGapsExtension)) whole.resize(whole.size() - kGapsExtension.size());
    if (whole == kKeepingHints) return true;
    if (!whole.starts_with(kConvertedHints) || !whole.ends_with(kConvertedPart)) return false;
    const std::string hash = whole.substr(
        kConvertedHints.size(), whole.size() - kConvertedHints.size() - kConvertedPart.size());
    const auto bytes = FromHex(hash);
    return bytes && bytes->size() == Uint256().Span().size();
}

/** See HintsFromPeers. */
bool IsHintsOfPeers(const std::string& name)
{
    if (!name.ends_with(kHintsPartExtension)) return false;
    const auto id = FromHex(name.substr(0, name.size() - kHintsPartExtension.size()));
    return id && id->size() == Uint256().Span().size();
}

const std::vector<Kind>& KindsInBooster()
{
    static const std::vector<Kind> kinds = {
        {IsRunFile, Use::kWork, "coins that were folded"},
        {IsCheckpointFile, Use::kWork, "the checkpoint of a fold"},
        {IsJoinWork, Use::kWork, "a join"},
        {IsOwnHintsFile, Use::kWork, "hints made from the blocks"},
        {IsFullMarkFile, Use::kWork, "how far blocks are checked"},
        {IsNewOf<IsCheckpointFile>, Use::kNobody, "a checkpoint half written"},
        {IsNewOf<IsFullMarkFile>, Use::kNobody, "a mark half written"},
        {IsNewOf<IsBadHintsFile>, Use::kNobody, "a note half written"},
        {IsNewJoinState, Use::kNobody, "a join's state half written"},
    };
    return kinds;
}

const std::vector<Kind>& KindsInUndo()
{
    static const std::vector<Kind> kinds = {
        {IsJoinWork, Use::kWork, "a join with the records for undo data"},
        {IsNewJoinState, Use::kNobody, "a join's state half written"},
    };
    return kinds;
}

const std::vector<Kind>& KindsInHints()
{
    static const std::vector<Kind> kinds = {
        {IsHintsInTheMaking, Use::kNobody, "hints half converted"},
        {IsHintsOfPeers, Use::kFetched, "hints that peers were giving"},
    };
    return kinds;
}

Result<> AddFrom(Env& env, const Path& folder, const std::vector<Kind>& kinds,
                 std::vector<Leftover>& out)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    if (!there) return {};
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(folder));
    for (const std::string& name : names) {
        const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                       [&](const Kind& k) { return k.matches(name); });
        if (kind == kinds.end()) continue;
        IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(folder / name));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        out.push_back({folder / name, size, kind->use, kind->what});
    }
    return {};
}

/** "coins that were folded (5.6 MB), the checkpoint of a fold (12 kB)". */
std::string Describe(std::span<const Leftover> leftovers, Use use)
{
    std::vector<std::pair<std::string, uint64_t>> sizes;
    for (const Leftover& left : leftovers) {
        if (left.use != use) continue;
        const auto same = std::find_if(sizes.begin(), sizes.end(),
                                       [&](const auto& s) { return s.first == left.what; });
        if (same == sizes.end()) {
            sizes.emplace_back(left.what, left.size);
        } else {
            same->second += left.size;
        }
    }
    std::string out;
    for (const auto& [what, size] : sizes) {
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", what, FormatBytes(size));
    }
    return out;
}

} // namespace

Result<std::vector<Leftover>> FindLeftovers(Env& env, const LeftoverPlaces& places)
{
    std::vector<Leftover> out;
    IBD_RETURN_IF_ERROR(AddFrom(env, places.booster, KindsInBooster(), out));
    IBD_RETURN_IF_ERROR(AddFrom(env, UndoFolder(places.booster), KindsInUndo(), out));
    if (!places.hints.empty()) {
        IBD_RETURN_IF_ERROR(AddFrom(env, places.hints, KindsInHints(), out));
    }
    return out;
}

uint64_t BytesOf(std::span<const Leftover> leftovers, Leftover::Use use)
{
    uint64_t bytes = 0;
    for (const Leftover& left : leftovers) {
        if (left.use == use) bytes += left.size;
    }
    return bytes;
}

Result<> TellOfOtherFolders(Env& env, Logger& log, const Path& list, const Path& current,
                            const Path& usual)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(list));
    Bytes known;
    if (there) {
        IBD_ASSIGN_OR_RETURN(known, ReadWholeFile(env, list));
    }
    std::set<std::string> folders = {usual.string()};
    std::istringstream lines{std::string(AsChars(known))};
    for (std::string line; std::getline(lines, line);) folders.insert(line);
    std::string kept = current == usual ? "" : current.string() + "\n";
    for (const std::string& folder : folders) {
        if (folder == current.string() || folder.empty()) continue;
        IBD_ASSIGN_OR_RETURN(const auto found, FindLeftovers(env, {folder, {}}));
        const uint64_t bytes = BytesOf(found, Use::kWork);
        if (bytes == 0) continue;
        if (folder != usual.string()) kept += folder + "\n";
        log.Warning("IBD Booster: '{}' has {} of a rebuild that was begun with another "
                    "-ibdboosterdir: a start with that one goes on with it, and you may remove it "
                    "while no node runs",
                    folder, FormatBytes(bytes));
    }
    if (kept == AsChars(known)) return {};
    return kept.empty() ? env.Remove(list) : WriteFileAtomically(env, list, AsBytes(kept));
}

Result<> TendLeftovers(Env& env, Logger& log, const LeftoverPlaces& places)
{
    std::unique_ptr<FileLock> lock;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(places.booster));
    if (there) {
        auto locked = LockBooster(env, places.booster);
        if (!locked) return {}; // another node works there
        lock = std::move(*locked);
    }
    IBD_ASSIGN_OR_RETURN(const std::vector<Leftover> found, FindLeftovers(env, places));
    const std::string useless = Describe(found, Use::kNobody);
    if (!useless.empty()) {
        log.Info("IBD Booster: removing files that a crash left unfinished: {}", useless);
    }
    for (const Leftover& left : found) {
        if (left.use == Use::kNobody) IBD_RETURN_IF_ERROR(env.Remove(left.path));
    }
    const std::string work = Describe(found, Use::kWork);
    if (!work.empty()) {
        log.Info("IBD Booster: '{}' has, of earlier starts: {}", places.booster.string(), work);
    }
    for (const Leftover& left : found) {
        if (left.use != Use::kFetched) continue;
        log.Info("IBD Booster: '{}' ({}) is a part of hints that peers were giving: a start with "
                 "-ibdboosterfile=auto that builds a chainstate goes on with it",
                 left.path.string(), FormatBytes(left.size));
    }
    return {};
}

} // namespace ibd

// See kept_files.h.
#include "booster/kept_files.h"

#include "booster/full_mark.h"
#include "booster/hints_choice.h"
#include "join/join_state.h"
#include "swiftsync/checkpoint.h"
#include "util/atomic_file.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

using Use = KeptFile::Use;

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
    constexpr std::string_view kNew = kUnwrittenEnding;
    return name.ends_with(kNew) && matches(name.substr(0, name.size() - kNew.size()));
}

bool IsOwnHintsFile(const std::string& name)
{
    return name == OwnHintsPath({}) || name == BegunHintsPath({});
}

bool IsJoinWork(const std::string& name)
{
    return IsJoinFile(name) && !name.ends_with(kUnwrittenEnding);
}

bool IsNewJoinState(const std::string& name)
{
    return IsJoinFile(name) && name.ends_with(kUnwrittenEnding);
}

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
        {IsNewOf<IsCheckpointFile>, Use::kNone, "a checkpoint half written"},
        {IsNewOf<IsFullMarkFile>, Use::kNone, "a mark half written"},
        {IsNewOf<IsHintsRecord>, Use::kNone, "a note half written"},
        {IsNewJoinState, Use::kNone, "a join's state half written"},
    };
    return kinds;
}

const std::vector<Kind>& KindsInUndo()
{
    static const std::vector<Kind> kinds = {
        {IsJoinWork, Use::kWork, "a join with the records for undo data"},
        {IsNewJoinState, Use::kNone, "a join's state half written"},
    };
    return kinds;
}

const std::vector<Kind>& KindsInHints()
{
    static const std::vector<Kind> kinds = {
        {IsHintsInTheMaking, Use::kNone, "hints half converted"},
        {IsHintsOfPeers, Use::kFetched, "hints that peers were giving"},
    };
    return kinds;
}

Result<> AddFrom(Env& env, const Path& folder, const std::vector<Kind>& kinds,
                 std::vector<KeptFile>& out)
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

bool IsFoldFile(const std::string& name) { return IsRunFile(name) || IsCheckpointFile(name); }

/** Runs and a log without a checkpoint belong to no sync: see RemoveCheckpoint(). */
void MarkOrphans(const Path& booster, std::vector<KeptFile>& files)
{
    const Path checkpoint = CheckpointPath(booster);
    const auto is = [&](const KeptFile& file) { return file.path == checkpoint; };
    if (std::any_of(files.begin(), files.end(), is)) return;
    for (KeptFile& file : files) {
        if (!IsFoldFile(file.path.filename().string())) continue;
        file.use = Use::kNone;
        file.what = "parts of a fold without its checkpoint";
    }
}

} // namespace

Result<std::vector<KeptFile>> FindKeptFiles(Env& env, const KeptPlaces& places)
{
    std::vector<KeptFile> out;
    IBD_RETURN_IF_ERROR(AddFrom(env, places.booster, KindsInBooster(), out));
    MarkOrphans(places.booster, out);
    IBD_RETURN_IF_ERROR(AddFrom(env, UndoFolder(places.booster), KindsInUndo(), out));
    if (!places.hints.empty()) {
        IBD_RETURN_IF_ERROR(AddFrom(env, places.hints, KindsInHints(), out));
    }
    return out;
}

uint64_t BytesOf(std::span<const KeptFile> files, KeptFile::Use use)
{
    uint64_t bytes = 0;
    for (const KeptFile& file : files) {
        if (file.use == use) bytes += file.size;
    }
    return bytes;
}

std::string Describe(std::span<const KeptFile> files, Use use)
{
    std::vector<std::pair<std::string, uint64_t>> sizes;
    for (const KeptFile& file : files) {
        if (file.use != use) continue;
        const auto same = std::find_if(sizes.begin(), sizes.end(),
                                       [&](const auto& s) { return s.first == file.what; });
        if (same == sizes.end()) {
            sizes.emplace_back(file.what, file.size);
        } else {
            same->second += file.size;
        }
    }
    std::string out;
    for (const auto& [what, size] : sizes) {
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", what, FormatBytes(size));
    }
    return out;
}

} // namespace ibd

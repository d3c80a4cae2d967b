// Opens a hints file of any format that is readable without blocks. See hints.h.
#include "hints/hints.h"

#include "hints/bitmap.h"
#include "hints/container1.h"
#include "hints/container2.h"
#include "hints/record_hints.h"
#include "hints/swifthints.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kStartSize = 16; //!< enough to recognise any format

bool StartsWith(ByteSpan data, ByteSpan prefix)
{
    return data.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), data.begin());
}

bool IsGaps(ByteSpan data)
{
    return !data.empty() && std::all_of(data.begin(), data.end(), [](uint8_t c) {
        return (c >= '0' && c <= '9') || c == ',' || c == '\n';
    });
}

/** The possible formats of a file with this start, the likeliest first. */
std::vector<HintsFormat> Candidates(ByteSpan data)
{
    if (StartsWith(data, kHintsMagic)) {
        const bool second = data.size() > 9 && data[8] == kHintsVersion2 && data[9] == 0;
        return {second ? HintsFormat::kContainer : HintsFormat::kContainer1};
    }
    // Four readings of BIP 456's draft and four revisions of the indexed file have this start.
    if (StartsWith(data, AsBytes("UTXO"))) {
        return {HintsFormat::kBip456,     HintsFormat::kBip456Core,     HintsFormat::kBip456Crate,
                HintsFormat::kIndexed,    HintsFormat::kIndexedCompact, HintsFormat::kIndexedDeltas,
                HintsFormat::kIndexedRuns};
    }
    if (StartsWith(data, std::array<uint8_t, 2>{0x1f, 0x8b})) return {HintsFormat::kBtcd};
    // A bitmap has no magic, but its first block is genesis with its one spent output.
    if (StartsWith(data, std::array<uint8_t, 3>{1, 0, 0})) return {HintsFormat::kBitmap};
    if (IsGaps(data)) return {HintsFormat::kGaps};
    return {};
}

Result<std::vector<HintsFormat>> CandidatesOf(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(HintsFile file, HintsFile::Open(env, path));
    Bytes data(std::min<uint64_t>(file.Size(), kStartSize));
    IBD_RETURN_IF_ERROR(file.Read(0, data));
    std::vector<HintsFormat> candidates = Candidates(data);
    if (!candidates.empty()) return candidates;
    IBD_ASSIGN_OR_RETURN(const bool swifthints, LooksLikeSwifthints(std::move(file)));
    if (swifthints) candidates.push_back(HintsFormat::kSwifthints);
    return candidates;
}

Error NeedsBlocks(const Path& path)
{
    return BadData("hints file {}, offset 0: swifthints can be read only with the blocks at hand; "
                   "make a container of it with "
                   "bitcoin-hints convert --from=swifthints --blocks=DIR",
                   path.string());
}

Result<std::unique_ptr<Hints>> OpenAs(Env& env, const Path& path, HintsFormat format)
{
    IBD_ASSIGN_OR_RETURN(HintsFile file, HintsFile::Open(env, path));
    switch (format) {
    case HintsFormat::kContainer: return Container2Hints::Open(std::move(file));
    case HintsFormat::kContainer1: return ContainerHints::Open(std::move(file));
    case HintsFormat::kBitmap: return BitmapHints::Open(std::move(file));
    case HintsFormat::kSwifthints: return NeedsBlocks(path);
    default: return RecordHints::Open(std::move(file), format);
    }
}

Error Ambiguous(const Path& path, const std::vector<HintsFormat>& fitting)
{
    std::string names;
    for (const HintsFormat format : fitting) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", NameOf(format));
    }
    return BadData("hints file {}, offset 0: it can be read in several formats ({}); make a "
                   "container of it with bitcoin-hints convert --from=FORMAT",
                   path.string(), names);
}

/** Opens the file in the only one of these formats that fits all of it. */
Result<std::unique_ptr<Hints>> OpenFitting(Env& env, const Path& path,
                                           const std::vector<HintsFormat>& candidates)
{
    std::vector<HintsFormat> fitting;
    std::unique_ptr<Hints> opened;
    std::string reasons;
    for (const HintsFormat format : candidates) {
        auto hints = OpenAs(env, path, format);
        if (hints) {
            fitting.push_back(format);
            opened = std::move(hints).Value();
        } else if (SystemFailed(hints) || candidates.size() == 1) {
            return hints.GetError();
        } else {
            const std::string& reason = hints.Message();
            reasons += "; " + reason.substr(std::min(reason.size(), reason.find(", offset") + 2));
        }
    }
    if (fitting.size() == 1) return opened;
    if (fitting.empty()) {
        return BadData("hints file {}: it fits no known format{}", path.string(), reasons);
    }
    return Ambiguous(path, fitting);
}

} // namespace

Result<std::unique_ptr<Hints>> OpenHints(Env& env, const Path& path,
                                         std::optional<HintsFormat> format)
{
    if (format) return OpenAs(env, path, *format);
    IBD_ASSIGN_OR_RETURN(const std::vector<HintsFormat> candidates, CandidatesOf(env, path));
    if (!candidates.empty()) return OpenFitting(env, path, candidates);
    return BadData("hints file {}, offset 0: not a hints file", path.string());
}

Result<bool> IsSwifthints(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<HintsFormat> candidates, CandidatesOf(env, path));
    return candidates == std::vector{HintsFormat::kSwifthints};
}

Result<> CheckHintsUnchanged(Env& env, const HintsInfo& opened)
{
    const auto now = OpenHints(env, opened.path, opened.format);
    if (now && (*now)->Info().id == opened.id) return {};
    return SystemError("hints file {} was changed while in use{}", opened.path.string(),
                       now ? std::string() : ": " + now.Message());
}

} // namespace ibd

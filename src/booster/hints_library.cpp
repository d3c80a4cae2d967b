// See hints_library.h.
#include "booster/hints_library.h"

#include "booster/hints_choice.h"
#include "hints/hints_writer.h"
#include "swiftsync/terminal.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr std::string_view kKept = "kept-";

static_assert(kMaxGroup2Bytes <= kMaxHintsData, "each group fits into an answer");

} // namespace

void HintsLibrary::Load()
{
    if (!m_env.Exists(m_folder)) return;
    const auto names = m_env.List(m_folder);
    if (!names) return m_log.Warning("Hints for peers: {}", names.Message());
    for (const std::string& name : *names) {
        if (!name.starts_with(kKept)) continue;
        if (const Result<> added = Add(m_folder / name); !added) {
            m_log.Warning("Hints for peers: left out: {}", added.Message());
        }
    }
}

Result<> HintsLibrary::Add(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(auto opened, OpenHints(m_env, path, HintsFormat::kContainer));
    IBD_RETURN_IF_ERROR(CheckNetwork(opened->Info(), m_params));
    const HintsInfo& info = opened->Info();
    File file;
    file.path = path;
    file.hints = std::shared_ptr<const Container2Hints>(
        static_cast<const Container2Hints*>(opened.release()));
    if (info.file_size > kMaxHintsSize || file.hints->HeadSize() > kMaxHintsHead ||
        file.hints->BodyEnd() != info.file_size) {
        return BadData("hints file {}: too long, or with sections", path.string());
    }
    IBD_ASSIGN_OR_RETURN(file.offer.file_hash, HashOfFile(m_env, path));
    file.offer.id = info.id;
    file.offer.terminal = *info.terminal_hash;
    file.offer.height = info.terminal_height;
    file.offer.size = info.file_size;
    const Lock lock(m_mutex);
    std::erase_if(m_files, [&](const File& other) { return other.offer == file.offer; });
    m_files.push_back(std::move(file));
    std::sort(m_files.begin(), m_files.end(),
              [](const File& a, const File& b) { return b.offer.height < a.offer.height; });
    while (m_files.size() > kMaxHintsOffers) {
        (void)m_env.Remove(m_files.back().path);
        m_files.pop_back();
    }
    return {};
}

Result<> HintsLibrary::Keep(const Hints& hints, const BlockHash& terminal)
{
    const Lock keeping(m_keeping);
    const HintsInfo& info = hints.Info();
    Path path = info.path;
    const std::string name = path.filename().string();
    const bool ours = path.parent_path() == m_folder &&
                      (name.starts_with(kFetchedHints) || name.starts_with(kKept));
    if (info.counting != HintsCounting::kSpendable) {
        return BadData("hints file {}: {} files cannot be given to peers", path.string(),
                       NameOf(info.format));
    }
    if (!ours) {
        IBD_ASSIGN_OR_RETURN(path, MakeContainer(hints, terminal));
    }
    Uint256 id = info.id;
    if (path != info.path) {
        IBD_ASSIGN_OR_RETURN(const auto made, OpenHints(m_env, path, HintsFormat::kContainer));
        id = made->Info().id;
    }
    const Path kept =
        m_folder / fmt::format("{}{}-{}.hints", kKept, info.terminal_height, ToHex(id.Span()));
    if (path != kept) {
        IBD_RETURN_IF_ERROR(m_env.Rename(path, kept));
        IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_folder));
    }
    IBD_RETURN_IF_ERROR(Add(kept));
    m_log.Info("Hints up to height {} are kept for peers (-servehints): {}", info.terminal_height,
               kept.string());
    return {};
}

Result<Path> HintsLibrary::MakeContainer(const Hints& hints, const BlockHash& terminal) const
{
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_folder));
    const Path path = m_folder / kKeepingHints;
    const uint32_t height = hints.Info().terminal_height;
    IBD_ASSIGN_OR_RETURN(
        const auto writer,
        StartHintsFile(m_env, path, {HintsFormat::kContainer, m_params.magic, height}));
    BlockHints block;
    for (uint32_t h = 1; h <= height; ++h) {
        IBD_RETURN_IF_ERROR(hints.Read(h, block));
        IBD_RETURN_IF_ERROR(writer->Add(h, block.outputs, block.unspent));
    }
    IBD_RETURN_IF_ERROR(writer->Finish(terminal));
    return path;
}

std::vector<HintsOffer> HintsLibrary::Offers()
{
    const Lock lock(m_mutex);
    std::vector<HintsOffer> out;
    for (const File& file : m_files) out.push_back(file.offer);
    return out;
}

Result<Bytes> HintsLibrary::Read(const HintsPart& part)
{
    std::shared_ptr<const Container2Hints> hints;
    {
        const Lock lock(m_mutex);
        for (const File& file : m_files) {
            if (file.offer.id == part.id) hints = file.hints;
        }
    }
    if (!hints) return BadData("no hints {}", part.id.ToHex());
    if (part.IsHead() && part.first != 0) return BadData("no groups, from {} on", part.first);
    if (part.IsHead()) return hints->Head();
    const auto& groups = hints->Groups();
    if (part.count > groups.size() || part.first > groups.size() - part.count) {
        return BadData("no group {} among {}", part.first + uint64_t{part.count}, groups.size());
    }
    const auto& last = groups[part.first + part.count - 1];
    if (last.offset + last.length - groups[part.first].offset > kMaxHintsData) {
        return BadData("too many groups at once");
    }
    return hints->GroupBytes(part.first, part.count);
}

} // namespace ibd

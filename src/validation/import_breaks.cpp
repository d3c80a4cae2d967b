// See import_breaks.h.
#include "validation/import_breaks.h"

#include "storage/block_frame.h"
#include "storage/frame_walker.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

/** Whether [from, end of file) has a byte that is not zero; zeros are reserved space. */
Result<bool> HasData(const ReadableFile& file, uint64_t from)
{
    Bytes buffer(size_t{1} << 20);
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(from, buffer));
        if (got == 0) return false;
        const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(got);
        if (std::any_of(buffer.begin(), end, [](uint8_t byte) { return byte != 0; })) return true;
        from += got;
    }
}

Result<std::optional<ImportBreak>> FindBreakIn(Env& env, const BlockStore& blocks, int32_t number)
{
    const Path path = blocks.BlockPath(number);
    IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(path));
    FrameWalker walker(*file, path, blocks.Key(), blocks.Magic(), BlockStore::kScanWindow);
    uint64_t end = 0; // of the last frame
    const auto here = [&](const std::string& up_to) {
        return ImportBreak{{number, static_cast<uint32_t>(end)},
                           fmt::format("{} holds no whole block from offset {} {}", path.string(),
                                       end, up_to)};
    };
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const auto frame, walker.Next());
        if (!frame) break;
        const uint64_t begin = frame->offset - kFrameHeaderSize;
        if (begin != end) return std::optional(here(fmt::format("to {}", begin)));
        end = uint64_t{frame->offset} + frame->size;
    }
    IBD_ASSIGN_OR_RETURN(const bool has_data, HasData(*file, end));
    return has_data ? std::optional(here("on")) : std::nullopt;
}

} // namespace

Result<std::optional<ImportBreak>> FindBreak(Env& env, const BlockStore& blocks,
                                             std::span<const int32_t> files)
{
    for (const int32_t number : files) {
        IBD_ASSIGN_OR_RETURN(auto found, FindBreakIn(env, blocks, number));
        if (found) return found;
    }
    return std::optional<ImportBreak>();
}

Error WithBreak(const Error& error, const std::string& text)
{
    if (text.empty() || error.kind == Error::Kind::kSystem) return error;
    const bool names_a_place = error.message.find(", offset ") != std::string::npos;
    if (names_a_place) return error;
    return {fmt::format("{}. In addition, {}", error.message, text), error.kind};
}

} // namespace ibd

// See import_breaks.h.
#include "validation/import_breaks.h"

#include "storage/block_frame.h"

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

} // namespace

void FrameGaps::BeginFile(int32_t number)
{
    if (!m_first) m_first = m_last;
    m_last.reset();
    m_file = number;
    m_end = 0;
}

void FrameGaps::AddFrame(uint32_t offset, size_t block_bytes)
{
    const uint64_t begin = offset - kFrameHeaderSize;
    // Inside a refused frame there is no gap.
    if (begin > m_end && !m_last) {
        m_last = Gap{{m_file, static_cast<uint32_t>(m_end)}, begin};
    }
    m_end = std::max(m_end, uint64_t{offset} + block_bytes);
}

Result<> FrameGaps::EndFile(const ReadableFile& file)
{
    if (m_last) return {};
    IBD_ASSIGN_OR_RETURN(const bool has_data, HasData(file, m_end));
    if (has_data) m_last = Gap{{m_file, static_cast<uint32_t>(m_end)}, std::nullopt};
    return {};
}

std::optional<ImportBreak> FrameGaps::Describe(const std::optional<Gap>& gap,
                                               const BlockStore& blocks)
{
    if (!gap) return std::nullopt;
    return ImportBreak{gap->from,
                       fmt::format("{} holds no whole block from offset {} {}",
                                   blocks.BlockPath(gap->from.file).string(), gap->from.offset,
                                   gap->to ? fmt::format("to {}", *gap->to) : "on")};
}

std::optional<ImportBreak> FrameGaps::First(const BlockStore& blocks) const
{
    return Describe(m_first ? m_first : m_last, blocks);
}

std::optional<ImportBreak> FrameGaps::InLastFile(const BlockStore& blocks) const
{
    return Describe(m_last, blocks);
}

Error WithBreak(const Error& error, const std::string& text)
{
    if (text.empty()) return error;
    return {fmt::format("{}. In addition, {}", error.message, text), error.kind};
}

} // namespace ibd

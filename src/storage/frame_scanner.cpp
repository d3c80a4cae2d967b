// See frame_scanner.h.
#include "storage/frame_scanner.h"

#include "primitives/block.h"
#include "storage/block_frame.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

FrameScanner::FrameScanner(const ReadableFile& file, Path path, const XorKey& key,
                           const std::array<uint8_t, 4>& magic, size_t window, uint64_t start)
    : m_file(file), m_path(std::move(path)), m_key(key), m_magic(magic), m_window(window),
      m_start(start)
{
    m_buffer.resize(m_window + kFrameHeaderSize + kMaxStoredBlockSize);
}

Found<FrameScanner::Frame> FrameScanner::Next()
{
    m_last_frame = 0;
    while (true) {
        IBD_RETURN_IF_ERROR(Fill(kFrameHeaderSize));
        if (Available() < kFrameHeaderSize) break;
        if (!SkipToMagic()) continue;
        const uint32_t size = ReadLE32(&m_buffer[m_pos + 4]);
        if (size < BlockHeader::kSize || size > kMaxStoredBlockSize) {
            Skip(1);
            continue;
        }
        const size_t frame = kFrameHeaderSize + size;
        IBD_RETURN_IF_ERROR(Fill(frame));
        if (Available() < frame) {
            Skip(1); // torn, or an accidental match near the end: whole frames may be inside
            continue;
        }
        Frame found;
        found.offset = static_cast<uint32_t>(m_start + m_pos + kFrameHeaderSize);
        found.block = ByteSpan(m_buffer).subspan(m_pos + kFrameHeaderSize, size);
        m_pos += frame;
        m_end_before = m_end;
        m_end = m_start + m_pos;
        m_last_frame = frame;
        return found;
    }
    Skip(Available());
    return std::nullopt;
}

void FrameScanner::Refuse()
{
    CHECK(m_last_frame > 0);
    m_pos -= m_last_frame;
    m_end = m_end_before;
    m_last_frame = 0;
    Skip(1);
}

void FrameScanner::Skip(size_t n)
{
    m_pos += n;
    m_skipped += n;
}

/** Moves to the next full header that starts with the magic. False: there is none, and only the
 *  last seven bytes of the buffer are left. */
bool FrameScanner::SkipToMagic()
{
    while (Available() >= kFrameHeaderSize) {
        const uint8_t* from = &m_buffer[m_pos];
        const size_t range = Available() - (kFrameHeaderSize - 1);
        const auto* hit = static_cast<const uint8_t*>(std::memchr(from, m_magic[0], range));
        Skip(hit ? static_cast<size_t>(hit - from) : range);
        if (!hit) return false;
        if (std::memcmp(hit, m_magic.data(), m_magic.size()) == 0) return true;
        Skip(1);
    }
    return false;
}

/** Makes `wanted` bytes available unless the file ends earlier. */
Result<> FrameScanner::Fill(size_t wanted)
{
    if (Available() >= wanted || m_at_end) return {};
    std::memmove(m_buffer.data(), m_buffer.data() + m_pos, Available());
    m_start += m_pos;
    m_filled -= m_pos;
    m_pos = 0;
    while (Available() < wanted && !m_at_end) {
        const size_t room = std::min(m_window, m_buffer.size() - m_filled);
        const MutableByteSpan target(m_buffer.data() + m_filled, room);
        IBD_ASSIGN_OR_RETURN(const size_t got, m_file.ReadAt(m_start + m_filled, target));
        m_key.Apply(target.first(got), m_start + m_filled);
        m_at_end = got < room;
        m_filled += got;
    }
    if (!m_at_end) m_file.WillNeed(m_start + m_filled, m_window);
    return {};
}

} // namespace ibd

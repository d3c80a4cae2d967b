// See frame_walker.h.
#include "storage/frame_walker.h"

#include "storage/block_store.h"
#include "util/endian.h"

namespace ibd {

FrameWalker::FrameWalker(const ReadableFile& file, Path path, const XorKey& key,
                         const std::array<uint8_t, 4>& magic, size_t window)
    : m_file(file), m_path(std::move(path)), m_key(key), m_magic(magic), m_window(window),
      m_buffer(kReadBytes)
{
}

Found<FrameWalker::Frame> FrameWalker::Next()
{
    if (!m_scanner) {
        IBD_ASSIGN_OR_RETURN(const auto frame, Peek());
        if (frame) return frame;
        Scan(m_pos);
    }
    IBD_ASSIGN_OR_RETURN(const auto found, m_scanner->Next());
    if (!found) return std::nullopt;
    Frame frame;
    frame.offset = found->offset;
    frame.size = static_cast<uint32_t>(found->block.size());
    frame.header = found->block.first(BlockHeader::kSize);
    return frame;
}

/** The frame that starts exactly at m_pos; nothing if there is none. */
Found<FrameWalker::Frame> FrameWalker::Peek()
{
    if (!m_file_size) {
        IBD_ASSIGN_OR_RETURN(m_file_size, m_file.Size());
    }
    IBD_ASSIGN_OR_RETURN(const ByteSpan head, Head());
    if (head.empty() || std::memcmp(head.data(), m_magic.data(), m_magic.size()) != 0) {
        return std::nullopt;
    }
    Frame frame;
    frame.offset = static_cast<uint32_t>(m_pos + kFrameHeaderSize);
    frame.size = ReadLE32(head.data() + 4);
    if (frame.size < BlockHeader::kSize || frame.size > kMaxStoredBlockSize ||
        m_pos + kFrameHeaderSize + frame.size > *m_file_size) {
        return std::nullopt;
    }
    frame.header = head.subspan(kFrameHeaderSize);
    m_last_offset = frame.offset;
    m_pos += kFrameHeaderSize + frame.size;
    return frame;
}

/** Frame and block header at m_pos; empty near the end of the file. */
Result<ByteSpan> FrameWalker::Head()
{
    constexpr size_t kWanted = kFrameHeaderSize + BlockHeader::kSize;
    if (m_pos < m_buffer_at || m_pos + kWanted > m_buffer_at + m_buffer_filled) {
        IBD_ASSIGN_OR_RETURN(m_buffer_filled, m_file.ReadAt(m_pos, m_buffer));
        m_buffer_at = m_pos;
        m_key.Apply(MutableByteSpan(m_buffer).first(m_buffer_filled), m_pos);
    }
    if (m_pos + kWanted > m_buffer_at + m_buffer_filled) return ByteSpan();
    return ByteSpan(m_buffer).subspan(m_pos - m_buffer_at, kWanted);
}

void FrameWalker::Scan(uint64_t from)
{
    m_scanner.emplace(m_file, m_path, m_key, m_magic, m_window, from);
}

void FrameWalker::Refuse()
{
    if (m_scanner) return m_scanner->Refuse();
    Scan(m_last_offset - kFrameHeaderSize + 1);
}

} // namespace ibd

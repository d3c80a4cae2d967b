// FrameWalker: the frames of one blk file, found as FrameScanner finds them but without reading
// what is in them: eight bytes of frame and the block's header, then on to the next frame. From
// the first place that is odd - damage, garbage, the zeros of a preallocated tail, a frame that
// was refused - the rest of the file is scanned byte by byte, so that the answer is always the
// scanner's. One thread. Memory: 4 KiB, when it scans a scanner's.
#pragma once

#include "primitives/block.h"
#include "storage/frame_scanner.h"

namespace ibd {

class FrameWalker {
public:
    struct Frame {
        uint32_t offset = 0; //!< of the first byte of the block
        uint32_t size = 0;   //!< that the frame says; the file has so many bytes
        ByteSpan header;     //!< the first 80 of them; until the next call
    };

    /** `window`: of the scanner. The file must outlive the walker. */
    FrameWalker(const ReadableFile& file, Path path, const XorKey& key,
                const std::array<uint8_t, 4>& magic, size_t window);

    /** The next frame; nothing at the end of the file. */
    Result<std::optional<Frame>> Next();
    /** The frame last returned was no block: the search goes on just behind its magic. */
    void Refuse();

private:
    static constexpr size_t kReadBytes = 4 << 10;

    Result<std::optional<Frame>> Peek();
    Result<ByteSpan> Head();
    void Scan(uint64_t from);

    const ReadableFile& m_file;
    const Path m_path;
    const XorKey m_key;
    const std::array<uint8_t, 4> m_magic;
    const size_t m_window;
    std::optional<uint64_t> m_file_size;
    Bytes m_buffer;           //!< de-obfuscated
    uint64_t m_buffer_at = 0; //!< file offset of its first byte
    size_t m_buffer_filled = 0;
    uint64_t m_pos = 0;         //!< where the next frame should start
    uint32_t m_last_offset = 0; //!< of the frame last returned
    std::optional<FrameScanner> m_scanner;
};

} // namespace ibd

// FrameWalker: finds the same frames of one blk file as FrameScanner, without reading whole blocks:
// it reads the eight bytes of a frame and the block's header, then skips to the next frame. From
// the first irregular place on (damage, garbage, the zeros of a preallocated tail, a refused frame)
// a FrameScanner scans the rest of the file, so the result always equals the scanner's. One thread.
// Memory: 4 KiB, or a scanner's while it scans.
#pragma once

#include "primitives/block.h"
#include "storage/frame_scanner.h"
#include "util/found.h"

namespace ibd {

class FrameWalker {
public:
    struct Frame {
        uint32_t offset = 0; //!< of the first byte of the block
        uint32_t size = 0;   //!< according to the frame; the file has that many bytes
        ByteSpan header;     //!< first 80 bytes of the block; valid until the next call
    };

    /** `window`: for the scanner. The file must outlive the walker. */
    FrameWalker(const ReadableFile& file, Path path, const XorKey& key,
                const std::array<uint8_t, 4>& magic, size_t window);

    /** The next frame; nothing: the end of the file. */
    Found<Frame> Next();
    /** The last returned frame was not a block: the search continues just after its magic. */
    void Refuse();

private:
    static constexpr size_t kReadBytes = 4 << 10;

    Found<Frame> Peek();
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
    uint64_t m_pos = 0;         //!< expected start of the next frame
    uint32_t m_last_offset = 0; //!< of the last returned frame
    std::optional<FrameScanner> m_scanner;
};

} // namespace ibd

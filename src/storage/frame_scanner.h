// FrameScanner: finds the frames of one blk file with large sequential reads. Used by
// BlockStore::ScanFile and by engines that read files themselves. One thread. Memory: one window
// plus one block.
#pragma once

#include "storage/xor_key.h"
#include "util/env.h"
#include "util/found.h"

#include <array>
#include <optional>

namespace ibd {

class FrameScanner {
public:
    struct Frame {
        uint32_t offset = 0; //!< of the first byte of the block
        ByteSpan block;      //!< valid until the next call
    };

    /** `window`: bytes read at once; `start`: file offset to begin at. The file must outlive the
     *  scanner. */
    FrameScanner(const ReadableFile& file, Path path, const XorKey& key,
                 const std::array<uint8_t, 4>& magic, size_t window, uint64_t start = 0);

    /** The next frame: magic, a length from 80 to 4,000,000, and a body of this length inside the
     *  file. Other bytes are skipped. Nothing: the end of the file. */
    Found<Frame> Next();
    /** The last returned frame was not a block: the search continues just after its magic. */
    void Refuse();

    uint64_t SkippedBytes() const { return m_skipped; }
    /** Offset after the last frame that was returned and not refused. */
    uint64_t End() const { return m_end; }

private:
    Result<> Fill(size_t wanted);
    size_t Available() const { return m_filled - m_pos; }
    bool SkipToMagic();
    void Skip(size_t n);

    const ReadableFile& m_file;
    const Path m_path;
    const XorKey m_key;
    const std::array<uint8_t, 4> m_magic;
    const size_t m_window;
    Bytes m_buffer;
    uint64_t m_start; //!< file offset of m_buffer[0]
    size_t m_pos = 0;
    size_t m_filled = 0;
    bool m_at_end = false;
    uint64_t m_skipped = 0;
    uint64_t m_end = 0;
    uint64_t m_end_before = 0; //!< m_end before the last frame, for Refuse
    size_t m_last_frame = 0;   //!< size of the last frame with its header; 0 after Refuse
};

} // namespace ibd

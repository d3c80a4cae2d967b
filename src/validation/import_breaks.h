// Finds the places in block files that contain no whole block, to name the place after which
// -reindex finds no more chain. One thread.
#pragma once

#include "storage/block_store.h"

#include <optional>

namespace ibd {

struct ImportBreak {
    FilePos pos;      //!< first byte that belongs to no block
    std::string text; //!< names file, offset and cause
};

/** Collects the places between the frames of block files while these are read for -reindex. */
class FrameGaps {
public:
    /** Begins a file. Its frames follow, in the order in which they are found. */
    void BeginFile(int32_t number);
    /** Adds a frame; a refused one too, because its bytes belong to it. `offset`: of the block in
     *  it. */
    void AddFrame(uint32_t offset, size_t block_bytes);
    /** Reads the bytes after the last frame. */
    Result<> EndFile(const ReadableFile& file);

    /** The first place that belongs to no frame, except for zeros at a file's end. */
    std::optional<ImportBreak> First(const BlockStore& blocks) const;
    /** The same in the last file. */
    std::optional<ImportBreak> InLastFile(const BlockStore& blocks) const;

private:
    struct Gap {
        FilePos from;
        std::optional<uint64_t> to; //!< empty: the end of the file
    };
    static std::optional<ImportBreak> Describe(const std::optional<Gap>& gap,
                                               const BlockStore& blocks);

    int32_t m_file = -1;
    uint64_t m_end = 0;         //!< of the frames of this file so far
    std::optional<Gap> m_first; //!< in earlier files
    std::optional<Gap> m_last;  //!< the first in this file
};

/** Appends `text`, the findings of -reindex, to an error about missing headers, which may be their
 *  consequence. Other errors, and an empty `text`, change nothing. */
Error WithBreak(const Error& error, const std::string& text);

} // namespace ibd

// Where block files hold no whole block: to name the place behind which -reindex finds no chain.
// One thread.
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
    /** Frames of this file follow, in the order in which they are found. */
    void BeginFile(int32_t number);
    /** A frame, also one that was refused: its bytes belong to it. `offset`: of the block in it. */
    void AddFrame(uint32_t offset, size_t block_bytes);
    /** Reads what follows the last frame. */
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

/** Adds what -reindex found to an error about headers that are missing, which may follow from it;
 *  nothing if `text` is empty. Other errors have causes of their own. */
Error WithBreak(const Error& error, const std::string& text);

} // namespace ibd

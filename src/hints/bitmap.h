// Reader of the original per-block bitmap. One linear scan collects the position of each block's
// map (10 bytes a block). Therefore, if the file is changed later, hints may be wrong but no read
// leaves its bounds. Shared by all workers, immutable.
#pragma once

#include "hints/hints.h"
#include "hints/hints_file.h"

namespace ibd {

class BitmapHints final : public Hints {
public:
    /** Scans the file once: structure, padding bits, counts and the digest that identifies it. */
    static Result<std::unique_ptr<Hints>> Open(HintsFile file);

    Result<> Read(uint32_t height, BlockHints& out) const override;

private:
    explicit BitmapHints(HintsFile file) : m_file(std::move(file)) {}
    Result<> Scan();
    /** Adds the map at `pos` of the block at `height`. */
    Result<> AddBlock(uint64_t pos, uint32_t height, ByteSpan map, uint32_t outputs);
    Error Damaged(uint64_t offset, std::string_view what) const
    {
        return m_file.Damaged(offset, what);
    }

    HintsFile m_file;
    std::vector<uint64_t> m_offsets; //!< of the maps of blocks 0, 1, ...
    std::vector<uint16_t> m_outputs; //!< of the same blocks
};

} // namespace ibd

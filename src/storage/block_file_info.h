// BlockFileInfo: the block index record of one pair of blk and rev files. Value type.
#pragma once

#include "primitives/serialize.h"
#include "util/result.h"

#include <algorithm>

namespace ibd {

struct BlockFileInfo {
    uint32_t blocks = 0;       //!< blocks in the file
    uint32_t size = 0;         //!< used bytes of the blk file
    uint32_t undo_size = 0;    //!< used bytes of the rev file
    uint32_t height_first = 0; //!< lowest height in the file
    uint32_t height_last = 0;  //!< highest
    uint64_t time_first = 0;   //!< earliest header time in the file
    uint64_t time_last = 0;    //!< latest

    void AddBlock(uint32_t height, uint64_t time)
    {
        if (blocks == 0 || height < height_first) height_first = height;
        if (blocks == 0 || time < time_first) time_first = time;
        height_last = std::max(height_last, height);
        time_last = std::max(time_last, time);
        ++blocks;
    }
    bool operator==(const BlockFileInfo&) const = default;

    /** Seven VARINTs in the order of the fields. */
    Bytes Encode() const;
    static Result<BlockFileInfo> Decode(ByteSpan value);
};

} // namespace ibd

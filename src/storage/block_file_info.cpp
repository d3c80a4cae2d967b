// See block_file_info.h.
#include "storage/block_file_info.h"

namespace ibd {

Bytes BlockFileInfo::Encode() const
{
    Bytes out;
    Writer w(out);
    for (uint64_t v : {uint64_t{blocks}, uint64_t{size}, uint64_t{undo_size},
                       uint64_t{height_first}, uint64_t{height_last}, time_first, time_last}) {
        w.VarInt(v);
    }
    return out;
}

Result<BlockFileInfo> BlockFileInfo::Decode(ByteSpan value)
{
    Reader in(value);
    BlockFileInfo info;
    for (uint32_t* field :
         {&info.blocks, &info.size, &info.undo_size, &info.height_first, &info.height_last}) {
        const uint64_t v = in.VarInt();
        if (v > 0xffffffff) in.Fail();
        *field = static_cast<uint32_t>(v);
    }
    info.time_first = in.VarInt();
    info.time_last = in.VarInt();
    if (!in.AtEnd()) return BadData("malformed block file record at byte {}", in.Position());
    return info;
}

} // namespace ibd

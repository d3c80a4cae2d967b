// See packed_blocks.h.
#include "net/wire/packed_blocks.h"

namespace ibd {

void GetPackedMessage::Write(Writer& writer) const
{
    writer.CompactSize(blocks.items.size());
    for (const BlockHash& hash : blocks.items) writer.Hash(hash);
}

void GetPackedMessage::Read(PayloadReader& reader)
{
    const size_t count = reader.Count(sizeof(BlockHash));
    blocks.dropped = count > kMaxPackedRequest ? count - kMaxPackedRequest : 0;
    blocks.items.resize(count - blocks.dropped);
    for (BlockHash& hash : blocks.items) hash = BlockHash(reader.Hash());
}

} // namespace ibd

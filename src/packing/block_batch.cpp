// See block_batch.h.
#include "packing/block_batch.h"

#include "packing/block_packer.h"
#include "packing/block_unpacker.h"

#include <numeric>

namespace ibd {

namespace {

constexpr uint8_t kFormat = 1;

void StoreUnmodelled(std::span<const ByteSpan> blocks, StreamWriter& streams)
{
    streams.Clear();
    streams.To(PackStream::kNumbers).VarInt(0); // scripts
    for (const ByteSpan block : blocks) {
        streams.At(PackStream::kBlocks).push_back(0);
        Append(streams.At(PackStream::kRaw), block);
    }
}

size_t Sum(const std::vector<size_t>& sizes)
{
    return std::accumulate(sizes.begin(), sizes.end(), size_t{0});
}

/** The sizes of the blocks, within the bounds of a batch. */
Result<std::vector<size_t>> ReadSizes(Reader& in)
{
    if (in.U8() != kFormat) return BadData("a batch of blocks has an unknown format");
    const uint64_t count = in.VarInt();
    if (!in.Ok() || count == 0 || count > kMaxBatchBlocks) {
        return BadData("a batch of blocks states a wrong number of blocks");
    }
    std::vector<size_t> sizes;
    size_t room = kMaxBatchBytes;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t size = in.VarInt();
        if (size > room) {
            return BadData("a batch of blocks states more than {} bytes", kMaxBatchBytes);
        }
        room -= size;
        sizes.push_back(size);
    }
    if (!in.Ok()) return BadData("a batch of blocks is cut off");
    return sizes;
}

} // namespace

Result<Bytes> PackBlocks(std::span<const ByteSpan> blocks, int level)
{
    CHECK(!blocks.empty() && blocks.size() <= kMaxBatchBlocks);
    CHECK(level >= kMinPackLevel && level <= kMaxPackLevel);
    Bytes out;
    Writer writer(out);
    writer.U8(kFormat);
    writer.VarInt(blocks.size());
    size_t total = 0;
    for (const ByteSpan block : blocks) {
        writer.VarInt(block.size());
        total += block.size();
    }
    CHECK(total <= kMaxBatchBytes);
    StreamWriter streams;
    BlockPacker(blocks).Pack(streams);
    if (streams.Size() > MaxStreamBytes(total)) StoreUnmodelled(blocks, streams);
    IBD_RETURN_IF_ERROR(streams.Store(level, out));
    return out;
}

Result<std::vector<Bytes>> UnpackBlocks(ByteSpan batch)
{
    Reader in(batch);
    IBD_ASSIGN_OR_RETURN(const std::vector<size_t> sizes, ReadSizes(in));
    StreamReader streams;
    const size_t total = Sum(sizes);
    IBD_RETURN_IF_ERROR(streams.Load(in, MaxStreamBytes(total)));
    if (!in.AtEnd()) return BadData("a batch of blocks is longer than it states, or cut off");
    std::vector<Bytes> blocks;
    blocks.reserve(sizes.size());
    if (!BlockUnpacker(streams, total).Unpack(sizes, blocks)) {
        return BadData("a batch of blocks is damaged");
    }
    return blocks;
}

size_t BatchBytes(ByteSpan batch)
{
    Reader in(batch);
    const auto sizes = ReadSizes(in);
    return sizes ? Sum(*sizes) : 0;
}

} // namespace ibd

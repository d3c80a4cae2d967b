// Hints formats of other projects from hostile bytes. The first byte chooses the format; btcd's is
// given compressed, and as the record inside.
#include "hints/record_codec.h"
#include "hints/record_hints.h"
#include "memory_file.h"

namespace {

using namespace ibd;
using namespace ibd::fuzz;

constexpr std::array kFormats = {
    HintsFormat::kIndexed,     HintsFormat::kIndexedCompact, HintsFormat::kIndexedDeltas,
    HintsFormat::kIndexedRuns, HintsFormat::kBip456,         HintsFormat::kBip456Core,
    HintsFormat::kBip456Crate, HintsFormat::kBtcd,           HintsFormat::kGaps,
};

/** Decoded hints that are written again decode to the same hints. */
void RoundTrip(const RecordCodec& codec, ByteSpan in)
{
    BlockHints block;
    size_t used = 0;
    if (codec.Take(in, false, used, block)) return;
    CHECK(used <= in.size());
    Bytes again;
    codec.Put(block.outputs, block.unspent, again);
    BlockHints second;
    CHECK(!codec.Take(again, false, used, second));
    CHECK(used == again.size() && second.unspent == block.unspent);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const ByteSpan rest(data + 1, size - 1);
    if (data[0] % 16 == 15) {
        RoundTrip(BtcdCodec(), rest);
        return 0;
    }
    const HintsFormat format = kFormats[data[0] % 16 % kFormats.size()];
    if (data[0] & 16 && format == HintsFormat::kGaps) RoundTrip(GapsCodec(), rest);
    ReadAllHints(RecordHints::Open(InMemory(Bytes(rest.begin(), rest.end())), format));
    return 0;
}

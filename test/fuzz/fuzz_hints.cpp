// Hints files and checkpoints from hostile bytes. The first byte picks the reader; for a container
// the checksums are made right first, so that the structure behind them is reached.
#include "crypto/sha256.h"
#include "hints/bitmap.h"
#include "hints/container1.h"
#include "hints/rice_record.h"
#include "memory_file.h"
#include "swiftsync/checkpoint.h"

#include <algorithm>

namespace {

using namespace ibd;
using namespace ibd::fuzz;

void Reseal(Bytes& file)
{
    if (file.size() < kHintsHeaderSize) return;
    std::copy(kHintsMagic.begin(), kHintsMagic.end(), file.begin());
    const uint64_t index_at = ReadLE64(file.data() + 72);
    if (index_at > file.size()) return;
    for (uint64_t at = index_at; at + kHintsIndexEntrySize <= file.size();
         at += kHintsIndexEntrySize) {
        const uint64_t offset = ReadLE64(file.data() + at + 8);
        const uint32_t length = ReadLE32(file.data() + at + 16);
        if (offset > file.size() || length > file.size() - offset) continue;
        CopyDigest(Sha256Of(ByteSpan(file).subspan(offset, length)), file.data() + at + 24);
    }
    const ByteSpan head = ByteSpan(file).first(120);
    const ByteSpan index = ByteSpan(file).subspan(index_at);
    CopyDigest(Sha256().Write(head).Write(index).Finalize(), file.data() + 120);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    Bytes rest(data + 1, data + size);
    BlockHints block;
    switch (data[0] % 4) {
    case 0:
        Reseal(rest);
        ReadAllHints(ContainerHints::Open(InMemory(std::move(rest))));
        break;
    case 1: ReadAllHints(BitmapHints::Open(InMemory(std::move(rest)))); break;
    case 2:
        if (DecodeHintsRecord(rest, block)) break;
        CHECK(block.unspent.empty() || block.unspent.back() < block.outputs);
        break;
    default:
        if (rest.size() >= 8) {
            const ByteSpan body = ByteSpan(rest).first(rest.size() - 8);
            CopyDigest(Sha256Of(body), rest.data() + rest.size() - 8);
        }
        if (const auto checkpoint = Checkpoint::Decode(rest)) {
            const Bytes again = checkpoint->Encode();
            // Full validation by an older program: without the height, which has four bytes.
            const bool older = checkpoint->full_validation && again.size() == rest.size() + 4;
            CHECK(older || again == rest);
            const auto twice = Checkpoint::Decode(again);
            CHECK(twice && twice->Encode() == again);
        }
        break;
    }
    return 0;
}

// Version 2 of the container from hostile bytes. The first byte picks what is given: a file, whose
// checksums are made right first so that the structure behind them is reached; tables; or a group,
// under tables that are in the input too.
#include "crypto/sha256.h"
#include "hints/container1.h"
#include "hints/container2.h"
#include "memory_file.h"
#include "util/endian.h"

namespace {

using namespace ibd;
using namespace ibd::fuzz;

void Reseal(Bytes& file)
{
    if (file.size() < kContainer2HeaderSize) return;
    std::copy(kHintsMagic.begin(), kHintsMagic.end(), file.begin());
    const uint64_t index_at = ReadLE64(file.data() + 64);
    const uint64_t end = ReadLE64(file.data() + 72);
    const uint32_t tables = ReadLE32(file.data() + 80);
    if (index_at > end || end > file.size()) return;
    if (tables > file.size() - kContainer2HeaderSize) return;
    uint64_t offset = kContainer2HeaderSize + tables;
    for (uint64_t at = index_at; at + kContainer2EntrySize <= end; at += kContainer2EntrySize) {
        const uint32_t length = ReadLE32(file.data() + at + 2);
        if (offset > file.size() || length > file.size() - offset) break;
        CopyDigest(Sha256Of(ByteSpan(file).subspan(offset, length)), file.data() + at + 10);
        offset += length;
    }
    CopyDigest(Sha256()
                   .Write(ByteSpan(file).first(88))
                   .Write(ByteSpan(file).subspan(kContainer2HeaderSize, tables))
                   .Write(ByteSpan(file).subspan(index_at, end - index_at))
                   .Finalize(),
               file.data() + 88);
}

/** A group that decodes is the one that its hints encode to. */
void DecodeGroup(ByteSpan in)
{
    if (in.size() < 6) return;
    const uint32_t blocks = 1 + ReadLE16(in.data()) % kMaxBlocksPerGroup;
    const uint32_t unspent = ReadLE16(in.data() + 2);
    const size_t tables = std::min<size_t>(ReadLE16(in.data() + 4), in.size() - 6);
    GapModel model;
    if (GapModel::Decode(in.subspan(6, tables), model)) return;
    const ByteSpan group = in.subspan(6 + tables);
    GroupHints out;
    if (GapDecoder(model).Decode(group, blocks, unspent, kMaxHintedOutputs, out)) return;
    const Bytes again = EncodeGroup(out, model);
    CHECK(ReadLE64(group.data()) >> 63 || std::equal(again.begin(), again.end(), group.begin()));
}

/** Header, tables and index alone, as a peer sends them: their positions of groups are within
 *  bounds. */
void OpenHead(ByteSpan file)
{
    if (file.size() < kContainer2HeaderSize) return;
    const uint64_t index_at = ReadLE64(file.data() + 64);
    const uint64_t end = ReadLE64(file.data() + 72);
    const uint64_t before = kContainer2HeaderSize + uint64_t{ReadLE32(file.data() + 80)};
    if (index_at > end || end > file.size() || before > file.size()) return;
    Bytes head(file.begin(), file.begin() + static_cast<ptrdiff_t>(before));
    const ByteSpan index = file.subspan(index_at, end - index_at);
    head.insert(head.end(), index.begin(), index.end());
    const auto hints = Container2Hints::OpenHead("head", std::move(head));
    if (!hints) return;
    CHECK((*hints)->IndexAt() == index_at && (*hints)->FirstGroupAt() == before);
    for (const Container2Hints::Group& group : (*hints)->Groups()) {
        CHECK(group.offset >= before && group.offset + group.length <= index_at);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    Bytes rest(data + 1, data + size);
    GapModel model;
    switch (data[0] % 3) {
    case 0:
        Reseal(rest);
        OpenHead(rest);
        ReadAllHints(Container2Hints::Open(InMemory(std::move(rest))));
        break;
    case 1:
        if (!GapModel::Decode(rest, model)) {
            GapModel again;
            CHECK(!GapModel::Decode(model.Encode(), again));
        }
        break;
    default: DecodeGroup(rest); break;
    }
    return 0;
}

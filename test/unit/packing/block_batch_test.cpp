// Batches of blocks: real blocks come back byte for byte, alone and together, whole and mutated; a
// damaged batch, a bomb and a batch above the bounds are errors.
#include "packing/block_batch.h"
#include "packing/failing_zstd.h"
#include "packing/pack_forms.h"
#include "packing/pack_streams.h"
#include "primitives/block.h"
#include "primitives/serialize.h"
#include "primitives/transaction.h"
#include "script/script.h"

#include "support/catch.h"
#include "support/testdata.h"

#include <functional>
#include <zstd.h>

namespace ibd {

namespace {

using namespace test;

/** Blocks of all kinds: before and after segwit, with taproot, with keys of 65 bytes. */
constexpr const char* kBlocks[] = {
    "bitcoinj/block169482.dat",
    "bitcoinj/block227835.dat",
    "bitcoinj/block481829.dat.xz",
    "bcoin/block300025.raw.xz",
    "bcoin/block1087400.raw",
    "bcoin/block482683.raw",
    "bcoin/block898352.raw",
    "bcoin/block928816.raw.xz",
    "bcoin/block928848.raw.xz",
    "blocks/block413567.raw.xz",
    "blocks/electrs_000000000000000002d249a3d89f63ef3fee203adcca7c24008c13fd854513f2.xz",
    "floresta/block_367891/raw.zst",
    "floresta/block_866342/raw.zst",
    "btcd/block-0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2.blk.xz",
};

Bytes Pack(const std::vector<ByteSpan>& blocks, int level = 1)
{
    auto out = PackBlocks(blocks, level);
    REQUIRE(out);
    return *out;
}

/** Packs and unpacks; returns the packed size. */
size_t Check(const std::vector<ByteSpan>& blocks, int level = 1)
{
    const Bytes batch = Pack(blocks, level);
    const auto again = UnpackBlocks(batch);
    if (!again) FAIL(again.Message());
    REQUIRE(again->size() == blocks.size());
    size_t size = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
        REQUIRE(AsChars((*again)[i]) == AsChars(blocks[i]));
        size += blocks[i].size();
    }
    CHECK(BatchBytes(batch) == size);
    return batch.size();
}

/** The first blocks of mainnet, from the block file. */
std::vector<Bytes> FirstBlocks(size_t count)
{
    std::vector<Bytes> out;
    const auto path = TestData("chains/mainnet_0_14131.blk.xz");
    if (!path) return out;
    const Bytes file = ReadTestFile(*path);
    for (size_t at = 0; out.size() < count;) {
        const size_t size = ReadLE32(&file[at + 4]);
        out.emplace_back(&file[at + 8], &file[at + 8 + size]);
        at += 8 + size;
    }
    return out;
}

std::vector<ByteSpan> Spans(const std::vector<Bytes>& blocks)
{
    return {blocks.begin(), blocks.end()};
}

std::string Refusal(ByteSpan batch)
{
    const auto result = UnpackBlocks(batch);
    if (result) return "";
    CHECK(result.GetError().kind == Error::Kind::kBadData);
    return result.Message();
}

/** A batch of one block with this stated size, whose streams are what `streams` writes. */
Bytes Forged(uint64_t block_size, const std::function<void(Writer&)>& streams)
{
    Bytes out;
    Writer writer(out);
    writer.U8(1);
    writer.VarInt(1);
    writer.VarInt(block_size);
    streams(writer);
    return out;
}

} // namespace

TEST_CASE("real blocks come back, each in at least a seventh fewer bytes", "[packing]")
{
    size_t before = 0;
    size_t after = 0;
    for (const char* name : kBlocks) {
        const auto path = TestData(name);
        if (!path) return;
        INFO(name);
        const Bytes raw = ReadTestFile(*path);
        const size_t packed = Check({raw});
        CHECK(packed * 7 < raw.size() * 6);
        before += raw.size();
        after += packed;
    }
    CHECK(after * 4 < before * 3);
}

TEST_CASE("small blocks come back together, in less than a third of the bytes", "[packing]")
{
    const std::vector<Bytes> blocks = FirstBlocks(1'000);
    for (const size_t count : {size_t{1}, size_t{2}, kMaxBatchBlocks}) {
        for (size_t at = 0; at + count <= blocks.size(); at += count) {
            const std::vector<ByteSpan> part(&blocks[at], &blocks[at] + count);
            const size_t packed = Check(part);
            if (count == kMaxBatchBlocks) CHECK(packed < count * 215 / 3);
        }
    }
}

TEST_CASE("at each level a batch comes back", "[packing]")
{
    const auto path = TestData("bcoin/block1087400.raw");
    if (!path) return;
    const Bytes raw = ReadTestFile(*path);
    size_t last = raw.size();
    for (const int level : {kMinPackLevel, 3, 9, kMaxPackLevel}) {
        const size_t packed = Check({raw, raw}, level);
        CHECK(packed <= last);
        last = packed + packed / 100; // levels differ by little, in either direction
    }
}

TEST_CASE("mutated blocks come back", "[packing]")
{
    for (const char* name : {"bitcoinj/block169482.dat", "bcoin/block482683.raw",
                             "bcoin/block898352.raw", "bcoin/block1087400.raw"}) {
        const auto path = TestData(name);
        if (!path) return;
        const Bytes raw = ReadTestFile(*path);
        for (int i = 0; i < 60; ++i) {
            Bytes block = raw;
            for (uint64_t left = TestRng().Below(8); left > 0; --left) {
                block[TestRng().Below(block.size())] ^= uint8_t(1 << TestRng().Below(8));
            }
            if (TestRng().Below(4) == 0) block.resize(TestRng().Below(block.size() + 1));
            if (TestRng().Below(4) == 0) block.push_back(0);
            Check({raw, block, raw});
        }
    }
}

// The scripts of inputs are packed as they are if they have a push that is longer than needed, or
// end within one. Valid blocks have both: inputs of the first years, and coinbases.
TEST_CASE("blocks with unusual pushes before or at the end of a script come back", "[packing]")
{
    const Bytes script(40, OP_1);
    Bytes minimal, cut;
    AppendPush(minimal, script);
    cut = minimal;
    Append(cut, Bytes{30, 1, 2});
    Bytes longer = {OP_PUSHDATA1, 40}, longest = {OP_PUSHDATA4, 40, 0, 0, 0};
    Append(longer, script);
    Append(longest, script);
    Bytes before = {OP_PUSHDATA1, 1, 1};
    Append(before, minimal);
    for (const Bytes& script_sig : {minimal, cut, longer, longest, before}) {
        MutableTransaction tx;
        tx.inputs.resize(2);
        for (MutableInput& input : tx.inputs) input.script_sig = script_sig;
        tx.inputs[1].prevout = {Txid::FromBytes(RandomBytes(32).data()), 1};
        tx.outputs = {{5, script}};
        Bytes block = RandomBytes(80);
        block.push_back(1);
        Append(block, tx.Freeze()->View().raw);
        Check({block, block});
    }
}

TEST_CASE("any bytes come back", "[packing]")
{
    for (const size_t size : {0, 1, 79, 80, 81, 90, 1000, 100'000}) {
        const Bytes bytes = RandomBytes(size);
        const Bytes zeros(size, 0);
        Check({bytes, zeros, bytes});
    }
    const Bytes most(kMaxBatchBytes, 7);
    CHECK(Check({most}) < 1'000);
    Check(std::vector<ByteSpan>(kMaxBatchBlocks));
}

TEST_CASE("a batch that is cut off or has more bytes is refused", "[packing]")
{
    const std::vector<Bytes> blocks = FirstBlocks(5);
    if (blocks.empty()) return;
    Bytes batch = Pack(Spans(blocks));
    for (size_t size = 0; size < batch.size(); ++size) {
        CHECK_FALSE(Refusal(ByteSpan(batch).first(size)).empty());
    }
    batch.push_back(0);
    CHECK(Refusal(batch) == "a batch of blocks is longer than it states, or cut off");
}

TEST_CASE("a damaged batch is refused or has blocks of the stated sizes", "[packing]")
{
    const auto path = TestData("bcoin/block898352.raw");
    if (!path) return;
    const Bytes raw = ReadTestFile(*path);
    const Bytes batch = Pack({raw});
    size_t refused = 0;
    for (int i = 0; i < 3'000; ++i) {
        Bytes damaged = batch;
        damaged[TestRng().Below(damaged.size())] ^= uint8_t(1 << TestRng().Below(8));
        const size_t stated = BatchBytes(damaged);
        const auto blocks = UnpackBlocks(damaged);
        refused += !blocks;
        if (!blocks) continue;
        size_t size = 0;
        for (const Bytes& block : *blocks) size += block.size();
        CHECK(size == stated);
    }
    CHECK(refused > 0);
}

TEST_CASE("what a batch states is bounded before anything is allocated", "[packing]")
{
    const auto none = [](Writer&) {};
    CHECK(Refusal(Forged(kMaxBatchBytes + 1, none)) ==
          "a batch of blocks states more than 4000000 bytes");
    CHECK(BatchBytes(Forged(kMaxBatchBytes + 1, none)) == 0);
    CHECK(Refusal(Forged(~uint64_t{0}, none)) ==
          "a batch of blocks states more than 4000000 bytes");
    CHECK(Refusal(Forged(100, [](Writer& w) { w.VarInt(2 * kMaxBatchBytes + 1); })) ==
          "streams of a batch of blocks exceed their bound");
    CHECK(Refusal(Bytes{2, 1, 0}) == "a batch of blocks has an unknown format");
    CHECK(Refusal(Bytes{1, 0}) == "a batch of blocks states a wrong number of blocks");
    CHECK(Refusal(Bytes{1, kMaxBatchBlocks + 1}) ==
          "a batch of blocks states a wrong number of blocks");
}

TEST_CASE("a stream that has another size than stated is refused", "[packing]")
{
    const Bytes zeros(5'000'000, 0);
    Bytes bomb(ZSTD_compressBound(zeros.size()));
    bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
    REQUIRE(bomb.size() < 1'000);
    const Bytes batch = Forged(2'000, [&](Writer& writer) {
        writer.VarInt(2'000);
        writer.VarBytes({}); // a stored size of 0
        writer.Raw(bomb);
    });
    CHECK_FALSE(Refusal(batch).empty());
    const Bytes stated = Forged(2'000, [&](Writer& writer) {
        writer.VarInt(2'000);
        writer.VarInt(bomb.size());
        writer.Raw(bomb);
    });
    CHECK(Refusal(stated) == "a stream of a batch of blocks has another size than stated");
}

namespace {

/** A block whose one transaction has one input with these witness items. */
Bytes BlockOfItems(const std::vector<Bytes>& items)
{
    Bytes out(BlockHeader::kSize);
    Writer writer(out);
    writer.CompactSize(1);
    writer.U32(2);
    writer.Raw(AsBytes(std::string_view("\0\1\1", 3)));
    writer.Raw(RandomBytes(32));
    writer.U32(0);
    writer.CompactSize(0);
    writer.U32(0xffffffff);
    writer.CompactSize(1);
    writer.U64(1000);
    writer.Raw(Bytes{22, 0, 20});
    writer.Raw(RandomBytes(20));
    writer.CompactSize(items.size());
    for (const Bytes& item : items) {
        writer.CompactSize(item.size());
        writer.Raw(item);
    }
    writer.U32(0);
    return out;
}

/** Any point of the curve with 65 bytes. */
Bytes LongKey()
{
    for (;;) {
        CompressedKey half;
        half[0] = 2;
        const Bytes x = RandomBytes(32);
        std::copy(x.begin(), x.end(), half.begin() + 1);
        if (const auto whole = DecompressPublicKey(half)) return {whole->begin(), whole->end()};
    }
}

Bytes ShortKey()
{
    Bytes key = RandomBytes(33);
    key[0] = 2;
    return key;
}

/** The batch of one block after a change of its streams. */
Bytes WithStreams(ByteSpan batch, size_t block_size,
                  const std::function<void(StreamWriter&)>& change)
{
    Reader in(batch);
    in.U8();
    in.VarInt();
    in.VarInt();
    StreamReader read;
    REQUIRE(read.Load(in, MaxStreamBytes(kMaxBatchBytes)));
    StreamWriter streams;
    for (size_t i = 0; i < kPackStreams; ++i) {
        const auto stream = static_cast<PackStream>(i);
        Append(streams.At(stream), read.At(stream).Span(read.At(stream).Remaining()));
    }
    change(streams);
    Bytes out;
    Writer writer(out);
    writer.U8(1);
    writer.VarInt(1);
    writer.VarInt(block_size);
    REQUIRE(streams.Store(1, out));
    return out;
}

} // namespace

TEST_CASE("blocks with more keys and witness items than a batch models come back", "[packing]")
{
    std::vector<Bytes> keys(2 * kMaxBatchKeys);
    for (Bytes& key : keys) key = ShortKey();
    const Bytes many = BlockOfItems(keys);
    CHECK(Check({many}) < many.size());
    const Bytes longer = BlockOfItems(std::vector<Bytes>(3 * kMaxLongKeys, LongKey()));
    CHECK(Check({longer}) < longer.size() / 2);
    Check({BlockOfItems(std::vector<Bytes>(kMaxWitnessItems + 1, {1}))});
}

TEST_CASE("a batch that costs its reader too much is refused", "[packing]")
{
    const size_t uses = 8'000; // its count has as many bytes as the larger ones below
    const Bytes block = BlockOfItems(std::vector<Bytes>(uses, LongKey()));
    const Bytes batch = Pack({block});
    const auto with_uses = [&](size_t count) {
        return WithStreams(batch, block.size() + 66 * (count - uses), [&](StreamWriter& streams) {
            Bytes& numbers = streams.At(PackStream::kNumbers);
            numbers.resize(numbers.size() - 2); // the number of items
            streams.To(PackStream::kNumbers).VarInt(count);
            for (size_t i = uses; i < count; ++i) {
                streams.At(PackStream::kTokens).push_back(kKeyItem);
                streams.To(PackStream::kKeyRefs).VarInt(1);
            }
        });
    };
    CHECK(Refusal(with_uses(uses)).empty());
    const size_t most = MaxKeyRoots(kMaxBatchBytes);
    CHECK(Refusal(with_uses(most)).empty());
    CHECK(Refusal(with_uses(most + 1)) == "a batch of blocks is damaged");

    const Bytes large = BlockOfItems({Bytes(1'000'000, 7)});
    const Bytes packed = Pack({large});
    const auto with_keys = [&](size_t count) {
        return WithStreams(packed, large.size(), [&](StreamWriter& streams) {
            streams.At(PackStream::kKeyForms).resize(count);
            streams.At(PackStream::kKeys).resize(32 * count);
        });
    };
    CHECK(Refusal(with_keys(0)).empty());
    CHECK(Refusal(with_keys(kMaxBatchKeys + 1)) == "a batch of blocks is damaged");
}

TEST_CASE("a small block cannot make its reader unpack large tables", "[packing]")
{
    const Bytes script(kShortestScript, 0x61);
    const Bytes block = BlockOfItems({script});
    const Bytes batch = Pack({block});
    // One more script comes before that of the block, and is not used.
    const auto with_script = [&](size_t size) {
        return WithStreams(batch, block.size(), [&](StreamWriter& streams) {
            Bytes& numbers = streams.At(PackStream::kNumbers);
            REQUIRE(numbers.front() == 1); // scripts of the table
            numbers.front() = 2;
            REQUIRE(numbers.back() == 0); // the input shows the next of them
            numbers.back() = 1;           // the one after it
            Bytes& tokens = streams.At(PackStream::kTokens);
            Bytes more(size, 0x61);
            more.push_back(kEnd);
            tokens.insert(tokens.begin(), more.begin(), more.end());
        });
    };
    const size_t room = block.size() - kShortestScript;
    CHECK(Refusal(with_script(room)).empty());
    CHECK(Refusal(with_script(room + 1)) == "a batch of blocks is damaged");
    CHECK(Refusal(with_script(100'000)) == "streams of a batch of blocks exceed their bound");
    // Keys that no input shows.
    const auto with_keys = [&](size_t count) {
        return WithStreams(batch, block.size(), [&](StreamWriter& streams) {
            streams.At(PackStream::kKeyForms).resize(count, kKeyLong);
            streams.At(PackStream::kKeys).resize(32 * count, 1);
        });
    };
    CHECK(Refusal(with_keys(block.size() / 32 + 1)) == "a batch of blocks is damaged");
    CHECK(Refusal(with_keys(1'000)) == "streams of a batch of blocks exceed their bound");
}

TEST_CASE("without memory for zstd a batch is neither made nor called damaged", "[packing]")
{
    const Bytes block = BlockOfItems(std::vector<Bytes>(100, LongKey()));
    const Bytes batch = Pack({block});
    for (const ZstdCall call : {ZstdCall::kCreateCompressor, ZstdCall::kCompress}) {
        const FailingZstd failing(call);
        const auto made = PackBlocks(std::vector<ByteSpan>{block}, 1);
        REQUIRE_FALSE(made);
        CHECK(made.GetError().kind == Error::Kind::kSystem);
        CHECK(made.Message().starts_with("zstd cannot compress a batch of blocks: "));
        CHECK(UnpackBlocks(batch));
    }
    for (const ZstdCall call : {ZstdCall::kCreateDecompressor, ZstdCall::kDecompress}) {
        const FailingZstd failing(call);
        const auto blocks = UnpackBlocks(batch);
        REQUIRE_FALSE(blocks);
        CHECK(blocks.GetError().kind == Error::Kind::kSystem);
        CHECK(blocks.Message().starts_with("zstd cannot decompress a batch of blocks: "));
        CHECK(Pack({block}) == batch);
    }
    CHECK(Check({block}) == batch.size());
}

} // namespace ibd

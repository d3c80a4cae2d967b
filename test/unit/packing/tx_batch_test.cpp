// Batches of transactions: real ones come back byte for byte in fewer bytes; what saves nothing or
// would expand too far is not packed; a damaged, forged or oversized batch is refused.
#include "crypto/sha256.h"
#include "packing/block_batch.h"
#include "packing/failing_zstd.h"
#include "packing/tx_batch.h"
#include "primitives/block.h"
#include "primitives/transaction.h"
#include "util/found.h"

#include "support/catch.h"
#include "support/testdata.h"

namespace ibd {

namespace {

using namespace test;

constexpr size_t kHeader = BlockHeader::kSize;

/** The transactions of a block but the coinbase, each of at most `most` bytes. */
std::vector<Bytes> TxsOf(const char* name, size_t most)
{
    std::vector<Bytes> out;
    const auto path = TestData(name);
    if (!path) return out;
    const Bytes raw = ReadTestFile(*path);
    BlockView block;
    REQUIRE(block.Parse(raw));
    for (const TxView& tx : block.Txs().subspan(1)) {
        if (tx.raw.size() <= most) out.emplace_back(tx.raw.begin(), tx.raw.end());
    }
    return out;
}

/** Any `count` of them, in any order. */
std::vector<Bytes> Sample(const std::vector<Bytes>& txs, size_t count)
{
    std::vector<Bytes> out;
    for (size_t i = 0; i < count; ++i) out.push_back(txs[TestRng().Below(txs.size())]);
    return out;
}

size_t SizeOf(const std::vector<Bytes>& txs)
{
    size_t size = 0;
    for (const Bytes& tx : txs) size += tx.size();
    return size;
}

Bytes Pack(const std::vector<Bytes>& txs)
{
    auto batch = PackTxs(txs, 1);
    REQUIRE(batch);
    return *batch;
}

/** A sample that is packed. A few are not, because that saves no bytes. */
std::vector<Bytes> PackedSample(const std::vector<Bytes>& txs, size_t count)
{
    std::vector<Bytes> out = Sample(txs, count);
    while (Pack(out).empty()) out = Sample(txs, count);
    return out;
}

std::string Refusal(ByteSpan batch)
{
    const auto txs = UnpackTxs(batch);
    if (txs) return "";
    CHECK(txs.GetError().kind == Error::Kind::kBadData);
    return txs.Message();
}

/** A transaction with one input, and an output with this script. */
Bytes TxThatPays(Bytes script)
{
    MutableTransaction tx;
    tx.inputs.resize(1);
    tx.inputs[0].prevout.txid = Txid(Uint256(Sha256Of(RandomBytes(9))));
    tx.outputs = {{1'000, std::move(script)}};
    const TransactionRef made = tx.Freeze();
    return {(*made)->raw.begin(), (*made)->raw.end()};
}

/** A batch of a block with these bytes after a header of zeros. */
Bytes BatchOf(Bytes after_header)
{
    Bytes block(kHeader, 0);
    Append(block, after_header);
    return *PackBlocks(std::array{ByteSpan(block)}, 1);
}

} // namespace

TEST_CASE("real transactions come back, and ten save a sixth of the bytes", "[packing]")
{
    size_t before = 0;
    size_t after = 0;
    for (const char* name : {"bcoin/block482683.raw", "bcoin/block928816.raw.xz",
                             "bitcoinj/block481829.dat.xz", "floresta/block_866342/raw.zst"}) {
        INFO(name);
        const std::vector<Bytes> all = TxsOf(name, 1'500);
        if (all.empty()) return;
        for (const size_t count : {1, 2, 10, 64}) {
            for (int i = 0; i < 20; ++i) {
                const std::vector<Bytes> txs = Sample(all, count);
                const Bytes batch = Pack(txs);
                if (batch.empty()) continue;
                CHECK(UnpackTxs(batch).Value() == txs);
                if (count != 10) continue;
                before += SizeOf(txs);
                after += batch.size();
            }
        }
    }
    REQUIRE(before > 0);
    CHECK(after * 6 < before * 5);
}

TEST_CASE("transactions that save no bytes are not packed", "[packing]")
{
    CHECK(Pack({TxThatPays(RandomBytes(30))}).empty());
}

TEST_CASE("what would expand too far is neither packed nor unpacked", "[packing]")
{
    const Bytes raw = TxThatPays(Bytes(5'000, 7));
    CHECK(Pack({raw}).empty());
    Bytes block{1};
    Append(block, raw);
    const Bytes batch = BatchOf(block);
    REQUIRE(batch.size() < 300);
    CHECK(Refusal(batch) ==
          fmt::format("a batch of transactions states more than {} bytes", 4 * batch.size()));
}

TEST_CASE("a batch of transactions has the stated bounds", "[packing]")
{
    const std::vector<Bytes> all = TxsOf("floresta/block_866342/raw.zst", kMaxTxBatchBytes);
    if (all.empty()) return;
    const auto batch_of = [](const std::vector<Bytes>& txs) {
        Bytes block;
        Writer(block).CompactSize(txs.size());
        for (const Bytes& tx : txs) Append(block, tx);
        return BatchOf(block);
    };
    CHECK(UnpackTxs(batch_of(Sample(all, 20))));
    std::vector<Bytes> small = all;
    std::erase_if(small, [](const Bytes& tx) { return tx.size() > 400; });
    REQUIRE(small.size() > kMaxTxBatch);
    small.resize(kMaxTxBatch + 1);
    CHECK_FALSE(Refusal(batch_of(small)).empty());
    small.pop_back();
    CHECK(UnpackTxs(batch_of(small)));
    std::vector<Bytes> many(all.begin(), all.end());
    while (SizeOf(many) <= kMaxTxBatchBytes) many.insert(many.end(), all.begin(), all.end());
    CHECK_FALSE(Refusal(batch_of(many)).empty());
    const std::string other = "a batch of transactions has something else";
    CHECK(Refusal(batch_of({})) == other);
    Bytes trailing{1};
    Append(trailing, all[0]);
    trailing.push_back(0);
    CHECK(Refusal(BatchOf(trailing)) == other);
    CHECK(Refusal(BatchOf({5, 1, 2, 3})) == other);
    // A block, and two.
    const auto path = TestData("bcoin/block898352.raw");
    if (!path) return;
    const Bytes raw = ReadTestFile(*path);
    if (raw.size() <= kMaxTxBatchBytes) {
        CHECK(Refusal(*PackBlocks(std::array{ByteSpan(raw)}, 1)) == other);
    }
    Bytes block(kHeader, 0);
    block.push_back(1);
    Append(block, all[0]);
    CHECK_FALSE(Refusal(*PackBlocks(std::array{ByteSpan(block), ByteSpan(block)}, 1)).empty());
}

TEST_CASE("a batch of transactions that is cut off or damaged is no crash", "[packing]")
{
    const std::vector<Bytes> all = TxsOf("floresta/block_866342/raw.zst", 1'500);
    if (all.empty()) return;
    const std::vector<Bytes> txs = PackedSample(all, 10);
    const Bytes batch = Pack(txs);
    for (size_t size = 0; size < batch.size(); ++size) {
        CHECK_FALSE(Refusal(ByteSpan(batch).first(size)).empty());
    }
    for (int i = 0; i < 3'000; ++i) {
        Bytes damaged = batch;
        damaged[TestRng().Below(damaged.size())] ^= uint8_t(1 << TestRng().Below(8));
        const auto again = UnpackTxs(damaged);
        if (again) CHECK(SizeOf(*again) <= kMaxTxExpansion * damaged.size());
    }
}

TEST_CASE("without memory a batch of transactions is an error of the machine", "[packing]")
{
    const std::vector<Bytes> all = TxsOf("floresta/block_866342/raw.zst", 1'500);
    if (all.empty()) return;
    // Always the same, as some samples become shorter without zstd.
    const std::vector<Bytes> txs(all.begin(), all.begin() + kMaxTxBatch);
    const Bytes batch = Pack(txs);
    {
        const FailingZstd failing(ZstdCall::kCompress);
        CHECK(SystemFailed(PackTxs(txs, 1)));
    }
    const FailingZstd failing(ZstdCall::kDecompress);
    CHECK(SystemFailed(UnpackTxs(batch)));
}

} // namespace ibd

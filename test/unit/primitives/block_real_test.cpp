// BlockView on real blocks: ids, merkle roots, witness commitments, weights, and re-serialization
// byte for byte.
#include "primitives/plain_block.h"
#include "primitives/transaction.h"
#include "reference_parser.h"

#include "support/testdata.h"
#include "util/hex.h"

#include <algorithm>
#include <sstream>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

Uint256 MerkleRoot(std::vector<Uint256> level)
{
    if (level.empty()) return {};
    while (level.size() > 1) {
        if (level.size() % 2) level.push_back(level.back());
        std::vector<Uint256> next;
        for (size_t i = 0; i < level.size(); i += 2) {
            Bytes pair;
            Append(pair, level[i].Span());
            Append(pair, level[i + 1].Span());
            next.push_back(Uint256(Sha256d(pair)));
        }
        level = next;
    }
    return level[0];
}

/** BIP141: the 32 bytes after 6a24aa21a9ed in the last output that has them. */
std::optional<Uint256> WitnessCommitment(const TxView& coinbase)
{
    std::optional<Uint256> found;
    for (const OutputView& output : coinbase.outputs) {
        if (output.script_pubkey.size() >= 38 &&
            ToHex(output.script_pubkey.first(6)) == "6a24aa21a9ed") {
            found = Uint256::FromBytes(output.script_pubkey.data() + 6);
        }
    }
    return found;
}

void CheckWitnessCommitment(const BlockView& block)
{
    std::vector<Wtxid> ids;
    ComputeWitnessHashes(block, ids);
    REQUIRE(ids.size() == block.Txs().size());
    for (size_t i = 0; i < ids.size(); ++i) CHECK(ids[i] == block.Txs()[i].WitnessHash());
    const TxView& coinbase = block.Txs()[0];
    const std::optional<Uint256> commitment = WitnessCommitment(coinbase);
    if (!commitment || !coinbase.has_witness) return;
    ids[0] = Wtxid();
    Bytes preimage;
    Append(preimage, MerkleRoot(ids).Span());
    ForEachWitnessItem(coinbase.inputs[0], [&](ByteSpan item) { Append(preimage, item); });
    CHECK(Uint256(Sha256d(preimage)) == *commitment);
}

/** Rebuilds the block from the fields the view shows. */
Bytes Reserialize(const BlockView& block)
{
    Bytes out;
    Writer writer(out);
    writer.Raw(block.Header().ToBytes());
    writer.CompactSize(block.Txs().size());
    for (const TxView& tx : block.Txs()) {
        writer.Raw(MutableTransaction::FromView(tx).Serialize());
    }
    return out;
}

void CheckBlock(BlockView& block, const Bytes& raw, const std::string& hash = {})
{
    REQUIRE(block.Parse(raw).Ok());
    CHECK(Reserialize(block) == raw);
    if (!hash.empty()) CHECK(block.Hash().ToHex() == hash);
    std::vector<Txid> ids;
    size_t stripped = 80 + CompactSizeLength(block.Txs().size()), inputs = 0, outputs = 0;
    for (const TxView& tx : block.Txs()) {
        const Bytes without_witness = MutableTransaction::FromView(tx).Serialize(false);
        CHECK(tx.txid == Txid(Sha256d(without_witness)));
        CHECK(tx.stripped_size == without_witness.size());
        CHECK(tx.has_witness == (tx.raw.size() != without_witness.size()));
        stripped += without_witness.size();
        inputs += tx.inputs.size();
        outputs += tx.outputs.size();
        ids.push_back(tx.txid);
    }
    CHECK(MerkleRoot(ids) == block.Header().merkle_root);
    CHECK(block.StrippedSize() == stripped);
    CHECK(block.Weight() == int64_t(3 * stripped + raw.size()));
    CHECK(block.Inputs().size() == inputs);
    CHECK(block.Outputs().size() == outputs);
    CHECK(block.Txs()[0].IsCoinbase());
    CheckWitnessCommitment(block);
}

} // namespace

TEST_CASE("a block parsed plainly is the same, with the ids that are asked for")
{
    PlainBlock plain;
    BlockView block;
    for (const char* name : {"bitcoinj/block227836.dat", "bitcoinj/block_testnet700000.dat",
                             "bcoin/block928848.raw.xz", "bitcoinj/block169482.dat"}) {
        const auto path = TestData(name);
        if (!path) continue;
        INFO(name);
        Bytes raw = ReadTestFile(*path);
        raw.push_back(0); // no part of the block
        REQUIRE(block.Parse(raw).Ok());
        REQUIRE(plain.Parse(raw));
        CHECK(std::ranges::equal(plain.Raw(), block.Raw()));
        CHECK(plain.Hash() == block.Hash());
        CHECK(plain.Inputs() == block.Inputs().size());
        CHECK(plain.Outputs() == block.Outputs().size());
        REQUIRE(plain.Txs().size() == block.Txs().size());
        std::vector<uint32_t> asked;
        for (uint32_t i = 0; i < plain.Txs().size(); i += 1 + i % 3) asked.push_back(i);
        plain.ComputeIds(asked);
        for (uint32_t i = 0; i < plain.Txs().size(); ++i) {
            const bool has = std::ranges::binary_search(asked, i);
            CHECK(plain.Txs()[i].txid == (has ? block.Txs()[i].txid : Txid()));
        }
    }
}

TEST_CASE("real blocks of all ages parse and come back byte for byte")
{
    const std::pair<const char*, const char*> files[] = {
        {"blocks/block413567.raw.xz", ""},
        {"blocks/electrs_000000000000000002d249a3d89f63ef3fee203adcca7c24008c13fd854513f2.xz",
         "000000000000000002d249a3d89f63ef3fee203adcca7c24008c13fd854513f2"},
        {"blocks/electrs_00000000000000001203c1ea455e38612bdf36e9967fdead11935c8e22283ecc.xz",
         "00000000000000001203c1ea455e38612bdf36e9967fdead11935c8e22283ecc"},
        {"rust-bitcoin/mainnet_block_"
         "000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw.xz",
         "000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae"},
        {"rust-bitcoin/testnet_block_"
         "000000000000045e0b1660b6445b5e5c5ab63c9a4f956be7e1e69be04fa4497b.raw",
         "000000000000045e0b1660b6445b5e5c5ab63c9a4f956be7e1e69be04fa4497b"},
        {"btcd/block-0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2.blk.xz",
         "0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2"},
        {"btcd/block-00000000000000000021868c2cefc52a480d173c849412fe81c4e5ab806f94ab.blk.xz",
         "00000000000000000021868c2cefc52a480d173c849412fe81c4e5ab806f94ab"},
        {"bitcoinj/block169482.dat", ""},
        {"bitcoinj/block227835.dat", ""},
        {"bitcoinj/block227836.dat", ""},
        {"bitcoinj/block481829.dat.xz", ""},
        {"bitcoinj/block_testnet21066.dat", ""},
        {"bitcoinj/block_testnet32768.dat", ""},
        {"bitcoinj/block_testnet700000.dat", ""},
        {"bcoin/block300025.raw.xz", ""},
        {"bcoin/block1087400.raw", ""},
        {"bcoin/block928848.raw.xz", ""},
        {"floresta/block_367891/raw.zst", ""},
        {"floresta/block_866342/raw.zst", ""},
    };
    BlockView block; // one for all: reuse must leave nothing behind
    for (const auto& [name, hash] : files) {
        INFO(name);
        if (const auto path = TestData(name)) CheckBlock(block, ReadTestFile(*path), hash);
    }
}

TEST_CASE("a block of 2026 has the ids, sizes and weight that Core reported")
{
    const auto path = TestData("blocks/electrumx_mainnet_951658.json.xz");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    const Bytes raw = FromHex(json["block"].get_str()).value();
    BlockView block;
    CheckBlock(block, raw, json["hash"].get_str());
    const UniValue& ids = json["tx"];
    REQUIRE(ids.size() == block.Txs().size());
    for (size_t i = 0; i < ids.size(); ++i) CHECK(block.Txs()[i].txid.ToHex() == ids[i].get_str());
    const UniValue& weight = json["weight"];
    if (!weight.isNull()) CHECK(block.Weight() == weight.get_int64());
    const UniValue& stripped = json["strippedsize"];
    if (!stripped.isNull()) CHECK(int64_t(block.StrippedSize()) == stripped.get_int64());
}

TEST_CASE("the first 14,132 blocks of mainnet parse and link")
{
    const auto path = TestData("chains/mainnet_0_14131.blk.xz");
    if (!path) return;
    const Bytes file = ReadTestFile(*path);
    Reader reader(file);
    BlockView block;
    BlockHash previous;
    size_t count = 0, txs = 0;
    while (reader.Remaining() >= 8 && reader.U32() == 0xd9b4bef9) {
        const ByteSpan raw = reader.Span(reader.U32());
        REQUIRE(block.Parse(raw).Ok());
        REQUIRE(block.Header().prev_hash == previous);
        REQUIRE(Reserialize(block) == Bytes(raw.begin(), raw.end()));
        previous = block.Hash();
        ++count;
        txs += block.Txs().size();
    }
    CHECK(count == 14132);
    CHECK(txs == 14247);
    CHECK(previous.ToHex() == "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c");
}

TEST_CASE("segwit blocks of regtest parse and link")
{
    const auto path = TestData("chains/kernel_regtest_206.txt");
    if (!path) return;
    const Bytes text = ReadTestFile(*path);
    std::istringstream lines{std::string(AsChars(text))};
    BlockView block;
    BlockHash previous;
    int count = 0;
    for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
        CheckBlock(block, FromHex(line).value());
        if (count) CHECK(block.Header().prev_hash == previous);
        previous = block.Hash();
    }
    CHECK(count == 206);
}

TEST_CASE("large single transactions have their known ids")
{
    const auto check = [](const char* name, const char* id_start, bool hex) {
        const auto path = TestData(name);
        if (!path) return;
        Bytes raw = ReadTestFile(*path);
        if (hex) {
            std::string text(AsChars(raw));
            while (!text.empty() && text.back() == '\n') text.pop_back();
            raw = FromHex(text).value();
        }
        const auto tx = Transaction::Parse(raw);
        INFO(name);
        REQUIRE(tx.Ok());
        CHECK((*tx)->Id().ToHex().starts_with(id_start));
        CHECK(MutableTransaction::FromView((*tx)->View()).Serialize() == raw);
        CHECK(MutableTransaction::FromView((*tx)->View()).Id() == (*tx)->Id());
    };
    check("btcd/megatx.bin.bz2", "bb41a757", false);
    check("rust-bitcoin/huge_witness.hex.xz", "73be398c", true);
}

TEST_CASE("the moved view still points at its own arrays")
{
    const auto path = TestData("bitcoinj/block_testnet700000.dat");
    if (!path) return;
    const Bytes raw = ReadTestFile(*path);
    BlockView first;
    REQUIRE(first.Parse(raw).Ok());
    const BlockView second = std::move(first);
    CHECK(Reserialize(second) == raw);
}

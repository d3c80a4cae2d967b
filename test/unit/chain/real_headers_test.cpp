// Header rules on the headers of real networks: work, retargets, minimum difficulty, and each
// kind of rejection from a real header with one thing changed.
#include "chain_data.h"
#include "consensus/block_check.h"
#include "consensus/pow.h"
#include "crypto/sha256.h"
#include "primitives/transaction.h"
#include "script/script.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

Bytes Base64(const std::string& text)
{
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Bytes out;
    uint32_t buffer = 0;
    int bits = 0;
    for (const char c : text) {
        if (c == '=') break;
        buffer = buffer << 6 | static_cast<uint32_t>(digits.find(c));
        if ((bits += 6) >= 8) out.push_back(static_cast<uint8_t>(buffer >> (bits -= 8)));
    }
    return out;
}

struct Checkpoint {
    Arith256 work; //!< 96 bits
    int height = 0;
    BlockHeader header;
};

std::vector<Checkpoint> ReadCheckpoints(const std::string& name)
{
    std::vector<Checkpoint> points;
    const auto path = TestData("headers/bitcoinj-" + name + "-checkpoints.txt");
    if (!path) return points;
    const auto lines = LinesOf(ReadTestFile(*path));
    for (size_t i = 3; i < lines.size(); ++i) {
        const Bytes bytes = Base64(lines[i]);
        REQUIRE(bytes.size() == 96);
        Checkpoint point;
        point.work = *Arith256::FromHex(std::string(40, '0') + ToHex(ByteSpan(bytes).first(12)));
        point.height = static_cast<int>(ReadBE32(bytes.data() + 12));
        point.header = BlockHeader::FromBytes(bytes.data() + 16);
        points.push_back(point);
    }
    REQUIRE(points.size() == static_cast<size_t>(std::stoi(lines[2])));
    return points;
}

/** Headers from some height on, without those below. */
class PartialAncestry final : public Ancestry {
public:
    PartialAncestry(int first, std::vector<BlockHeader> headers)
        : m_first(first), m_headers(std::move(headers))
    {
    }
    int Height() const override { return m_first + static_cast<int>(m_headers.size()) - 1; }
    HeaderFacts At(int height) const override
    {
        const BlockHeader& header = m_headers.at(static_cast<size_t>(height - m_first));
        return {header.version, header.time, header.bits};
    }
    BlockHash HashAt(int height) const override
    {
        return m_headers.at(static_cast<size_t>(height - m_first)).Hash();
    }

private:
    int m_first;
    std::vector<BlockHeader> m_headers;
};

std::string ReasonOf(HeaderTree& tree, const BlockHeader& header, int64_t now = kLateClock)
{
    const RuleResult bad = tree.Accept(header, now);
    return bad ? bad->reason : "";
}

} // namespace

TEST_CASE("chain work at the checkpoints of mainnet and signet")
{
    for (const auto& [name, network] :
         {std::pair{"mainnet", Network::kMain}, std::pair{"signet", Network::kSignet}}) {
        const ConsensusParams& consensus = ParamsOf(network).consensus;
        const auto points = ReadCheckpoints(name);
        // bitcoinj counts the work above its own genesis entry in the same way: with genesis.
        Arith256 work = BlockWork(ParamsOf(network).genesis.header.bits);
        int height = 0;
        uint32_t bits = ParamsOf(network).genesis.header.bits;
        for (const Checkpoint& point : points) {
            CAPTURE(name, point.height);
            // All blocks of a period have the same target, the last one is this period's first.
            const int same = point.height - 1 - height;
            work += BlockWork(bits) * Arith256(static_cast<uint64_t>(same));
            work += BlockWork(point.header.bits);
            REQUIRE(work.ToHex().substr(40) == point.work.ToHex().substr(40));
            REQUIRE(CheckProofOfWork(point.header.Hash(), point.header.bits, consensus));
            REQUIRE(
                PermittedDifficultyTransition(consensus, point.height, bits, point.header.bits));
            height = point.height;
            bits = point.header.bits;
        }
    }
}

TEST_CASE("proof of work at the checkpoints of testnet3")
{
    const ConsensusParams& consensus = ParamsOf(Network::kTestnet3).consensus;
    Arith256 last;
    for (const Checkpoint& point : ReadCheckpoints("testnet3")) {
        REQUIRE(!CheckBlockHeader(point.header, point.header.Hash(), consensus));
        REQUIRE(point.work > last);
        last = point.work;
    }
}

TEST_CASE("mainnet and signet headers from genesis are accepted, and no changed one is")
{
    for (const auto& [name, network] :
         {std::pair{"headers", Network::kMain}, std::pair{"signet_headers", Network::kSignet}}) {
        const auto path = TestData(std::string("floresta/") + name + ".zst");
        if (!path) return;
        HeaderTree tree(ParamsOf(network));
        const auto headers = HeadersFrom(ReadTestFile(*path));
        REQUIRE(headers.at(0) == ParamsOf(network).genesis.header);
        HeaderNode* node = nullptr;
        for (const BlockHeader& header : headers) {
            BlockHeader changed = header;
            changed.nonce ^= 1;
            if (node) REQUIRE(ReasonOf(tree, changed) == "high-hash");
            node = MustAccept(tree, header);
        }
        CHECK(node->height == static_cast<int>(headers.size()) - 1);
        CHECK(tree.BestHeader() == node);
        CHECK(tree.Size() == headers.size());
        CHECK(node->Header() == headers.back());
        CHECK(LastCommonAncestor(node, tree.Genesis()) == tree.Genesis());

        HeaderTree empty(ParamsOf(network));
        CHECK(ReasonOf(empty, headers[2]) == "prev-blk-not-found");
        CHECK(ReasonOf(empty, headers[1], headers[1].time - 7201) == "time-too-new");
        CHECK(ReasonOf(empty, headers[1], headers[1].time - 7200) == "");
    }
}

TEST_CASE("testnet3 headers with the minimum difficulty exception, and forks")
{
    const auto path = TestData("headers/blockheader_testnet3.hex");
    if (!path) return;
    HeaderTree tree(ParamsOf(Network::kTestnet3));
    size_t forks = 0;
    for (std::string line : LinesOf(ReadTestFile(*path))) {
        const bool fork = line.rfind("fork:", 0) == 0;
        if (fork) line = line.substr(5);
        forks += fork ? 1 : 0;
        const auto bytes = FromHex(line);
        REQUIRE(bytes);
        REQUIRE(bytes->size() == BlockHeader::kSize);
        MustAccept(tree, BlockHeader::FromBytes(bytes->data()));
    }
    CHECK(forks == 2); // a branch of two blocks beside the first ones
    CHECK(tree.Size() == 549);
    CHECK(tree.BestHeader()->height == 546);
    const auto tips = tree.Tips();
    REQUIRE(tips.size() == 2);
    CHECK(LastCommonAncestor(tips[0], tips[1]) == tree.Genesis());
}

TEST_CASE("a retarget of 2019, with the period before it")
{
    const auto path = TestData("headers/dfinity-headers.csv.xz");
    if (!path) return;
    std::vector<BlockHeader> headers;
    for (const std::string& line : LinesOf(ReadTestFile(*path))) {
        if (line.rfind("version", 0) == 0) continue;
        std::vector<std::string> cells(1);
        for (const char c : line) {
            if (c == ',')
                cells.emplace_back();
            else
                cells.back().push_back(c);
        }
        const auto number = [&](size_t i) {
            return static_cast<uint32_t>(std::stoul(cells.at(i), nullptr, 16));
        };
        BlockHeader header;
        header.version = static_cast<int32_t>(number(0));
        header.prev_hash = *Uint256::FromHex(cells.at(1));
        header.merkle_root = *Uint256::FromHex(cells.at(2));
        header.time = number(3);
        header.bits = number(4);
        header.nonce = number(5);
        headers.push_back(header);
    }
    REQUIRE(headers.size() == 2633);
    const auto changed = std::find_if(headers.begin(), headers.end(), [&](const BlockHeader& h) {
        return h.bits != headers[0].bits;
    });
    REQUIRE(changed != headers.end());
    const int before = static_cast<int>(changed - headers.begin());
    const ConsensusParams& consensus = ParamsOf(Network::kMain).consensus;
    const int first = 2016 * 290 - before; // any period of that time
    for (size_t i = 12; i < headers.size(); ++i) {
        CAPTURE(i);
        const int height = first + static_cast<int>(i);
        REQUIRE(!CheckBlockHeader(headers[i], headers[i].Hash(), consensus));
        REQUIRE(
            PermittedDifficultyTransition(consensus, height, headers[i - 1].bits, headers[i].bits));
        if (height % 2016 == 0 && before < 2016) continue; // its period began earlier
        const PartialAncestry prev(first,
                                   {headers.begin(), headers.begin() + static_cast<long>(i)});
        REQUIRE(!ContextualCheckBlockHeader(headers[i], prev, consensus, kLateClock));
    }
}

namespace {

/** Core's alternate mainnet: coinbases follow from a rule; times and nonces are given. */
BlockHeader AlternateHeader(int height, const BlockHash& prev, uint32_t time, uint32_t nonce)
{
    MutableTransaction coinbase;
    MutableInput input;
    input.script_sig = Bip34Prefix(height);
    if (height <= 16) input.script_sig.push_back(OP_0); // two bytes are the least
    coinbase.inputs.push_back(input);
    coinbase.outputs.push_back(
        {50 * kCoin, *FromHex("76a914eadbac7f36c37e39361168b7aaee3cb24a25312d88ac")});
    BlockHeader header;
    header.version = 0x20000000;
    header.prev_hash = prev;
    header.merkle_root = coinbase.Id();
    header.time = time;
    header.bits = height < 2016 ? 0x1d00ffff : 0x1c3fffc0;
    header.nonce = nonce;
    return header;
}

} // namespace

TEST_CASE("the alternate mainnet chain retargets by the greatest step")
{
    const auto path = TestData("core/mainnet_alt.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    HeaderTree tree(ParamsOf(Network::kMain));
    HeaderNode* tip = tree.Genesis();
    const ConsensusParams& consensus = ParamsOf(Network::kMain).consensus;
    for (size_t i = 0; i < json["timestamps"].size(); ++i) {
        if (tip->height == 2015) {
            const NodeAncestry prev(tip);
            CHECK(GetNextWorkRequired(prev, tip->time + 600, consensus) == 0x1c3fffc0);
            BlockHeader easy = AlternateHeader(2016, tip->hash, tip->time + 600, 0);
            easy.bits = 0x1d00ffff;
            const auto bad = ContextualCheckBlockHeader(easy, prev, consensus, kLateClock);
            REQUIRE(bad);
            CHECK(bad->reason == "bad-diffbits");
        }
        const auto time = static_cast<uint32_t>(json["timestamps"][i].get_int64());
        const auto nonce = static_cast<uint32_t>(json["nonces"][i].get_int64());
        tip = MustAccept(tree, AlternateHeader(tip->height + 1, tip->hash, time, nonce));
    }
    REQUIRE(tip->height == 2016);
    CHECK(PermittedDifficultyTransition(consensus, 2016, 0x1d00ffff, 0x1c3fffc0));
    CHECK(!PermittedDifficultyTransition(consensus, 2016, 0x1d00ffff, 0x1c3fffbf));
    CHECK(!PermittedDifficultyTransition(consensus, 2015, 0x1d00ffff, 0x1c3fffc0));
}

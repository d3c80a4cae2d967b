// See test_chain.h.
#include "test_chain.h"

#include "consensus/block_check.h"
#include "primitives/transaction.h"
#include "script/coin.h"
#include "sim/block_draft.h"
#include "storage/coins_db.h"

#include <algorithm>
#include <filesystem>

namespace ibd::test {

namespace {

constexpr uint32_t kBip34From = 40;
/** Overwritten height -> height of the repeat. */
constexpr std::pair<uint32_t, uint32_t> kBip30Pairs[] = {{5, 9}, {7, 20}};

bool Repeats(uint32_t height, uint32_t& of)
{
    for (const auto& [first, second] : kBip30Pairs) {
        of = first;
        if (second == height) return true;
    }
    return false;
}

bool IsRepeatedLater(uint32_t height)
{
    return height == kBip30Pairs[0].first || height == kBip30Pairs[1].first;
}

Bytes CoinKeyBytes(const OutPoint& outpoint)
{
    const CoinKey key(outpoint);
    const ByteSpan bytes = key.Span().subspan(1);
    return {bytes.begin(), bytes.end()};
}

} // namespace

TestChain::TestChain(uint64_t seed, const TestChainOptions& options)
    : m_rng(seed), m_params(MakeChainParams(Network::kRegtest))
{
    m_params.consensus.bip34_height = kBip34From;
    // A first pass finds the hashes of the blocks in the pairs, which the rules are bound to.
    m_tree = std::make_unique<HeaderTree>(m_params);
    for (uint32_t i = 0; i < options.blocks; ++i) AddBlock(options);
    if (!options.bip30_pairs) return;
    for (const auto& [first, second] : kBip30Pairs) {
        if (second > options.blocks) continue;
        m_params.consensus.bip30_exceptions.push_back(
            {static_cast<int>(first), Tip().Ancestor(static_cast<int>(first))->hash,
             static_cast<int>(second), Tip().Ancestor(static_cast<int>(second))->hash});
    }
}

Bytes TestChain::RandomScript()
{
    const auto fill = [&](Bytes head, size_t n, Bytes tail) {
        for (size_t i = 0; i < n; ++i) head.push_back(static_cast<uint8_t>(m_rng()));
        Append(head, tail);
        return head;
    };
    switch (Below(40)) {
    case 0: return fill({0x6a, 0x04}, 4, {});         // OP_RETURN
    case 1: return {};                                // anyone can spend
    case 2: return Bytes(10'001, 0x51);               // too long to be spent
    case 3: return fill({0x51}, Below(300), {});      // odd, maybe long
    case 4: return {0x6a};                            // bare OP_RETURN
    case 5: return Bytes(9'000 + Below(1'001), 0x52); // up to 10,000: still spendable
    case 6: return fill({0x21, 0x02}, 32, {0xac});    // pay to public key
    default: break;
    }
    switch (Below(4)) {
    case 0: return fill({0x76, 0xa9, 0x14}, 20, {0x88, 0xac});
    case 1: return fill({0xa9, 0x14}, 20, {0x87});
    case 2: return fill({0x00, 0x14}, 20, {});
    default: return fill({0x51, 0x20}, 32, {});
    }
}

Bytes TestChain::MakeCoinbase(uint32_t height)
{
    uint32_t first = 0;
    if (Repeats(height, first) && m_coinbases.contains(first)) return m_coinbases[first];
    MutableTransaction tx;
    MutableInput input;
    input.script_sig = height >= kBip34From ? Bip34Prefix(static_cast<int>(height)) : Bytes{};
    for (int i = 0; i < 8; ++i) input.script_sig.push_back(static_cast<uint8_t>(m_rng()));
    tx.inputs.push_back(input);
    const size_t outputs = 1 + Below(3);
    for (size_t i = 0; i < outputs; ++i) {
        tx.outputs.push_back({static_cast<Amount>(m_rng() % (kCoin * 6)), RandomScript()});
    }
    if (IsRepeatedLater(height)) tx.outputs[0].script_pubkey = {0x51};
    Bytes raw = tx.Serialize();
    if (IsRepeatedLater(height)) m_coinbases[height] = raw;
    return raw;
}

TestChain::Live TestChain::TakeLive(size_t i)
{
    Live coin = std::move(m_live[i]);
    m_live.erase(m_live.begin() + static_cast<std::ptrdiff_t>(i));
    m_coins.erase(CoinKeyBytes(coin.outpoint));
    m_outputs[coin.height - 1][coin.index].unspent = false;
    return coin;
}

Bytes TestChain::SomeBytes(size_t n)
{
    Bytes out(n);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(m_rng());
    return out;
}

Bytes TestChain::MakeSpend()
{
    MutableTransaction tx;
    Amount value = 0;
    const size_t inputs = 1 + Below(3);
    for (size_t i = 0; i < inputs && !m_live.empty(); ++i) {
        // Most spends are of recent coins, some of any age.
        const size_t n = m_live.size();
        const size_t recent = std::min<size_t>(n, 12);
        const size_t pick = Below(3) ? n - 1 - Below(recent) : Below(n);
        const Live& candidate = m_live[pick];
        if (candidate.coinbase && IsRepeatedLater(candidate.height)) continue; // stays for BIP30
        MutableInput input;
        input.prevout = candidate.outpoint;
        if (Below(2)) {
            input.witness = {SomeBytes(Below(72) + 1), SomeBytes(33)};
        } else {
            input.script_sig = SomeBytes(Below(107));
        }
        value += candidate.value;
        tx.inputs.push_back(input);
        TakeLive(pick);
    }
    if (tx.inputs.empty()) return {};
    const size_t outputs = 1 + Below(Below(10) ? 3 : 40);
    for (size_t i = 0; i < outputs; ++i) {
        const Amount part =
            value > 0 ? static_cast<Amount>(m_rng() % static_cast<uint64_t>(value)) : 0;
        value -= part;
        tx.outputs.push_back({part, RandomScript()});
    }
    Bytes raw = tx.Serialize();
    TakeOutputs(raw, false);
    return raw;
}

void TestChain::AddChained(std::vector<Bytes>& txs, bool spent_before_made)
{
    size_t pick = 0;
    while (m_live[pick].coinbase) ++pick; // those repeated later must stay
    MutableTransaction maker, spender;
    maker.inputs.emplace_back().prevout = TakeLive(pick).outpoint;
    maker.outputs.push_back({1, {0x51}});
    spender.inputs.emplace_back().prevout = {maker.Id(), 0};
    spender.outputs.push_back({0, {0x6a}});
    std::vector<std::pair<Bytes, TestOutput>> both = {{maker.Serialize(), {true, false, false}},
                                                      {spender.Serialize(), {}}};
    if (spent_before_made) std::swap(both[0], both[1]);
    for (const auto& [raw, output] : both) {
        txs.push_back(raw);
        m_outputs.back().push_back(output);
    }
}

void TestChain::EraseLive(const OutPoint& outpoint)
{
    for (size_t i = 0; i < m_live.size(); ++i) {
        if (m_live[i].outpoint != outpoint) continue;
        m_outputs[m_live[i].height - 1][m_live[i].index].overwritten = true;
        TakeLive(i);
        return;
    }
}

void TestChain::TakeOutputs(ByteSpan raw_tx, bool coinbase)
{
    const auto tx = Must(Transaction::Parse(raw_tx));
    auto& outputs = m_outputs.back();
    const auto height = static_cast<uint32_t>(m_outputs.size());
    for (uint32_t i = 0; i < tx->View().outputs.size(); ++i) {
        const OutputView& output = tx->View().outputs[i];
        const bool spendable = !IsUnspendable(output.script_pubkey);
        const OutPoint outpoint{tx->Id(), i};
        if (coinbase) EraseLive(outpoint);
        outputs.push_back({spendable, false, spendable});
        if (!spendable) continue;
        m_live.push_back({outpoint,
                          output.value,
                          {output.script_pubkey.begin(), output.script_pubkey.end()},
                          height,
                          coinbase,
                          outputs.size() - 1});
        Bytes value;
        AppendCoin(value, output.value, output.script_pubkey, height, coinbase);
        m_coins[CoinKeyBytes(outpoint)] = value;
    }
}

void TestChain::AddBlock(const TestChainOptions& options)
{
    const uint32_t height = Height() + 1;
    m_outputs.emplace_back();
    std::vector<Bytes> txs = {MakeCoinbase(height)};
    TakeOutputs(txs[0], true);
    const size_t spends = Below(options.txs_per_block + 1);
    for (size_t i = 0; i < spends; ++i) {
        if (Bytes raw = MakeSpend(); !raw.empty()) txs.push_back(std::move(raw));
    }
    if (height == options.chained_at) AddChained(txs, options.spent_before_made);
    uint32_t first = 0;
    if (Repeats(height, first)) {
        // An overwritten coinbase may have unspendable outputs too, which no map ever held.
        for (TestOutput& output : m_outputs[first - 1]) {
            const auto i = static_cast<size_t>(&output - m_outputs[first - 1].data());
            if (i < Must(Transaction::Parse(txs[0]))->View().outputs.size())
                output.overwritten = true;
        }
    }
    sim::BlockDraft block;
    for (const Bytes& tx : txs) {
        block.txs.push_back(MutableTransaction::FromView(Must(Transaction::Parse(tx))->View()));
    }
    block.header.version = 0x20000000;
    block.header.prev_hash = Tip().hash;
    block.header.time = Tip().time + 600;
    block.header.bits = m_params.genesis.header.bits;
    block.header.nonce = static_cast<uint32_t>(m_rng());
    block.FixRoot();
    m_raw.push_back(block.ToBytes());
    REQUIRE(m_tree->Insert(block.header, block.header.Hash()));
}

std::unique_ptr<BlockStore> TestChain::Store(Env& env, Logger& log, const Path& directory)
{
    std::filesystem::create_directories(directory);
    BlockStoreOptions options;
    options.blocks_dir = directory;
    options.magic = m_params.magic;
    options.max_file_size = 16 << 10;
    options.block_chunk = 4 << 10;
    auto store = Must(BlockStore::Open(env, log, options));
    std::vector<uint32_t> order;
    for (uint32_t h = 1; h <= Height(); ++h) order.push_back(h);
    std::shuffle(order.begin(), order.end(), m_rng);
    for (const uint32_t h : order) {
        HeaderNode* node = m_tree->BestHeader()->Ancestor(static_cast<int>(h));
        const uint32_t repeats = Below(8) ? 1 : 2;
        for (uint32_t i = 0; i < repeats; ++i) {
            const FilePos pos = Must(store->WriteBlock(Raw(h), h, node->time));
            node->file = pos.file;
            node->data_pos = pos.offset;
            node->status |= kHaveData;
        }
        if (Below(10) == 0) { // a stale block that the tree does not know
            Bytes stale(Raw(h).begin(), Raw(h).end());
            stale[76] ^= 1;
            Must(store->WriteBlock(stale, h, node->time));
        }
    }
    Must(store->Flush());
    return store;
}

TestChain::BlockSays TestChain::HintsOf(uint32_t height, HintsCounting counting) const
{
    BlockSays says;
    for (const TestOutput& output : m_outputs[height - 1]) {
        const bool counted = output.spendable && !output.overwritten;
        if (counting == HintsCounting::kSpendable && !counted) continue;
        if (output.unspent) says.unspent.push_back(says.outputs);
        ++says.outputs;
    }
    return says;
}

void TestChain::WriteHints(Env& env, const Path& path, HintsCounting counting) const
{
    const bool all = counting == HintsCounting::kAll;
    auto writer = all ? Must(MakeBitmapWriter(env, path))
                      : Must(MakeContainerWriter(env, path, m_params.magic));
    if (all) Must(writer->Add(0, 1, {}));
    for (uint32_t h = 1; h <= Height(); ++h) {
        const BlockSays says = HintsOf(h, counting);
        Must(writer->Add(h, says.outputs, says.unspent));
    }
    Must(writer->Finish(Tip().hash));
}

CoinMap ReadChainstate(const Path& directory, const BlockHash& best)
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    CoinsDbOptions options;
    options.directory = directory;
    const auto db = Must(CoinsDb::Open(*env, *log, options));
    REQUIRE(Must(db->BestBlock()) == best);
    REQUIRE(Must(db->HeadBlocks()).empty());
    REQUIRE_FALSE(db->Kv().Key().IsZero());
    CoinMap coins;
    auto cursor = db->Cursor();
    for (cursor.Seek(OutPoint{Txid(), 0}); cursor.Valid(); cursor.Next()) {
        const ByteSpan value = cursor.RawValue();
        coins[CoinKeyBytes(cursor.Key())] = {value.begin(), value.end()};
    }
    Must(cursor.Status());
    return coins;
}

} // namespace ibd::test

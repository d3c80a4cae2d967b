// Accounts of blocks: for any subset of a block's coins found in the table, the account and the
// other coins prove the rules exactly if BlockSpendRules accepts the block itself. The exceptions
// are a coin of another kind than its spend suggests, and a coin worth more than half of all money.
#include "join/block_account.h"

#include "consensus/sigops.h"
#include "random_block.h"
#include "support/must.h"

#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

/** Keeps the records of all pages. */
class KeptRecords final : public PageSink {
public:
    bool Add(uint32_t, ByteSpan page) override
    {
        while (!page.empty()) {
            const size_t size = ValueRecord::SizeOf(page);
            REQUIRE(size > 0);
            const ByteSpan record = page.first(size);
            if (ValueRecord::IsPiece(record.data())) {
                pieces.emplace(JoinRecord::IndexOf(JoinRecord::PlaceIn(record.data())),
                               ToBytes(record.subspan(ValueRecord::kHeadBytes)));
            } else {
                const ValueRecord coin = ValueRecord::At(record.data());
                coins.emplace(coin.spent_at, coin);
            }
            page = page.subspan(size);
        }
        return true;
    }
    Bytes Account() const
    {
        Bytes account;
        for (const auto& [number, piece] : pieces) Append(account, piece);
        return account;
    }
    std::vector<ValueRecord> Coins() const
    {
        std::vector<ValueRecord> out;
        for (const auto& [place, coin] : coins) out.push_back(coin);
        return out;
    }

    std::map<uint32_t, Bytes> pieces;
    std::map<uint64_t, ValueRecord> coins;

private:
    static Bytes ToBytes(ByteSpan span) { return Bytes(span.begin(), span.end()); }
};

MadeCoin CoinOf(const Coin& coin) { return {coin.value, SpendKindOf(coin.script), coin.coinbase}; }

/** The account of a block for which a join has found some of the coins. */
KeptRecords Leave(const HeaderNode& node, const ConsensusParams& params,
                  std::span<const TxView> txs, std::span<const Coin> coins, uint64_t known_of_ten)
{
    KeptRecords kept;
    const HeightRanges ranges(static_cast<uint32_t>(node.height));
    ValueCollector values(ranges, 1 << 16);
    values.SetSink(&kept);
    BlockAccount account(params, values, nullptr);
    int64_t legacy = 0;
    for (const TxView& tx : txs) legacy += LegacySigOpCount(tx.inputs, tx.outputs);
    account.Begin(node, txs, legacy);
    std::vector<std::pair<ValuedRecord, JoinRecord>> missing;
    for (uint32_t i = 0; i < coins.size(); ++i) {
        const ValuedRecord made{JoinRecord::Of({}, JoinKind::kCreated, coins[i].height, 0),
                                CoinOf(coins[i]).Number()};
        const JoinRecord spent =
            JoinRecord::Of({}, JoinKind::kSpent, static_cast<uint32_t>(node.height), 1 + i);
        if (TestRng().Below(10) < known_of_ten) {
            REQUIRE(account.Met(made, spent));
        } else {
            missing.emplace_back(made, spent);
        }
    }
    REQUIRE(account.End());
    for (const auto& [made, spent] : missing) REQUIRE(values.Met(made, spent));
    REQUIRE(values.Flush());
    return kept;
}

/** Whether a coin is none that its spend looks like, as far as accounts look. */
bool LooksOdd(const TxView& tx, std::span<const Coin> coins)
{
    for (size_t i = 0; i < coins.size(); ++i) {
        const SpendKind kind = SpendKindOf(coins[i].script);
        const bool in_witness = kind == SpendKind::kWitnessScriptHash;
        if (kind == SpendKind::kScriptHash && tx.inputs[i].witness_items == 0) return true;
        if (in_witness && tx.inputs[i].witness_items <= 2) return true;
    }
    return false;
}

bool IsRich(std::span<const Coin> coins)
{
    return std::any_of(coins.begin(), coins.end(),
                       [](const Coin& coin) { return coin.value > kMaxMoney / 4; });
}

} // namespace

TEST_CASE("A block's account says that it keeps the rules exactly when it does", "[account]")
{
    const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    const Branch branch;
    int kept = 0, broken = 0, unclear = 0;
    for (int round = 0; round < 8'000; ++round) {
        const RandomBlock block(params);
        const Frozen txs(block.txs);
        const uint64_t known_of_ten = std::array{0u, 3u, 7u, 10u}[TestRng().Below(4)];
        const KeptRecords left = Leave(branch.Tip(), params, txs.views, block.coins, known_of_ten);
        AccountCheck check(params);
        const Bytes account = left.Account();
        const auto coins = left.Coins();
        const bool keeps = Must(check.KeepsRules(branch.Tip(), account, coins));
        const bool is_broken = IsBroken(branch.Tip(), params, txs.views, block.coins);
        CAPTURE(round, known_of_ten, is_broken);
        REQUIRE_FALSE((keeps && is_broken));
        if (!keeps && !is_broken) {
            std::span<const Coin> spent = block.coins;
            bool odd = IsRich(spent);
            for (const TxView& tx : std::span(txs.views).subspan(1)) {
                odd = odd || LooksOdd(tx, spent.first(tx.inputs.size()));
                spent = spent.subspan(tx.inputs.size());
            }
            REQUIRE(odd);
            ++unclear;
        } else {
            ++(keeps ? kept : broken);
        }
    }
    CAPTURE(kept, broken, unclear);
    CHECK(kept > 1'000);
    CHECK(broken > 1'000);
    CHECK(unclear < 400);
}

TEST_CASE("An account that is cut off, or other coins than it wants, are no verdict", "[account]")
{
    const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    const Branch branch;
    int refused = 0;
    for (int round = 0; round < 60; ++round) {
        const RandomBlock block(params);
        const Frozen txs(block.txs);
        const KeptRecords left = Leave(branch.Tip(), params, txs.views, block.coins, 5);
        const Bytes account = left.Account();
        auto coins = left.Coins();
        AccountCheck check(params);
        for (size_t size = 0; size < account.size(); ++size) {
            const auto cut = check.KeepsRules(branch.Tip(), ByteSpan(account).first(size), coins);
            REQUIRE((!cut && cut.GetError().kind == Error::Kind::kBadData));
        }
        Bytes longer = account;
        longer.push_back(0);
        REQUIRE_FALSE(check.KeepsRules(branch.Tip(), longer, coins).Ok());
        if (coins.empty()) continue;
        coins.pop_back();
        REQUIRE_FALSE(check.KeepsRules(branch.Tip(), account, coins).Ok());
        ++refused;
    }
    CHECK(refused > 10);
}

TEST_CASE("A stand-in has as many signature operations as the script it stands for", "[account]")
{
    const ScriptFlags all = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    std::set<SpendKind> kinds;
    for (int round = 0; round < 2'000; ++round) {
        const RandomBlock block(params);
        const Frozen txs(block.txs);
        std::span<const Coin> coins = block.coins;
        for (const TxView& tx : std::span(txs.views).subspan(1)) {
            for (const InputView& input : tx.inputs) {
                const SpendKind kind = SpendKindOf(coins[0].script);
                kinds.insert(kind);
                REQUIRE(SpendKindOf(StandInScript(kind)) == kind);
                for (const ScriptFlags flags : {ScriptFlags{0}, ScriptFlags{kVerifyP2sh}, all}) {
                    const int64_t cost = SpendSigOpCost(input, coins[0].script, flags);
                    REQUIRE(SpendSigOpCost(input, StandInScript(kind), flags) == cost);
                    REQUIRE(cost <= MostSpendSigOpCost(input));
                }
                coins = coins.subspan(1);
            }
        }
    }
    CHECK(kinds.size() == 4);
}

TEST_CASE("Coins and their places come back from records", "[account]")
{
    for (int round = 0; round < 1'000; ++round) {
        auto& rng = TestRng();
        const auto height = static_cast<uint32_t>(rng.Below(JoinRecord::kMaxHeight + 1));
        const auto made = static_cast<uint32_t>(rng.Below(JoinRecord::kMaxHeight + 1));
        const auto index = static_cast<uint32_t>(rng.Below(JoinRecord::kMaxIndex + 1));
        const Amount value = rng.Chance(1, 4) ? kMaxMoney : static_cast<Amount>(rng() % kMaxMoney);
        const ValueRecord coin{JoinRecord::PlaceOf(height, index),
                               made,
                               {value, static_cast<SpendKind>(rng.Below(4)), rng.Chance(1, 2)}};
        std::array<uint8_t, ValueRecord::kCoinBytes> bytes{};
        coin.Write(bytes.data());
        REQUIRE(ValueRecord::SizeOf(bytes) == bytes.size());
        REQUIRE(ValueRecord::SizeOf(ByteSpan(bytes).first(bytes.size() - 1)) == 0);
        REQUIRE_FALSE(ValueRecord::IsPiece(bytes.data()));
        REQUIRE(JoinRecord::PlaceIn(bytes.data()) == coin.spent_at);
        const ValueRecord back = ValueRecord::At(bytes.data());
        REQUIRE(back.spent_at == coin.spent_at);
        REQUIRE(back.height == made);
        REQUIRE(back.coin.Number() == coin.coin.Number());
        REQUIRE(back.coin.value == value);
    }
}

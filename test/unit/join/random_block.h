// Random blocks that spend coins of every kind, near the limits of the rules about them, and the
// verdict of these rules on such a block.
#pragma once

#include "chain/header_node.h"
#include "consensus/block_spend.h"
#include "consensus/params.h"
#include "consensus/subsidy.h"
#include "primitives/transaction.h"
#include "script/opcodes.h"
#include "script/script.h"
#include "support/catch.h"
#include "support/testdata.h"

namespace ibd::test {

inline constexpr int kHeight = 300;

inline int Near(int value) { return value - 1 + static_cast<int>(TestRng().Below(3)); }

/** A branch of headers ten minutes apart. */
class Branch {
public:
    Branch() : m_nodes(kHeight + 1)
    {
        for (int height = 0; height <= kHeight; ++height) {
            HeaderNode& node = m_nodes[static_cast<size_t>(height)];
            node.height = height;
            node.time = 1'600'000'000 + static_cast<uint32_t>(height) * 600;
            node.prev = height > 0 ? &node - 1 : nullptr;
        }
    }
    const HeaderNode& Tip() const { return m_nodes.back(); }

private:
    std::vector<HeaderNode> m_nodes;
};

/** Transactions behind a coinbase, and the coins that they spend. */
struct RandomBlock {
    std::vector<MutableTransaction> txs;
    std::vector<Coin> coins;

    explicit RandomBlock(const ConsensusParams& params);

private:
    void AddInput(MutableTransaction& tx);
    void DrawSpend(MutableInput& input, Bytes& script);

    const size_t m_sigops = TestRng().Chance(1, 5) ? 1'000 : 1; //!< of a script that has most
};

inline RandomBlock::RandomBlock(const ConsensusParams& params)
{
    auto& rng = TestRng();
    MutableTransaction coinbase;
    coinbase.inputs.push_back({OutPoint(), {OP_1, OP_CHECKSIG}, 0xffffffff, {}});
    txs.push_back(coinbase);
    Amount fees = 0;
    for (uint64_t n = rng.Below(5); n > 0; --n) {
        MutableTransaction tx;
        tx.version = static_cast<uint32_t>(rng.Below(4));
        const size_t first = coins.size();
        for (uint64_t inputs = 1 + rng.Below(4); inputs > 0; --inputs) AddInput(tx);
        Amount value = 0;
        for (size_t i = first; i < coins.size(); ++i) value += coins[i].value;
        const Amount kept = rng.Chance(1, 10) ? -1 : static_cast<Amount>(rng.Below(50));
        const Amount half = value / 2;
        tx.outputs.push_back({std::min(half, kMaxMoney / 2), RandomBytes(rng.Below(30))});
        tx.outputs.push_back({std::clamp<Amount>(value - half - kept, 0, kMaxMoney / 2), {OP_1}});
        fees += value - tx.outputs[0].value - tx.outputs[1].value;
        txs.push_back(tx);
    }
    const Amount most = fees + BlockSubsidy(kHeight, params);
    const Amount over = rng.Chance(1, 10) ? 1 : 0;
    txs[0].outputs.push_back({std::clamp<Amount>(most + over, 0, kMaxMoney), {OP_1}});
}

inline void RandomBlock::AddInput(MutableTransaction& tx)
{
    auto& rng = TestRng();
    MutableInput input{{Txid(Sha256Of(RandomBytes(8))), 0}, {}, 0xffffffff, {}};
    Coin coin;
    const int age =
        rng.Chance(1, 2) ? Near(kCoinbaseMaturity) : static_cast<int>(rng.Below(kHeight));
    coin.height = static_cast<uint32_t>(kHeight - age);
    coin.coinbase = rng.Chance(1, 4) && (age >= kCoinbaseMaturity || rng.Chance(1, 10));
    coin.value = rng.Chance(1, 200) ? kMaxMoney : static_cast<Amount>(rng.Below(1'000));
    if (rng.Chance(1, 3)) {
        const bool by_time = rng.Chance(1, 2);
        const int blocks = rng.Chance(1, 3) ? Near(age) : static_cast<int>(rng.Below(20));
        const auto amount = static_cast<uint32_t>(std::max(blocks, 0));
        input.sequence = by_time ? kSequenceTypeFlag | amount * 600 / 512 : amount;
        if (rng.Chance(1, 10)) input.sequence |= kSequenceDisableFlag;
    }
    Bytes script;
    DrawSpend(input, script);
    coin.script.Assign(script);
    tx.inputs.push_back(std::move(input));
    coins.push_back(std::move(coin));
}

/** A script of every kind whose signature operations are counted. */
inline void RandomBlock::DrawSpend(MutableInput& input, Bytes& script)
{
    const Bytes many(1 + TestRng().Below(m_sigops), OP_CHECKMULTISIG);
    const auto program = [](size_t size) {
        Bytes out = {OP_0, static_cast<uint8_t>(size)};
        Append(out, RandomBytes(size));
        return out;
    };
    Bytes p2sh = {OP_HASH160, 20};
    Append(p2sh, RandomBytes(20));
    p2sh.push_back(OP_EQUAL);
    switch (TestRng().Below(7)) {
    case 0: script = {OP_DUP, OP_CHECKSIG}; break;
    case 1: script = program(20); break;
    case 2:
        script = program(32);
        input.witness = {{1}, many};
        break;
    case 3:
        script = p2sh;
        AppendPush(input.script_sig, many);
        break;
    case 4:
        script = p2sh;
        AppendPush(input.script_sig, program(32));
        input.witness = {many};
        break;
    case 5:
        script = p2sh;
        AppendPush(input.script_sig, program(20));
        break;
    default:
        script = RandomBytes(TestRng().Below(40));
        input.script_sig = RandomBytes(TestRng().Below(40));
    }
}

/** The verdict of the rules on the block itself. */
inline bool IsBroken(const HeaderNode& node, const ConsensusParams& params,
                     std::span<const TxView> txs, std::span<const Coin> coins)
{
    const NodeAncestry prev(node.prev);
    BlockSpendRules rules(node.height, node.hash, prev, params);
    for (const TxView& tx : txs) {
        const size_t inputs = tx.IsCoinbase() ? 0 : tx.inputs.size();
        if (rules.Add(tx, coins.first(inputs))) return true;
        coins = coins.subspan(inputs);
    }
    return rules.CheckCoinbaseValue(txs[0]).has_value();
}

/** Frozen transactions and views of them. */
struct Frozen {
    explicit Frozen(const std::vector<MutableTransaction>& txs)
    {
        for (const MutableTransaction& tx : txs) owners.push_back(tx.Freeze());
        for (const TransactionRef& owner : owners) views.push_back(owner->View());
    }
    std::vector<TransactionRef> owners;
    std::vector<TxView> views;
};

} // namespace ibd::test

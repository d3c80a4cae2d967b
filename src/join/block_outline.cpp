// See block_outline.h.
#include "join/block_outline.h"

#include "consensus/block_spend.h"
#include "consensus/sigops.h"
#include "storage/undo.h"

#include <algorithm>
#include <numeric>

namespace ibd {

void BlockOutline::TakeCounts(std::span<const TxView> txs)
{
    m_complete = false;
    m_txs.clear();
    for (const TxView& tx : txs.subspan(1)) {
        m_txs.push_back({.inputs = static_cast<uint32_t>(tx.inputs.size())});
    }
}

void BlockOutline::TakeAll(std::span<const TxView> txs)
{
    TakeCounts(txs);
    m_complete = true;
    m_coinbase_value = ValueOut(txs[0]);
    m_sigop_cost = MostSigOpCost(txs[0]);
    m_sequences.clear();
    for (size_t i = 0; i < m_txs.size(); ++i) {
        const TxView& tx = txs[i + 1];
        m_txs[i].value_out = ValueOut(tx);
        m_sigop_cost += MostSigOpCost(tx);
        m_txs[i].locked = HasRelativeLock(tx);
        if (!m_txs[i].locked) continue;
        for (const InputView& input : tx.inputs) m_sequences.push_back(input.sequence);
    }
}

void BlockOutline::Encode(Bytes& out) const
{
    Writer writer(out);
    writer.CompactSize(m_txs.size());
    for (const Tx& tx : m_txs) writer.CompactSize(tx.inputs);
    if (!m_complete) return;
    writer.VarInt(static_cast<uint64_t>(m_coinbase_value));
    writer.VarInt(static_cast<uint64_t>(m_sigop_cost));
    for (const Tx& tx : m_txs) {
        writer.VarInt(static_cast<uint64_t>(tx.value_out) << 1 | uint64_t{tx.locked});
    }
    for (const uint32_t sequence : m_sequences) writer.U32(sequence);
}

bool BlockOutline::Decode(ByteSpan encoded)
{
    Reader reader(encoded);
    m_txs.resize(reader.Count(1));
    for (Tx& tx : m_txs) tx = {.inputs = static_cast<uint32_t>(reader.CompactSize())};
    m_complete = reader.Ok() && reader.Remaining() > 0;
    if (!m_complete) return reader.Ok();
    m_coinbase_value = static_cast<Amount>(reader.VarInt());
    m_sigop_cost = static_cast<int64_t>(reader.VarInt());
    uint64_t sequences = 0;
    bool in_range = MoneyRange(m_coinbase_value);
    for (Tx& tx : m_txs) {
        const uint64_t value = reader.VarInt();
        tx.value_out = static_cast<Amount>(value >> 1);
        tx.locked = value & 1;
        in_range = in_range && MoneyRange(tx.value_out);
        if (tx.locked) sequences += tx.inputs;
    }
    if (!in_range || sequences * sizeof(uint32_t) != reader.Remaining()) return false;
    m_sequences.resize(sequences);
    for (uint32_t& sequence : m_sequences) sequence = reader.U32();
    return reader.AtEnd();
}

uint64_t BlockOutline::Inputs() const
{
    return std::accumulate(m_txs.begin(), m_txs.end(), uint64_t{0},
                           [](uint64_t sum, const Tx& tx) { return sum + tx.inputs; });
}

/** Runs the code of the rules on stand-in transactions, which are equal in everything that this
 *  code reads, except signature operations: the stand-ins have none. The block's upper bound of
 *  these was counted before. */
bool BlockOutline::KeepsRules(const HeaderNode& node, const ConsensusParams& params,
                              std::span<const ByteSpan> spent)
{
    if (!m_complete || m_sigop_cost > kMaxBlockSigOpsCost) return false;
    const NodeAncestry prev(node.prev);
    BlockSpendRules rules(node.height, node.hash, prev, params);
    std::span<const uint32_t> sequences = m_sequences;
    for (const Tx& tx : m_txs) {
        const size_t locks = tx.locked ? tx.inputs : 0;
        if (!ViewCoins(spent.first(tx.inputs))) return false;
        const TxView stand_in = m_stand_in.Of(tx.inputs, sequences.first(locks), tx.value_out);
        if (rules.Add(stand_in, m_coins)) return false;
        spent = spent.subspan(tx.inputs);
        sequences = sequences.subspan(locks);
    }
    return !rules.CheckCoinbaseValue(m_stand_in.Coinbase(m_coinbase_value));
}

/** Views the coins without their scripts. */
bool BlockOutline::ViewCoins(std::span<const ByteSpan> spent)
{
    m_coins.clear();
    Coin coin;
    for (const ByteSpan bytes : spent) {
        Reader in(bytes);
        if (!ReadSpentCoinHead(in, coin)) return false;
        m_coins.push_back({coin.value, {}, static_cast<int>(coin.height), coin.coinbase});
    }
    return true;
}

} // namespace ibd

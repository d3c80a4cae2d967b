// See fold.h.
#include "swiftsync/fold.h"

#include "script/coin.h"

#include <algorithm>

namespace ibd {

namespace {

/** Walks the hinted indices together with the numbered outputs. */
class HintCursor {
public:
    explicit HintCursor(const BlockHints& hints) : m_hints(hints) {}

    /** Whether the next output is hinted unspent. */
    bool Next()
    {
        const uint32_t index = m_index++;
        if (m_next == m_hints.unspent.size() || m_hints.unspent[m_next] != index) return false;
        ++m_next;
        return true;
    }
    uint64_t Counted() const { return m_index; }
    bool AllUsed() const { return m_next == m_hints.unspent.size(); }

private:
    const BlockHints& m_hints;
    uint32_t m_index = 0;
    size_t m_next = 0;
};

Error MarksUnspendable(uint32_t height, const TxView& tx, size_t vout)
{
    return BadData("hints mark the unspendable output {}:{} of block {} as unspent",
                   tx.txid.ToHex(), vout, height);
}

/** Finds the coins; passes the other outputs to `spent_one_day(tx, vout)`. */
template <typename SpentOneDay>
Result<> FoldOutputs(std::span<const TxView> txs, uint32_t height, const BlockHints& hints,
                     const FoldRules& rules, BlockDelta& out, SpentOneDay spent_one_day)
{
    HintCursor cursor(hints);
    const bool all = rules.counting == HintsCounting::kAll;
    const bool overwritten = rules.IsOverwritten(height);
    out.coins.clear();
    out.coin_value = 0;
    for (size_t t = 0; t < txs.size(); ++t) {
        const TxView& tx = txs[t];
        const bool coinbase = t == 0;
        for (size_t i = 0; i < tx.outputs.size(); ++i) {
            const auto vout = static_cast<uint32_t>(i);
            if (coinbase && overwritten) {
                if (all) cursor.Next(); // ignored: programs that make bitmaps set it differently
            } else if (IsUnspendable(tx.outputs[i].script_pubkey)) {
                if (all && cursor.Next()) return MarksUnspendable(height, tx, i);
            } else if (cursor.Next()) {
                out.coins.push_back({&tx, vout, coinbase});
                out.coin_value =
                    SaturatingAdd(out.coin_value, static_cast<uint64_t>(tx.outputs[i].value));
            } else {
                spent_one_day(tx, vout);
            }
        }
    }
    if (hints.outputs && cursor.Counted() != *hints.outputs) {
        return BadData("hints give {} outputs for block {}, but it has {}", *hints.outputs, height,
                       cursor.Counted());
    }
    if (!cursor.AllUsed()) {
        return BadData("hints mark output {} of block {} as unspent, but it has {}",
                       hints.unspent.back(), height, cursor.Counted());
    }
    out.counted_outputs = cursor.Counted();
    out.hinted_unspent = hints.unspent.size();
    return {};
}

} // namespace

bool FoldRules::IsOverwritten(uint32_t height) const
{
    return std::find(overwritten_heights.begin(), overwritten_heights.end(), height) !=
           overwritten_heights.end();
}

Uint256 FoldRulesId(const FoldRules& rules, uint32_t unique_below, const ConsensusParams& params)
{
    Bytes all;
    Writer writer(all);
    writer.U32(kFoldRulesVersion);
    writer.U8(static_cast<uint8_t>(rules.counting));
    writer.U32(unique_below);
    writer.CompactSize(rules.overwritten_heights.size());
    for (const uint32_t height : rules.overwritten_heights) writer.U32(height);
    for (const int number :
         {params.subsidy_halving_interval, params.bip34_height, params.bip65_height,
          params.bip66_height, params.csv_height, params.segwit_height}) {
        writer.U32(static_cast<uint32_t>(number));
    }
    for (const Bip9Deployment& deployment : params.deployments) {
        writer.I64(deployment.start_time);
        writer.I64(deployment.timeout);
        writer.U32(static_cast<uint32_t>(deployment.min_activation_height));
    }
    for (const auto& [block, flags] : params.script_flag_exceptions) {
        writer.Hash(block);
        writer.U32(static_cast<uint32_t>(flags));
    }
    writer.VarBytes(params.signet_challenge);
    return Uint256(Sha256Of(all));
}

void BlockDelta::SpendCoins()
{
    spent.Reset(coins.size());
    for (const SurvivingCoin& coin : coins) spent.Add(coin.tx->txid, coin.vout);
}

Result<> Fold(const BlockView& block, uint32_t height, const BlockHints& hints,
              const FoldRules& rules, BlockDelta& out)
{
    out.created.Reset(block.Outputs().size());
    out.spent.Reset(block.Inputs().size());
    const size_t coinbase_inputs = block.Txs().empty() ? 0 : block.Txs()[0].inputs.size();
    for (const InputView& input : block.Inputs().subspan(coinbase_inputs)) {
        out.spent.Add(input.prevout_bytes);
    }
    out.inputs = out.spent.size();
    return FoldOutputs(block.Txs(), height, hints, rules, out,
                       [&](const TxView& tx, uint32_t vout) { out.created.Add(tx.txid, vout); });
}

Result<> FoldCoins(std::span<const TxView> txs, uint32_t height, const BlockHints& hints,
                   const FoldRules& rules, BlockDelta& out)
{
    CHECK(rules.counting == HintsCounting::kSpendable);
    out.created.Reset(0);
    out.spent.Reset(0);
    out.inputs = 0;
    for (const TxView& tx : txs.subspan(1)) out.inputs += tx.inputs.size();
    return FoldOutputs(txs, height, hints, rules, out, [](const TxView&, uint32_t) {});
}

} // namespace ibd

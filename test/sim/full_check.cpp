// See full_check.h.
#include "sim/full_check.h"

#include "consensus/block_check.h"
#include "consensus/limits.h"
#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "consensus/subsidy.h"
#include "consensus/tx_verify.h"
#include "script/script.h"
#include "script/verify.h"

namespace ibd::sim {

HeaderFacts FullCheck::At(int height) const
{
    const BlockHeader& header = m_headers[static_cast<size_t>(height)];
    return {header.version, header.time, header.bits};
}

BlockHash FullCheck::HashAt(int height) const { return m_hashes[static_cast<size_t>(height)]; }

void FullCheck::AddHeader(const BlockHeader& header)
{
    m_headers.push_back(header);
    m_hashes.push_back(header.Hash());
}

std::string FullCheck::CheckRules(const BlockView& block) const
{
    constexpr int64_t kNow = 2'000'000'000;
    if (block.Header().prev_hash != m_hashes.back()) return "prev-blk-not-found";
    const ConsensusParams& rules = m_params.consensus;
    if (const auto bad = CheckBlock(block, rules)) return bad->ToString();
    if (const auto bad = ContextualCheckBlockHeader(block.Header(), *this, rules, kNow)) {
        return bad->ToString();
    }
    if (const auto bad = ContextualCheckBlock(block, *this, rules)) return bad->ToString();
    return {};
}

std::string FullCheck::Connect(ByteSpan raw)
{
    BlockView view;
    if (const auto parsed = view.Parse(raw); !parsed.Ok()) return parsed.Message();
    if (std::string bad = CheckRules(view); !bad.empty()) return bad;
    m_connecting = view.Hash();
    const int height = Height() + 1;
    const ScriptFlags flags = BlockScriptFlags(height, m_connecting, m_params.consensus);
    Amount fees = 0;
    int64_t sigops = 0;
    for (const TxView& tx : view.Txs()) {
        std::string bad = ConnectTx(tx, height, flags, fees, sigops);
        if (!bad.empty()) return bad;
    }
    if (sigops > kMaxBlockSigOpsCost) return "bad-blk-sigops";
    if (ValueOut(view.Txs()[0]) > BlockSubsidy(height, m_params.consensus) + fees) {
        return "bad-cb-amount";
    }
    AddHeader(view.Header());
    return {};
}

std::string FullCheck::ConnectTx(const TxView& tx, int height, ScriptFlags flags, Amount& fees,
                                 int64_t& sigops)
{
    if (tx.IsCoinbase()) {
        sigops += TransactionSigOpCost(tx, {}, flags);
        return AddOutputs(tx, height);
    }
    std::vector<CheckedCoin> coins;
    for (const InputView& input : tx.inputs) {
        const auto found = m_coins.find(input.Prevout());
        if (found == m_coins.end()) return MissingInputs(tx).ToString();
        coins.push_back(found->second);
        m_coins.erase(found);
    }
    m_inputs += coins.size();
    std::string bad = CheckSpends(tx, coins, height, flags, fees, sigops);
    return bad.empty() ? AddOutputs(tx, height) : bad;
}

std::string FullCheck::CheckSpends(const TxView& tx, const std::vector<CheckedCoin>& coins,
                                   int height, ScriptFlags flags, Amount& fees,
                                   int64_t& sigops) const
{
    std::vector<ibd::SpentCoin> spent;
    std::vector<int> heights;
    for (const CheckedCoin& coin : coins) {
        spent.push_back({coin.value, coin.script_pubkey, coin.height, coin.is_coinbase});
        heights.push_back(coin.height);
    }
    Amount fee = 0;
    if (const auto bad = CheckTxInputs(tx, spent, height, fee)) return bad->ToString();
    const SequenceLocks locks = CalculateSequenceLocks(tx, true, heights, *this);
    if (!EvaluateSequenceLocks(locks, height, MedianTimePast(Height()))) return "bad-txns-nonfinal";
    fees += fee;
    sigops += TransactionSigOpCost(tx, spent, flags);
    return CheckScripts(tx, coins, flags);
}

std::string FullCheck::CheckScripts(const TxView& tx, const std::vector<CheckedCoin>& coins,
                                    ScriptFlags flags) const
{
    std::vector<ibd::SpentOutput> spent;
    for (const CheckedCoin& coin : coins) spent.push_back({coin.value, coin.script_pubkey});
    const TxHashes hashes(tx, spent);
    for (size_t i = 0; i < spent.size(); ++i) {
        if (VerifyInput(tx, i, spent[i], hashes, flags) != ScriptError::kOk) {
            return "block-script-verify-flag-failed, " + tx.txid.ToHex();
        }
    }
    return {};
}

std::string FullCheck::AddOutputs(const TxView& tx, int height)
{
    const bool bip30 = Bip30Enforced(height, m_connecting, BlockHash(), m_params.consensus);
    for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
        const ByteSpan script = tx.outputs[i].script_pubkey;
        const uint64_t number = m_outputs++;
        if (bip30 && m_coins.contains({tx.txid, i})) return "bad-txns-BIP30";
        if (script.size() > kMaxScriptSize || (!script.empty() && script[0] == 0x6a)) continue;
        m_coins[{tx.txid, i}] = {tx.outputs[i].value, Bytes(script.begin(), script.end()), height,
                                 tx.IsCoinbase(), number};
    }
    return {};
}

} // namespace ibd::sim

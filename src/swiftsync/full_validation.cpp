// See full_validation.h.
#include "swiftsync/full_validation.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"
#include "script/script.h"
#include "util/endian.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ibd {

namespace {

Error UnfitUndo(const HeaderNode& node, std::string_view what)
{
    return BadData("undo data of block {} at height {}: {}", node.hash.ToHex(), node.height, what);
}

/** Checks that each input has a coin and each coin a height: records written by Core before 0.15
 *  lack heights, and no coin is from the genesis block. */
const char* Misfit(const BlockView& block, const BlockUndo& undo)
{
    if (undo.txs.size() + 1 != block.Txs().size()) return "its number of transactions is another";
    for (size_t t = 0; t < undo.txs.size(); ++t) {
        const std::vector<Coin>& spent = undo.txs[t].spent;
        if (spent.size() != block.Txs()[t + 1].inputs.size())
            return "its number of inputs is another";
        const auto no_height = [](const Coin& coin) { return coin.height == 0; };
        if (std::any_of(spent.begin(), spent.end(), no_height)) return "coins have no height";
    }
    return nullptr;
}

/** The most bytes that one signature hash of the transaction takes, apart from the script code. */
uint64_t MostSigHashBytes(const TxView& tx)
{
    uint64_t scripts = 0;
    for (const InputView& input : tx.inputs) scripts += input.script_sig.size();
    return tx.stripped_size - scripts;
}

/** Whether the scripts of the coins could check too many signatures, or hash too many bytes for
 *  them. The scripts in the block itself are its own, and rules bound them. */
bool CostsTooMuch(const BlockView& block, const BlockUndo& undo)
{
    constexpr unsigned kMaxOps = kMaxOpsPerScript; // the keys of CHECKMULTISIG included
    uint64_t checks = 0, bytes = 0;
    for (size_t t = 0; t < undo.txs.size(); ++t) {
        const uint64_t hash_bytes = MostSigHashBytes(block.Txs()[t + 1]);
        for (const Coin& coin : undo.txs[t].spent) {
            const unsigned own = std::min(CountSigOps(coin.script, true), kMaxOps);
            checks += own;
            bytes += own * (hash_bytes + coin.script.size());
        }
    }
    return checks > FullValidation::kMaxClaimedChecks ||
           bytes > FullValidation::kMaxClaimedHashBytes;
}

RuleViolation NotThere(const TxView& tx, const InputView& input, const Coin& coin)
{
    const OutPoint prevout = input.Prevout();
    return Invalid("bad-txns-inputs-missingorspent",
                   fmt::format("{} spends {}:{}, created at height {}, before its creation",
                               tx.txid.ToHex(), prevout.txid.ToHex(), prevout.vout, coin.height));
}

} // namespace

Result<const HeaderNode*> FirstWithoutUndo(Env& env, const BlockStore& blocks,
                                           const HeaderNode& terminal)
{
    const HeaderNode* lowest = nullptr;
    std::map<int32_t, bool> exists;
    for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
        const auto [file, first] = exists.try_emplace(node->file, false);
        if (first) {
            IBD_ASSIGN_OR_RETURN(file->second, env.IsThere(blocks.UndoPath(node->file)));
        }
        if (!node->HasUndo() || !file->second) lowest = node;
    }
    return lowest;
}

RuleVerdict FullValidation::Check(const BlockView& block, const HeaderNode& node,
                                  std::vector<Coin>* claimed)
{
    if (auto broken = CheckBlock(block, m_params.consensus)) return broken;
    if (node.prev != nullptr) { // genesis is exempt from rules: see ChainManager::Check
        const NodeAncestry prev(node.prev);
        if (auto broken = ContextualCheckBlock(block, prev, m_params.consensus)) {
            return broken;
        }
    }
    if (claimed) return CheckClaimed(block, node, *claimed);
    IBD_RETURN_IF_ERROR(ReadUndo(block, node));
    RuleResult broken = CheckRules(block, node);
    if (broken) broken->detail += " (with the coins of its undo data)";
    return broken;
}

RuleResult FullValidation::CheckClaimed(const BlockView& block, const HeaderNode& node,
                                        std::vector<Coin>& claimed)
{
    using Kind = RuleViolation::Kind;
    if (claimed.size() != block.Inputs().size() - 1) { // without the coinbase's
        return Violation(Kind::kSpentCoins, "bad-spent-coins",
                         fmt::format("{} coins, and its number of inputs is {}", claimed.size(),
                                     block.Inputs().size() - 1));
    }
    auto next = std::make_move_iterator(claimed.begin());
    m_undo.txs.resize(block.Txs().size() - 1);
    for (size_t t = 0; t < m_undo.txs.size(); ++t) {
        const auto count = static_cast<ptrdiff_t>(block.Txs()[t + 1].inputs.size());
        m_undo.txs[t].spent.assign(next, next + count);
        next += count;
    }
    if (const char* misfit = Misfit(block, m_undo)) {
        return Violation(Kind::kSpentCoins, "bad-spent-coins", misfit);
    }
    if (CostsTooMuch(block, m_undo)) {
        return Violation(Kind::kSpentCoins, "bad-spent-coins", "their scripts cost too much");
    }
    RuleResult broken = CheckRules(block, node);
    if (broken) {
        broken->kind = Kind::kSpentCoins;
        broken->detail += " (with the coins that its sender claims)";
    }
    return broken;
}

Result<> FullValidation::ReadUndo(const BlockView& block, const HeaderNode& node)
{
    IBD_ASSIGN_OR_RETURN(
        m_undo, m_blocks.ReadBlockUndo({node.file, node.undo_pos}, node.PrevHash()));
    if (const char* misfit = Misfit(block, m_undo)) return UnfitUndo(node, misfit);
    return {};
}

std::span<const Coin> FullValidation::SpentBy(size_t tx) const
{
    return tx == 0 ? std::span<const Coin>() : m_undo.txs[tx - 1].spent;
}

RuleResult FullValidation::CheckRules(const BlockView& block, const HeaderNode& node)
{
    IBD_RETURN_IF_VIOLATED(CheckOrigins(block, static_cast<uint32_t>(node.height)));
    const NodeAncestry prev(node.prev);
    BlockSpendRules rules(node.height, node.hash, prev, m_params.consensus);
    const auto txs = block.Txs();
    for (size_t t = 0; t < txs.size(); ++t) {
        IBD_RETURN_IF_VIOLATED(rules.Add(txs[t], SpentBy(t)));
    }
    IBD_RETURN_IF_VIOLATED(rules.CheckCoinbaseValue(txs[0]));
    m_scripts.Begin(rules.Flags(), node.height <= m_known_height);
    for (size_t t = 1; t < txs.size(); ++t) { // last, as scripts take longest
        IBD_RETURN_IF_VIOLATED(CheckScripts(txs[t], SpentBy(t)));
    }
    return m_scripts.Finish();
}

RuleResult FullValidation::CheckOrigins(const BlockView& block, uint32_t height)
{
    m_by_txid.clear();
    for (size_t t = 1; t < block.Txs().size(); ++t) {
        const TxView& tx = block.Txs()[t];
        for (size_t i = 0; i < tx.inputs.size(); ++i) {
            const Coin& coin = SpentBy(t)[i];
            if (coin.height < height) continue; // the aggregate proves that the coin existed
            if (coin.height > height) return NotThere(tx, tx.inputs[i], coin);
            const auto maker = IndexOf(block, tx.inputs[i].Prevout().txid);
            if (!maker || *maker >= t) return NotThere(tx, tx.inputs[i], coin);
        }
    }
    return std::nullopt;
}

std::optional<size_t> FullValidation::IndexOf(const BlockView& block, const Txid& txid)
{
    const auto txs = block.Txs();
    if (m_by_txid.empty()) {
        m_by_txid.resize(txs.size());
        std::iota(m_by_txid.begin(), m_by_txid.end(), 0u);
        std::sort(m_by_txid.begin(), m_by_txid.end(), [&](uint32_t a, uint32_t b) {
            return txs[a].txid != txs[b].txid ? txs[a].txid < txs[b].txid : a < b;
        });
    }
    const auto found =
        std::lower_bound(m_by_txid.begin(), m_by_txid.end(), txid,
                         [&](uint32_t at, const Txid& wanted) { return txs[at].txid < wanted; });
    if (found == m_by_txid.end() || txs[*found].txid != txid) return std::nullopt;
    return *found;
}

RuleResult FullValidation::CheckScripts(const TxView& tx, std::span<const Coin> spent)
{
    m_outputs.clear();
    for (const Coin& coin : spent) m_outputs.push_back({coin.value, coin.script});
    return m_scripts.Add(tx, m_outputs);
}

ByteSpan FullValidation::Message(const uint8_t* outpoint, uint32_t height, bool coinbase,
                                 Amount value, ByteSpan script)
{
    // All fields but the script; makes the encoding of coins unambiguous.
    constexpr size_t kFixed = 36 + 4 + 8;
    m_message.resize(kFixed + script.size());
    std::memcpy(m_message.data(), outpoint, 36);
    WriteLE32(m_message.data() + 36, height * 2 + coinbase);
    WriteLE64(m_message.data() + 40, static_cast<uint64_t>(value));
    std::copy(script.begin(), script.end(), m_message.begin() + kFixed);
    return m_message;
}

void FullValidation::AddTo(Aggregate& sum, const BlockView& block, uint32_t height,
                           const BlockDelta& delta, const FoldRules& rules)
{
    const bool overwritten = rules.IsOverwritten(height);
    auto survivor = delta.coins.begin(); // in block order
    uint8_t outpoint[36];
    for (size_t t = 0; t < block.Txs().size(); ++t) {
        const TxView& tx = block.Txs()[t];
        std::memcpy(outpoint, tx.txid.data(), 32);
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (survivor != delta.coins.end() && survivor->tx == &tx && survivor->vout == i) {
                ++survivor;
                continue;
            }
            const OutputView& output = tx.outputs[i];
            if ((t == 0 && overwritten) || IsUnspendable(output.script_pubkey)) continue;
            WriteLE32(outpoint + 32, i);
            sum.AddCreatedCoin(
                Message(outpoint, height, t == 0, output.value, output.script_pubkey));
        }
        for (size_t i = 0; i < SpentBy(t).size(); ++i) {
            const Coin& coin = SpentBy(t)[i];
            sum.AddSpentCoin(Message(tx.inputs[i].prevout_bytes, coin.height, coin.coinbase,
                                     coin.value, coin.script));
        }
    }
    CHECK(survivor == delta.coins.end());
}

} // namespace ibd

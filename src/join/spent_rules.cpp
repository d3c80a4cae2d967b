// See spent_rules.h.
#include "join/spent_rules.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"
#include "util/found.h"

namespace ibd {

Found<std::string> SpentRules::Check(const HeaderNode& node, const PlainBlock& block,
                                     std::span<const ByteSpan> spent)
{
    if (m_options.checks == UndoChecks::kNone) return std::nullopt;
    if (m_options.checks == UndoChecks::kRules) {
        IBD_ASSIGN_OR_RETURN(const RuleResult broken, Run(node, block.Txs(), spent));
        if (!broken) return std::nullopt;
    }
    // Runs again after a broken rule to name the transaction, because the first run computes no
    // txids.
    IBD_ASSIGN_OR_RETURN(const RuleResult broken, RunAll(node, block, spent));
    CHECK(broken || m_options.checks == UndoChecks::kScripts);
    if (!broken) return std::nullopt;
    return std::optional(fmt::format("block {} at height {}: {}", node.hash.ToHex(), node.height,
                                     broken->ToString()));
}

/** Also runs the rules that need no coins. Damaged bytes do not make a block invalid: they are a
 *  system error. */
RuleVerdict SpentRules::RunAll(const HeaderNode& node, const PlainBlock& block,
                               std::span<const ByteSpan> spent)
{
    IBD_RETURN_IF_ERROR(m_view.Parse(block.Raw()));
    RuleResult broken = CheckBlock(m_view, m_params.consensus);
    if (!broken) {
        broken = ContextualCheckBlock(m_view, NodeAncestry(node.prev), m_params.consensus);
    }
    if (!broken) return Run(node, m_view.Txs(), spent);
    if (!IsMutated(broken)) return broken;
    const Error damage = m_store.DamagedBlock({node.file, node.data_pos}, node.hash, node.height,
                                              broken->ToString());
    return Error{damage.message, Error::Kind::kSystem};
}

/** Keeps the serial engine's order: scripts are reported last, as they run in parallel there. */
RuleVerdict SpentRules::Run(const HeaderNode& node, std::span<const TxView> txs,
                            std::span<const ByteSpan> spent)
{
    const NodeAncestry prev(node.prev);
    BlockSpendRules rules(node.height, node.hash, prev, m_params.consensus);
    RuleResult bad_script;
    m_scripts.Begin(rules.Flags(), node.height <= m_options.known_height);
    for (const TxView& tx : txs) {
        const size_t inputs = &tx == txs.data() ? 0 : tx.inputs.size();
        IBD_RETURN_IF_ERROR(View(spent.first(inputs)));
        spent = spent.subspan(inputs);
        if (auto broken = rules.Add(tx, m_views)) {
            return RuleResult(NameInput(std::move(*broken), tx, node.height));
        }
        if (m_options.checks == UndoChecks::kScripts && inputs > 0 && !bad_script) {
            bad_script = RunScripts(tx);
        }
    }
    if (auto broken = rules.CheckCoinbaseValue(txs[0])) return broken;
    return bad_script ? bad_script : m_scripts.Finish();
}

/** Long scripts are not copied: a block can spend 244 MB of them. */
Result<> SpentRules::View(std::span<const ByteSpan> spent)
{
    if (m_coins.size() < spent.size()) m_coins.resize(spent.size());
    m_views.clear();
    for (size_t i = 0; i < spent.size(); ++i) {
        Reader in(spent[i]);
        Coin& coin = m_coins[i];
        const std::optional<ByteSpan> script = ViewSpentCoin(in, coin);
        if (!script) return BadData("a spilled coin is malformed");
        m_views.push_back({coin.value, *script, static_cast<int>(coin.height), coin.coinbase});
    }
    return {};
}

/** Uses the coins of View(). */
RuleResult SpentRules::RunScripts(const TxView& tx)
{
    m_outputs.clear();
    for (const SpentCoin& coin : m_views) m_outputs.push_back({coin.value, coin.script_pubkey});
    return m_scripts.Add(tx, m_outputs);
}

/** Adds the input that breaks a rule about coinbase maturity. */
RuleViolation SpentRules::NameInput(RuleViolation violation, const TxView& tx, int height) const
{
    if (violation.reason != "bad-txns-premature-spend-of-coinbase") return violation;
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        const Coin& coin = m_coins[i];
        if (!coin.coinbase || height - static_cast<int>(coin.height) >= kCoinbaseMaturity) continue;
        const OutPoint prevout = tx.inputs[i].Prevout();
        violation.detail += fmt::format(", input {}, spending {}:{} of height {}", i,
                                        prevout.txid.ToHex(), prevout.vout, coin.height);
        break;
    }
    return violation;
}

} // namespace ibd

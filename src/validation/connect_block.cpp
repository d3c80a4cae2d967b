// See connect_block.h. Order of the checks and reject reasons are Core's.
#include "validation/connect_block.h"

#include "consensus/block_spend.h"
#include "consensus/script_flags.h"

namespace ibd {

namespace {

Coin MakeCoin(const OutputView& output, int height, bool coinbase)
{
    return {output.value, ScriptBytes(output.script_pubkey), static_cast<uint32_t>(height),
            coinbase};
}

/** The condition for searching a block's transactions among the existing coins (BIP30). */
enum class Bip30Check {
    kNever,
    kFirst,
    /** Where BIP34 holds from the first block on, every coinbase begins with its own height. So no
     *  transaction id occurs twice on a branch, and a valid block needs no search. For an invalid
     *  block the reason must be the one that Core finds first. */
    kIfInvalid,
};

Bip30Check Bip30CheckFor(const HeaderNode& node, const ConsensusParams& params)
{
    const HeaderNode* at_bip34 = node.prev->Ancestor(params.bip34_height);
    const BlockHash hash = at_bip34 ? at_bip34->hash : BlockHash{};
    if (!Bip30Enforced(node.height, node.hash, hash, params)) return Bip30Check::kNever;
    return params.bip34_height <= 1 ? Bip30Check::kIfInvalid : Bip30Check::kFirst;
}

/** The steps of one ConnectBlock call and their shared data. They change the coins directly,
 *  without an overlay: nearly all blocks are valid, and the undo data in memory suffices to restore
 *  the coins. */
class Connection {
public:
    Connection(const BlockView& block, const HeaderNode& node, const ChainParams& params,
               CoinsCache& coins, ScriptChecker* checker, BlockUndo& undo, const KeepUndo& keep)
        : m_block(block), m_node(node), m_params(params.consensus), m_coins(coins),
          m_checker(checker), m_undo(undo), m_keep(keep), m_ancestry(node.prev),
          m_rules(node.height, node.hash, m_ancestry, params.consensus),
          m_bip30(Bip30CheckFor(node, params.consensus))
    {
    }

    /** The coins stay changed only if it returns that the block is valid. */
    RuleVerdict Run();
    ConnectStats Stats() const { return {m_rules.Fees(), m_rules.Inputs(), m_rules.SigOpCost()}; }

private:
    RuleVerdict CheckBip30();
    RuleVerdict ConnectTx(size_t index);
    RuleVerdict SpendInputs(const TxView& tx, TxUndo& undo);
    Result<> AddOutputs(const TxView& tx);
    RuleVerdict ConnectTxs();
    RuleVerdict Connect();
    void TakeBack();

    const BlockView& m_block;
    const HeaderNode& m_node;
    const ConsensusParams& m_params;
    CoinsCache& m_coins;
    ScriptChecker* m_checker;
    BlockUndo& m_undo;
    const KeepUndo& m_keep;
    const NodeAncestry m_ancestry;
    BlockSpendRules m_rules;
    const Bip30Check m_bip30;

    size_t m_done = 0;                                    //!< transactions whose outputs are added
    std::vector<std::pair<OutPoint, Coin>> m_overwritten; //!< BIP30 repeats
};

RuleVerdict Connection::CheckBip30()
{
    for (const TxView& tx : m_block.Txs()) {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            IBD_ASSIGN_OR_RETURN(const Coin* coin, m_coins.Get({tx.txid, i}));
            if (coin) {
                return Invalid("bad-txns-BIP30", "tried to overwrite transaction");
            }
        }
    }
    return std::nullopt;
}

RuleVerdict Connection::SpendInputs(const TxView& tx, TxUndo& undo)
{
    undo.spent.reserve(tx.inputs.size());
    for (const InputView& input : tx.inputs) {
        Coin coin;
        IBD_ASSIGN_OR_RETURN(const bool there, m_coins.Spend(input.Prevout(), &coin));
        if (!there) return BlockViolation(MissingInputs(tx), tx);
        undo.spent.push_back(std::move(coin));
    }
    return std::nullopt;
}

Result<> Connection::AddOutputs(const TxView& tx)
{
    const bool coinbase = tx.IsCoinbase();
    const bool may_exist = coinbase && m_bip30 != Bip30Check::kFirst;
    const auto outputs = static_cast<uint32_t>(tx.outputs.size());
    // All reads precede the first change: TakeBack() restores whole transactions only.
    for (uint32_t i = 0; may_exist && m_node.height < m_params.bip34_height && i < outputs; ++i) {
        if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
        IBD_ASSIGN_OR_RETURN(const Coin* old, m_coins.Get({tx.txid, i}));
        if (old) m_overwritten.emplace_back(OutPoint{tx.txid, i}, *old);
    }
    for (uint32_t i = 0; i < outputs; ++i) {
        if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
        m_coins.Add({tx.txid, i}, MakeCoin(tx.outputs[i], m_node.height, coinbase), may_exist);
    }
    ++m_done;
    return {};
}

RuleVerdict Connection::ConnectTx(size_t index)
{
    const TxView& tx = m_block.Txs()[index];
    std::span<const Coin> spent;
    if (index > 0) {
        TxUndo& undo = m_undo.txs[index - 1];
        IBD_ASSIGN_OR_RETURN(RuleResult missing, SpendInputs(tx, undo));
        if (missing) return missing;
        spent = undo.spent;
    }
    if (auto violation = m_rules.Add(tx, spent)) return violation;
    if (index > 0 && m_checker) m_checker->Add(tx, spent);
    IBD_RETURN_IF_ERROR(AddOutputs(tx));
    return std::nullopt;
}

RuleVerdict Connection::ConnectTxs()
{
    if (m_bip30 == Bip30Check::kFirst) {
        IBD_ASSIGN_OR_RETURN(RuleResult repeated, CheckBip30());
        if (repeated) return repeated;
    }
    for (size_t i = 0; i < m_block.Txs().size(); ++i) {
        IBD_ASSIGN_OR_RETURN(RuleResult violation, ConnectTx(i));
        if (violation) return violation;
    }
    return m_rules.CheckCoinbaseValue(m_block.Txs()[0]);
}

/** Undoes all changes from memory, so it works even after a failed read. */
void Connection::TakeBack()
{
    for (size_t i = std::min(m_done + 1, m_block.Txs().size()); i-- > 0;) {
        const TxView& tx = m_block.Txs()[i];
        for (uint32_t o = 0; i < m_done && o < tx.outputs.size(); ++o) {
            if (!IsUnspendable(tx.outputs[o].script_pubkey)) m_coins.Remove({tx.txid, o});
        }
        if (i == 0) continue;
        std::vector<Coin>& spent = m_undo.txs[i - 1].spent;
        for (size_t n = spent.size(); n-- > 0;) {
            m_coins.Add(tx.inputs[n].Prevout(), std::move(spent[n]), true);
        }
    }
    for (auto& [outpoint, coin] : m_overwritten) m_coins.Add(outpoint, std::move(coin), true);
}

/** Changes the coins even if the block is invalid. */
RuleVerdict Connection::Connect()
{
    m_undo.txs.assign(m_block.Txs().size() - 1, {});
    if (m_checker) {
        m_checker->Begin(m_rules.Flags());
        m_checker->Expect(m_block.Txs().subspan(1));
    }
    RuleVerdict verdict = ConnectTxs();
    RuleResult scripts = m_checker ? m_checker->Finish() : std::nullopt;
    if (!verdict) return verdict;
    if (!*verdict) verdict = std::move(scripts);
    if (!*verdict && m_keep) IBD_RETURN_IF_ERROR(m_keep(m_undo));
    return verdict;
}

RuleVerdict Connection::Run()
{
    m_coins.BeginBlock();
    RuleVerdict verdict = Connect();
    const bool valid = verdict && !*verdict;
    if (!valid) TakeBack();
    m_coins.EndBlock();
    if (!verdict || valid || m_bip30 != Bip30Check::kIfInvalid) return verdict;
    IBD_ASSIGN_OR_RETURN(RuleResult repeated, CheckBip30());
    return repeated ? std::move(repeated) : std::move(*verdict);
}

/** Removes the outputs of a transaction. False: some were missing or different. */
Result<bool> RemoveOutputs(const TxView& tx, const HeaderNode& node, CoinsCache& coins)
{
    bool clean = true;
    const bool coinbase = tx.IsCoinbase();
    for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
        if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
        Coin coin;
        IBD_ASSIGN_OR_RETURN(const bool there, coins.Spend({tx.txid, i}, &coin));
        if (!there || !(coin == MakeCoin(tx.outputs[i], node.height, coinbase))) clean = false;
    }
    return clean;
}

/** Undo data from before Core 0.15 holds height and kind only with the last spent coin of a
 *  transaction. That coin is restored already, so they are read from a sibling. */
Result<> CompleteFromSibling(const OutPoint& outpoint, Coin& coin, CoinsCache& coins)
{
    constexpr uint32_t kMostOutputs = kMaxBlockWeight / (9 * kWitnessScaleFactor);
    for (uint32_t i = 0; i < kMostOutputs; ++i) {
        IBD_ASSIGN_OR_RETURN(const Coin* sibling, coins.Get({outpoint.txid, i}));
        if (!sibling) continue;
        coin.height = sibling->height;
        coin.coinbase = sibling->coinbase;
        return {};
    }
    return BadData("undo data of coin {}:{} has no height", outpoint.txid.ToHex(), outpoint.vout);
}

/** Restores the spent coins. False: a coin existed already. */
Result<bool> RestoreInputs(const TxView& tx, TxUndo& undo, CoinsCache& coins)
{
    bool clean = true;
    for (size_t i = tx.inputs.size(); i-- > 0;) {
        const OutPoint outpoint = tx.inputs[i].Prevout();
        IBD_ASSIGN_OR_RETURN(const Coin* there, coins.Get(outpoint));
        if (there) clean = false;
        if (undo.spent[i].height == 0) {
            IBD_RETURN_IF_ERROR(CompleteFromSibling(outpoint, undo.spent[i], coins));
        }
        coins.Add(outpoint, std::move(undo.spent[i]), true);
    }
    return clean;
}

} // namespace

RuleVerdict ConnectBlock(const BlockView& block, const HeaderNode& node, const ChainParams& params,
                         CoinsCache& coins, ScriptChecker* checker, BlockUndo& undo,
                         ConnectStats* stats, const KeepUndo& keep)
{
    if (!node.prev) { // the genesis coinbase is not spendable and makes no coin
        undo.txs.clear();
        return std::nullopt;
    }
    Connection connection(block, node, params, coins, checker, undo, keep);
    RuleVerdict verdict = connection.Run();
    if (stats) *stats = connection.Stats();
    return verdict;
}

Result<DisconnectVerdict> DisconnectBlock(const BlockView& block, const HeaderNode& node,
                                          const ChainParams& params, BlockUndo undo,
                                          CoinsCache& coins)
{
    const auto txs = block.Txs();
    if (undo.txs.size() + 1 != txs.size()) {
        return BadData("block {} at height {}: undo data has {} transactions, the block {}",
                       node.hash.ToHex(), node.height, undo.txs.size(), txs.size() - 1);
    }
    bool clean = true;
    coins.BeginBlock();
    for (size_t i = txs.size(); i-- > 0;) {
        IBD_ASSIGN_OR_RETURN(const bool removed, RemoveOutputs(txs[i], node, coins));
        // The outputs of an overwritten coinbase were removed with its repeat.
        const bool excused = i == 0 && IsBip30Unspendable(node.height, node.hash, params.consensus);
        clean = clean && (removed || excused);
        if (i == 0) continue;
        TxUndo& tx_undo = undo.txs[i - 1];
        if (tx_undo.spent.size() != txs[i].inputs.size()) {
            return BadData("block {} at height {}: undo data of transaction {} has {} coins for {} "
                           "inputs",
                           node.hash.ToHex(), node.height, i, tx_undo.spent.size(),
                           txs[i].inputs.size());
        }
        IBD_ASSIGN_OR_RETURN(const bool restored, RestoreInputs(txs[i], tx_undo, coins));
        clean = clean && restored;
    }
    coins.EndBlock();
    return clean ? DisconnectVerdict::kClean : DisconnectVerdict::kUnclean;
}

} // namespace ibd

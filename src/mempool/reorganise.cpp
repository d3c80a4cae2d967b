// See reorganise.h.
#include "mempool/reorganise.h"

#include "consensus/limits.h"
#include "mempool/pool_view.h"
#include "mempool/upkeep.h"

#include <algorithm>

namespace ibd {

namespace {

class Reorganisation {
public:
    Reorganisation(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                   const CoinsAtTip& at, TxPool& pool, int64_t now)
        : m_rules(rules), m_disconnected(disconnected), m_at(at),
          m_pool(pool), m_arrival{.now = now, .time = now}, m_change(pool),
          m_next_height(at.tip.height + 1), m_ancestry(&at.tip),
          m_view(at.coins, m_change, m_next_height)
    {
    }

    // The caller holds the pool's mutex, which clang cannot follow into a member.
    Result<> Run() IBD_NO_THREAD_CHECK
    {
        for (const Txid& id : m_disconnected.lost) RemoveSpenders(id);
        for (const TransactionRef& tx : m_disconnected.txs) IBD_RETURN_IF_ERROR(Return(tx));
        for (const auto& [id, tx] : m_pool.All()) {
            if (m_change.Removes(*tx)) continue;
            IBD_ASSIGN_OR_RETURN(const bool valid, IsStillValid(*tx));
            if (!valid) m_change.RemoveWithDescendants(*tx, RemovalReason::kReorg);
        }
        m_change.DropExcess(RemovalReason::kSizeLimit);
        m_change.Apply();
        return {};
    }

private:
    void RemoveSpenders(const Txid& id) IBD_NO_THREAD_CHECK
    {
        for (const PoolTx* spender : m_pool.SpendersOf(id)) {
            m_change.RemoveWithDescendants(*spender, RemovalReason::kReorg);
        }
    }

    Result<> Return(const TransactionRef& tx) IBD_NO_THREAD_CHECK
    {
        if (m_pool.Find(tx->Id())) return {};
        CheckedTx checked;
        IBD_ASSIGN_OR_RETURN(RuleResult bad,
                             m_rules.Check(tx, m_at, m_arrival, TxAcceptance::Origin::kChain,
                                           m_pool, m_change, checked));
        if (!bad) {
            bad = m_rules.CheckScripts(checked); // policy's; its signatures are mostly cached
            if (bad) m_change.Withdraw(*m_change.FindAdded(tx->Id()));
        }
        if (bad) RemoveSpenders(tx->Id());
        return {};
    }

    Result<bool> IsStillValid(const PoolTx& tx) const
    {
        const TxView& view = tx.tx->View();
        if (!IsFinalTx(view, m_next_height, m_ancestry.MedianTimePast())) return false;
        const bool moved = tx.locks_height > m_disconnected.fork_height || HasNewParent(view);
        if (!moved && !tx.spends_coinbase) return IsLateEnough(tx.locks);
        std::vector<int> heights;
        for (const InputView& input : view.inputs) {
            IBD_ASSIGN_OR_RETURN(const auto coin, m_view.Read(input.Prevout()));
            if (!coin) return false;
            heights.push_back(static_cast<int>(coin->height));
            const bool mature = m_next_height - heights.back() >= kCoinbaseMaturity;
            if (coin->coinbase && !mature) return false;
        }
        return IsLateEnough(CalculateSequenceLocks(view, /*enforce=*/true, heights, m_ancestry));
    }

    /** Whether an input was in a block and is not any more. */
    bool HasNewParent(const TxView& tx) const
    {
        return std::any_of(tx.inputs.begin(), tx.inputs.end(), [&](const InputView& input) {
            return m_change.FindAdded(input.Prevout().txid) != nullptr;
        });
    }

    bool IsLateEnough(const SequenceLocks& locks) const
    {
        return EvaluateSequenceLocks(locks, m_next_height, m_ancestry.MedianTimePast());
    }

    const TxAcceptance& m_rules;
    const DisconnectedTxs& m_disconnected;
    const CoinsAtTip& m_at;
    TxPool& m_pool;
    const Arrival m_arrival;
    PoolChange m_change;
    const int m_next_height;
    const NodeAncestry m_ancestry;
    const PoolView m_view;
};

} // namespace

Result<> Reorganise(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                    const CoinsAtTip& at, TxPool& pool, int64_t now)
{
    IBD_RETURN_IF_ERROR(Reorganisation(rules, disconnected, at, pool, now).Run());
    Expire(pool, now - pool.Limits().expiry);
    Trim(pool);
    return {};
}

} // namespace ibd

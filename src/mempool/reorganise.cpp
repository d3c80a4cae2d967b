// See reorganise.h.
#include "mempool/reorganise.h"

#include "consensus/limits.h"
#include "mempool/pool_view.h"
#include "mempool/upkeep.h"

#include <algorithm>

namespace ibd {

namespace {

/** Transactions of the pool that are checked each time the coins are held. */
constexpr size_t kLooksAtOnce = 1'000;

/** The closed gate replaces the pool's mutex, which clang cannot know. */
class Reorganisation {
public:
    Reorganisation(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                   const HeaderNode& tip, const TipCoins& coins, TxPool& pool, int64_t now)
        : m_rules(rules), m_disconnected(disconnected), m_coins(coins),
          m_pool(pool), m_arrival{.now = now, .time = now}, m_change(pool),
          m_next_height(tip.height + 1), m_ancestry(&tip), m_time(m_ancestry.MedianTimePast())
    {
    }

    Result<> Run()
    {
        for (const auto& [id, outputs] : m_disconnected.lost) RemoveSpenders(id, outputs);
        for (const TransactionRef& tx : m_disconnected.txs) IBD_RETURN_IF_ERROR(Return(tx));
        IBD_RETURN_IF_ERROR(RemoveInvalid());
        m_change.DropExcess(RemovalReason::kSizeLimit);
        m_change.ApplyInSteps();
        return {};
    }

private:
    void RemoveSpenders(const Txid& id, size_t outputs) IBD_NO_THREAD_CHECK
    {
        for (const PoolTx* spender : m_pool.SpendersOf(id, outputs)) {
            m_change.RemoveWithDescendants(*spender, RemovalReason::kReorg);
        }
    }

    Result<> Return(const TransactionRef& tx) IBD_NO_THREAD_CHECK
    {
        if (m_pool.Find(tx->Id())) return {};
        IBD_ASSIGN_OR_RETURN(const bool returned, Stage(tx));
        if (!returned) RemoveSpenders(tx->Id(), (*tx)->outputs.size());
        return {};
    }

    Result<bool> Stage(const TransactionRef& tx) IBD_NO_THREAD_CHECK
    {
        if (ConflictsWithReturned(*tx)) return false;
        CheckedTx checked;
        RuleResult bad;
        const auto check = [&](const CoinsAtTip& at) IBD_NO_THREAD_CHECK -> Result<> {
            IBD_ASSIGN_OR_RETURN(bad, m_rules.Check(tx, at, m_arrival, TxAcceptance::Origin::kChain,
                                                    m_pool, m_change, checked));
            return {};
        };
        IBD_RETURN_IF_ERROR(m_coins.With(check));
        if (bad) return false;
        // The policy's flags; the signatures are mostly cached.
        if (m_rules.CheckScripts(checked)) {
            m_change.Withdraw(*m_change.FindAdded(tx->Id()));
            return false;
        }
        for (const InputView& input : (*tx)->inputs) m_spent.insert(input.Prevout());
        return true;
    }

    /** Blocks of two branches may spend the same coin. */
    bool ConflictsWithReturned(const Transaction& tx) const
    {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(), [&](const InputView& input) {
            return m_spent.contains(input.Prevout());
        });
    }

    Result<> RemoveInvalid() IBD_NO_THREAD_CHECK
    {
        const std::span all = m_pool.Places();
        size_t next = 0;
        const auto look = [&](const CoinsAtTip& at) -> Result<> {
            const size_t end = std::min(all.size(), next + kLooksAtOnce);
            for (; next < end; ++next) {
                if (all[next].tx) IBD_RETURN_IF_ERROR(RemoveIfInvalid(*all[next].tx, at));
            }
            return {};
        };
        while (next < all.size()) IBD_RETURN_IF_ERROR(m_coins.With(look));
        return {};
    }

    Result<> RemoveIfInvalid(const PoolTx& tx, const CoinsAtTip& at)
    {
        if (m_change.Removes(tx)) return {};
        const PoolView view(at.coins, m_change, m_next_height);
        IBD_ASSIGN_OR_RETURN(const bool valid, IsStillValid(tx, view));
        if (!valid) m_change.RemoveWithDescendants(tx, RemovalReason::kReorg);
        return {};
    }

    Result<bool> IsStillValid(const PoolTx& tx, const PoolView& coins) const
    {
        const TxView& view = tx.tx->View();
        if (!IsFinalTx(view, m_next_height, m_time)) return false;
        const bool moved = tx.locks_height > m_disconnected.fork_height || HasNewParent(view);
        if (!moved && !tx.spends_coinbase) return IsLateEnough(tx.locks);
        std::vector<int> heights;
        for (const InputView& input : view.inputs) {
            IBD_ASSIGN_OR_RETURN(const auto coin, coins.Read(input.Prevout()));
            if (!coin) return false;
            heights.push_back(static_cast<int>(coin->height));
            const bool mature = m_next_height - heights.back() >= kCoinbaseMaturity;
            if (coin->coinbase && !mature) return false;
        }
        return IsLateEnough(CalculateSequenceLocks(view, /*enforce=*/true, heights, m_ancestry));
    }

    /** Whether an input was in a block and no longer is. */
    bool HasNewParent(const TxView& tx) const
    {
        return std::any_of(tx.inputs.begin(), tx.inputs.end(), [&](const InputView& input) {
            return m_change.FindAdded(input.Prevout().txid) != nullptr;
        });
    }

    bool IsLateEnough(const SequenceLocks& locks) const
    {
        return EvaluateSequenceLocks(locks, m_next_height, m_time);
    }

    const TxAcceptance& m_rules;
    const DisconnectedTxs& m_disconnected;
    const TipCoins& m_coins;
    TxPool& m_pool;
    const Arrival m_arrival;
    PoolChange m_change;
    std::set<OutPoint> m_spent; //!< by the returned transactions
    const int m_next_height;
    const NodeAncestry m_ancestry;
    const int64_t m_time; //!< median of the last blocks
};

/** In steps, so that other threads get the mutex in between. */
void KeepLimits(TxPool& pool, int64_t now)
{
    {
        const Lock lock(pool.mutex);
        Expire(pool, now - pool.Limits().expiry);
    }
    for (size_t removed = 1; removed > 0;) {
        {
            const Lock lock(pool.mutex);
            removed = Trim(pool, PoolChange::kStep);
        }
        PoolChange::LetOthersIn();
    }
}

} // namespace

Result<> Reorganise(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                    const HeaderNode& tip, const TipCoins& coins, TxPool& pool, int64_t now)
{
    CHECK(pool.gate.IsClosed());
    IBD_RETURN_IF_ERROR(Reorganisation(rules, disconnected, tip, coins, pool, now).Run());
    KeepLimits(pool, now);
    return {};
}

} // namespace ibd

// See upkeep.h.
#include "mempool/upkeep.h"

#include "consensus/limits.h"
#include "mempool/pool_change.h"
#include "util/prefetch.h"

namespace ibd {

namespace {

/** Applies removals; returns their number. */
size_t Apply(PoolChange& change)
{
    const size_t removed = change.Removed().size();
    change.Apply();
    return removed;
}

} // namespace

void AddTx(TxPool& pool, PoolTx tx)
{
    PoolChange change(pool);
    change.Add(std::move(tx));
    change.Apply();
}

size_t RemoveWithDescendants(TxPool& pool, const Txid& id, RemovalReason reason)
{
    PoolChange change(pool);
    if (const PoolTx* const tx = pool.Find(id)) change.RemoveWithDescendants(*tx, reason);
    return Apply(change);
}

void Confirm(TxPool& pool, const BlockView& block, int32_t height, int64_t now)
{
    PoolChange change(pool);
    std::vector<const TxView*> unknown; // they alone can conflict with the pool
    const auto txs = block.Txs();
    const std::vector<const PoolTx*> found = pool.FindAll(txs);
    change.ExpectRemovals(txs.size());
    Staggered(
        txs.size(),
        [&](size_t i) {
            if (found[i]) __builtin_prefetch(&found[i]->cluster);
        },
        [&](size_t i) {
            if (found[i]) {
                change.Remove(*found[i], RemovalReason::kBlock);
            } else {
                unknown.push_back(&txs[i]);
            }
        });
    for (const TxView* tx : unknown) {
        for (const InputView& input : tx->inputs) {
            const PoolTx* const other = pool.Spender(input.Prevout());
            if (!other) continue;
            pool.RecordDelta(Txid(other->Id()), 0);
            change.RemoveWithDescendants(*other, RemovalReason::kConflict);
        }
    }
    if (!pool.Deltas().empty()) {
        for (const TxView& tx : block.Txs()) pool.RecordDelta(tx.txid, 0);
    }
    change.Apply();
    pool.BlockConnected(height, now);
}

size_t Expire(TxPool& pool, int64_t time)
{
    PoolChange change(pool);
    for (const PoolTx* tx : pool.OlderThan(time)) {
        change.RemoveWithDescendants(*tx, RemovalReason::kExpiry);
    }
    return Apply(change);
}

size_t Trim(TxPool& pool, size_t most)
{
    size_t removed = 0;
    for (; most > 0 && pool.MemoryUsage() > pool.Limits().max_bytes && pool.Size() > 0; --most) {
        // It is the last of its cluster, so no transaction of another chunk depends on it.
        const PoolChunk& worst = **pool.Chunks().rbegin();
        const int64_t vsize = (worst.sum.size + kWitnessScaleFactor - 1) / kWitnessScaleFactor;
        pool.Evicted(RateOf({worst.sum.fee, vsize}));
        PoolChange change(pool);
        for (const PoolTx* tx : worst.Txs()) change.Remove(*tx, RemovalReason::kSizeLimit);
        removed += Apply(change);
    }
    return removed;
}

Amount Prioritise(TxPool& pool, const Txid& id, Amount delta)
{
    const Amount sum = AddSaturating(pool.DeltaOf(id), delta);
    pool.RecordDelta(id, sum);
    PoolChange change(pool);
    if (const PoolTx* const tx = pool.Find(id)) change.SetDelta(*tx, sum);
    change.Apply();
    return sum;
}

} // namespace ibd

// TxPool: unconfirmed transactions, their dependencies and their mining order. Owned by the node;
// any thread, under its mutex, which is taken after the chain's state lock; no script runs under
// it. A change also needs a pass of the gate. It contains no rules: TxAcceptance decides on
// additions; only the limits that it queries are here. All changes are PoolChanges (pool_change.h;
// upkeep.h has the common ones). Bounds: a cluster (transactions connected by spends) has at most
// 64 transactions and 101,000 virtual bytes, which bounds every walk; all together take at most
// -maxmempool after Trim().
#pragma once

#include "mempool/cluster_index.h"
#include "mempool/pool_events.h"
#include "mempool/pool_gate.h"
#include "mempool/pool_memory.h"
#include "mempool/pool_table.h"
#include "mempool/rolling_fee.h"
#include "primitives/block.h"
#include "primitives/outpoint_hasher.h"
#include "util/try_mutex.h"

#include <map>

namespace ibd {

struct PoolLimits {
    size_t max_bytes = 300'000'000;        //!< -maxmempool
    int64_t expiry = 336 * 60 * 60;        //!< seconds (-mempoolexpiry)
    size_t cluster_count = kMaxClusterTxs; //!< -limitclustercount, at most 64
    int64_t cluster_vsize = 101'000;       //!< -limitclustersize
    Amount incremental_fee = 100;          //!< -incrementalrelayfee, satoshi per 1,000 vbytes
};

class TxPool {
public:
    /** `key`: random, for the tables, whose keys come from peers. */
    explicit TxPool(PoolLimits limits, SipKey key = {});

    mutable TryMutex mutex;
    PoolGate gate;

    const PoolLimits& Limits() const { return m_limits; }
    /** Call it before the first change; the listener must outlive the pool. */
    void AddListener(PoolEvents& listener) { m_listeners.push_back(&listener); }

    // Null: not in the pool.
    const PoolTx* Find(const Txid& id) const IBD_REQUIRES(mutex);
    /** Find() for each, with prefetching, so that cache misses overlap. */
    std::vector<const PoolTx*> FindAll(std::span<const TxView> txs) const IBD_REQUIRES(mutex);
    const PoolTx* FindWitness(const Wtxid& id) const IBD_REQUIRES(mutex);
    const PoolTx* Spender(const OutPoint& outpoint) const IBD_REQUIRES(mutex);
    /** The transactions that spend one of the first `outputs` outputs of this one, which may be
     *  outside the pool. */
    PoolTxSet SpendersOf(const Txid& id, size_t outputs) const IBD_REQUIRES(mutex);

    /** The pool transactions whose outputs `tx` spends. */
    PoolTxSet ParentsOf(const TxView& tx) const IBD_REQUIRES(mutex);
    /** The number without the transaction itself. */
    static PoolTxSet Ancestors(const PoolTx& tx);
    static PoolTxSet Descendants(const PoolTx& tx);

    /** Whether a cluster may have this many transactions with this total weight. */
    bool Fits(size_t count, int64_t weight) const;

    Amount DeltaOf(const Txid& id) const IBD_REQUIRES(mutex);
    /** Sets the fee delta of a txid; 0 removes it. PoolChange::SetDelta() changes the transaction
     *  itself. */
    void RecordDelta(const Txid& id, Amount delta) IBD_REQUIRES(mutex);
    const std::map<Txid, Amount>& Deltas() const IBD_REQUIRES(mutex) { return m_deltas; }
    /** The transactions of this node's users that are not broadcast yet (PoolTx::own). */
    const PoolTxSet& Unbroadcast() const IBD_REQUIRES(mutex) { return m_unbroadcast; }
    void SetBroadcast(const Txid& id, bool done) IBD_REQUIRES(mutex);

    /** The lowest rate that is accepted now, satoshi per 1,000 virtual bytes; 0: -minrelaytxfee. */
    Amount MinFeeRate(int64_t now) IBD_REQUIRES(mutex)
    {
        return m_rolling_fee.Rate(now, MemoryUsage(), m_limits.max_bytes);
    }

    /** Call it after the removals by a block. */
    void BlockConnected(int32_t height, int64_t now) IBD_REQUIRES(mutex);
    /** Records that a chunk of this rate was evicted. */
    void Evicted(Amount rate) IBD_REQUIRES(mutex) { m_rolling_fee.Evicted(rate); }

    /** All, in no order. */
    std::span<const PoolStore::Place> Places() const IBD_REQUIRES(mutex) { return m_txs.Places(); }
    /** All that arrived before `time` (seconds since 1970), the oldest first. */
    std::vector<const PoolTx*> OlderThan(int64_t time) const IBD_REQUIRES(mutex)
    {
        return m_txs.OlderThan(time);
    }
    /** All chunks, the best first: the order of mining. */
    const ChunkSet& Chunks() const IBD_REQUIRES(mutex) { return m_clusters.Chunks(); }
    const ClusterIndex& Clusters() const IBD_REQUIRES(mutex) { return m_clusters; }
    /** In the order of mining: parents before children. */
    std::vector<const PoolTx*> InOrder() const IBD_REQUIRES(mutex);
    size_t Size() const IBD_REQUIRES(mutex) { return m_txs.Size(); }
    int64_t VirtualBytes() const IBD_REQUIRES(mutex) { return m_vsize; }
    Amount Fees() const IBD_REQUIRES(mutex) { return m_fees; }
    /** Bytes as Core counts them (pool_memory.h). */
    size_t MemoryUsage() const IBD_REQUIRES(mutex)
    {
        return static_cast<size_t>(m_tx_memory + m_clusters.Memory()) + m_slots.Bytes();
    }
    /** Number of the next change: additions and removals count, from 1. */
    uint64_t Sequence() const IBD_REQUIRES(mutex) { return m_sequence; }
    /** Number of changes of any kind, from 0. */
    uint64_t Updates() const IBD_REQUIRES(mutex) { return m_updates; }

    // For PoolChange only, which updates the clusters.

    void Insert(std::unique_ptr<PoolTx> tx) IBD_REQUIRES(mutex);
    /** Its children lose this parent. */
    void Erase(const PoolTx& tx, RemovalReason reason) IBD_REQUIRES(mutex);
    /** Prefetches the memory that Erase() will need; call it some removals before. */
    void PrefetchErase(const PoolTx& tx) const IBD_REQUIRES(mutex);
    ClusterIndex& MutableClusters() IBD_REQUIRES(mutex) { return m_clusters; }
    /** A number for PoolTx::visit that was not returned before. */
    uint64_t NextVisit() IBD_REQUIRES(mutex) { return ++m_visits; }

private:
    const PoolLimits m_limits;
    std::vector<PoolEvents*> m_listeners;
    const HashHasher m_id_hasher;
    const OutPointHasher m_outpoint_hasher;
    PoolStore m_txs IBD_GUARDED_BY(mutex);
    PoolTable m_by_id IBD_GUARDED_BY(mutex){12};
    PoolTable m_by_wtxid IBD_GUARDED_BY(mutex){11};
    PoolTable m_spenders IBD_GUARDED_BY(mutex){10}; //!< by spent output
    PoolTxSet m_unbroadcast IBD_GUARDED_BY(mutex);
    std::map<Txid, Amount> m_deltas IBD_GUARDED_BY(mutex);
    ClusterIndex m_clusters IBD_GUARDED_BY(mutex);
    RollingFee m_rolling_fee IBD_GUARDED_BY(mutex);
    int64_t m_vsize IBD_GUARDED_BY(mutex) = 0;
    Amount m_fees IBD_GUARDED_BY(mutex) = 0;
    int64_t m_tx_memory IBD_GUARDED_BY(mutex) = 0; //!< memory of the transactions without their
                                                   //!< clusters
    PoolSlots m_slots IBD_GUARDED_BY(mutex);
    uint64_t m_sequence IBD_GUARDED_BY(mutex) = 1;
    uint64_t m_updates IBD_GUARDED_BY(mutex) = 0;
    uint64_t m_visits IBD_GUARDED_BY(mutex) = 0; //!< walks by PoolChanges
};

} // namespace ibd

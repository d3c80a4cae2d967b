// TxPool: unconfirmed transactions and their dependencies. Owned by the node; any thread, under its
// mutex, which is taken after the chain's state lock. It knows no rules: TxAcceptance decides on
// additions; the limits that it queries are here. Bounds: a cluster (dependent transactions) has at
// most 64 transactions and 101,000 virtual bytes, which bounds every walk; all together take at
// most -maxmempool.
#pragma once

#include "primitives/block.h"
#include "primitives/transaction.h"
#include "util/mutex.h"

#include <map>
#include <memory>
#include <set>

namespace ibd {

struct PoolLimits {
    size_t max_bytes = 300'000'000;  //!< -maxmempool
    int64_t expiry = 336 * 60 * 60;  //!< seconds (-mempoolexpiry)
    size_t cluster_count = 64;       //!< -limitclustercount, at most 64
    int64_t cluster_vsize = 101'000; //!< -limitclustersize
};

struct PoolTx;

struct LessTxid {
    bool operator()(const PoolTx* a, const PoolTx* b) const;
};
using PoolTxSet = std::set<const PoolTx*, LessTxid>;

/** One transaction of the pool; immutable but for its links. */
struct PoolTx {
    TransactionRef tx;
    Amount fee = 0;
    int64_t vsize = 0;  //!< VirtualSize
    int64_t weight = 0; //!< AdjustedWeight
    int64_t sigop_cost = 0;
    int64_t time = 0;      //!< of arrival, seconds since 1970
    int32_t height = 0;    //!< of the tip at arrival
    bool own = false;      //!< submitted by a user of this node
    uint64_t sequence = 0; //!< order of arrival
    mutable PoolTxSet parents = {};
    mutable PoolTxSet children = {};

    const Txid& Id() const { return tx->Id(); }
};

inline bool LessTxid::operator()(const PoolTx* a, const PoolTx* b) const
{
    return a->Id() < b->Id();
}

class TxPool {
public:
    explicit TxPool(PoolLimits limits) : m_limits(limits) {}

    mutable Mutex mutex;

    const PoolLimits& Limits() const { return m_limits; }

    // Null: not in the pool.
    const PoolTx* Find(const Txid& id) const IBD_REQUIRES(mutex);
    const PoolTx* FindWitness(const Wtxid& id) const IBD_REQUIRES(mutex);
    const PoolTx* Spender(const OutPoint& outpoint) const IBD_REQUIRES(mutex);

    /** The pool transactions whose outputs `tx` spends. */
    PoolTxSet ParentsOf(const TxView& tx) const IBD_REQUIRES(mutex);
    /** All transactions connected to one of `seeds`, including these. */
    static PoolTxSet Cluster(const PoolTxSet& seeds);
    /** Without the transaction itself. */
    static PoolTxSet Ancestors(const PoolTx& tx);
    static PoolTxSet Descendants(const PoolTx& tx);

    /** Whether a cluster may have this many transactions with this total weight. */
    bool Fits(size_t count, int64_t weight) const;

    /** Adds a transaction that is not in the pool, does not conflict with it, and has no child
     *  there (else CHECK). */
    void Add(PoolTx tx) IBD_REQUIRES(mutex);
    /** Removes it with all descendants; returns their number. */
    size_t RemoveWithDescendants(const Txid& id) IBD_REQUIRES(mutex);
    /** Removes the transactions that a block confirms, and those that conflict with it. */
    void Confirm(const BlockView& block) IBD_REQUIRES(mutex);
    /** Removes transactions older than `time` and their descendants; returns their number. */
    size_t Expire(int64_t time) IBD_REQUIRES(mutex);
    /** Empties the pool; returns parents before children. */
    std::vector<PoolTx> TakeAll() IBD_REQUIRES(mutex);

    /** By txid. */
    const std::map<Txid, std::unique_ptr<const PoolTx>>& All() const IBD_REQUIRES(mutex)
    {
        return m_txs;
    }
    /** Parents before children, otherwise by arrival. */
    std::vector<const PoolTx*> InOrder() const IBD_REQUIRES(mutex);
    size_t Size() const IBD_REQUIRES(mutex) { return m_txs.size(); }
    int64_t VirtualBytes() const IBD_REQUIRES(mutex) { return m_vsize; }
    Amount Fees() const IBD_REQUIRES(mutex) { return m_fees; }
    /** Upper estimate of memory, bytes. */
    size_t MemoryUsage() const IBD_REQUIRES(mutex) { return m_memory; }
    /** Number of changes so far, from 1. */
    uint64_t Sequence() const IBD_REQUIRES(mutex) { return m_sequence; }

private:
    void Remove(const PoolTx& tx) IBD_REQUIRES(mutex);

    const PoolLimits m_limits;
    std::map<Txid, std::unique_ptr<const PoolTx>> m_txs IBD_GUARDED_BY(mutex);
    std::map<Wtxid, const PoolTx*> m_by_wtxid IBD_GUARDED_BY(mutex);
    std::map<OutPoint, const PoolTx*> m_spenders IBD_GUARDED_BY(mutex);
    int64_t m_vsize IBD_GUARDED_BY(mutex) = 0;
    Amount m_fees IBD_GUARDED_BY(mutex) = 0;
    size_t m_memory IBD_GUARDED_BY(mutex) = 0;
    uint64_t m_sequence IBD_GUARDED_BY(mutex) = 1;
};

} // namespace ibd

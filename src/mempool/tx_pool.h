// TxPool: transactions that no block holds yet, with who spends whom. Owned by the node; any
// thread, under its mutex, which comes after the chain's state lock. It knows no rules:
// TxAcceptance decides what comes in, and the limits that it asks for are here. Bounds: a cluster
// (transactions that hang together) has at most 64 transactions and 101,000 virtual bytes, so
// whatever walks one is bounded; all together take at most -maxmempool.
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

/** One transaction of the pool; fixed but for what hangs on it. */
struct PoolTx {
    TransactionRef tx;
    Amount fee = 0;
    int64_t vsize = 0;  //!< VirtualSize
    int64_t weight = 0; //!< AdjustedWeight
    int64_t sigop_cost = 0;
    int64_t time = 0;      //!< of arrival, seconds since 1970
    int32_t height = 0;    //!< of the tip then
    bool own = false;      //!< given by a user of this node, not by a block
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

    // Null: none.
    const PoolTx* Find(const Txid& id) const IBD_REQUIRES(mutex);
    const PoolTx* FindWitness(const Wtxid& id) const IBD_REQUIRES(mutex);
    const PoolTx* Spender(const OutPoint& outpoint) const IBD_REQUIRES(mutex);

    /** Those of the pool whose outputs the transaction spends. */
    PoolTxSet ParentsOf(const TxView& tx) const IBD_REQUIRES(mutex);
    /** All that hang together with one of `seeds`, these included. */
    static PoolTxSet Cluster(const PoolTxSet& seeds);
    /** Without the transaction itself. */
    static PoolTxSet Ancestors(const PoolTx& tx);
    static PoolTxSet Descendants(const PoolTx& tx);

    /** Whether a cluster may have so many transactions of so much weight together. */
    bool Fits(size_t count, int64_t weight) const;

    /** Spends what nobody in the pool does, is not there, and none there spends it: else CHECK. */
    void Add(PoolTx tx) IBD_REQUIRES(mutex);
    /** With all that descend from it; how many went. */
    size_t RemoveWithDescendants(const Txid& id) IBD_REQUIRES(mutex);
    /** Takes out what a block confirms, and what spends the same as it does. */
    void Confirm(const BlockView& block) IBD_REQUIRES(mutex);
    /** Removes what came before `time`, and what descends from it; how many. */
    size_t Expire(int64_t time) IBD_REQUIRES(mutex);
    /** Empties the pool; parents come before children. */
    std::vector<PoolTx> TakeAll() IBD_REQUIRES(mutex);

    /** By txid. */
    const std::map<Txid, std::unique_ptr<const PoolTx>>& All() const IBD_REQUIRES(mutex)
    {
        return m_txs;
    }
    /** Parents before children, else as they came. */
    std::vector<const PoolTx*> InOrder() const IBD_REQUIRES(mutex);
    size_t Size() const IBD_REQUIRES(mutex) { return m_txs.size(); }
    int64_t VirtualBytes() const IBD_REQUIRES(mutex) { return m_vsize; }
    Amount Fees() const IBD_REQUIRES(mutex) { return m_fees; }
    /** Bytes of memory, estimated from above. */
    size_t MemoryUsage() const IBD_REQUIRES(mutex) { return m_memory; }
    /** Of changes so far, from 1. */
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

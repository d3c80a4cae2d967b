// PoolTx: one transaction of the pool. A value until the pool owns it; then it is used under the
// pool's mutex.
#pragma once

#include "consensus/tx_verify.h"
#include "mempool/feerate.h"
#include "primitives/transaction.h"

#include <set>

namespace ibd {

struct PoolTx;
struct PoolCluster; // cluster_index.h

struct LessTxid {
    bool operator()(const PoolTx* a, const PoolTx* b) const;
};
using PoolTxSet = std::set<const PoolTx*, LessTxid>;

/** A modified fee (prioritisetransaction) stays within these bounds, so that the fees of a cluster
 *  can be added. Above the supply of bitcoin. */
inline constexpr Amount kMaxModifiedFee = Amount{1} << 55;

/** The sum, or the nearest value. */
Amount AddSaturating(Amount a, Amount b);
/** The sum, or the nearest value within the bounds. */
Amount ModifiedFee(Amount fee, Amount delta);

/** Immutable but for its links, its place and the change of its fee. */
struct PoolTx {
    TransactionRef tx;
    Amount fee = 0;
    int64_t vsize = 0;  //!< VirtualSize
    int64_t weight = 0; //!< AdjustedWeight
    int64_t sigop_cost = 0;
    int64_t time = 0;   //!< of arrival, seconds since 1970
    int32_t height = 0; //!< of the tip at arrival
    mutable bool own = false; //!< submitted by a user of this node, and not broadcast yet
    bool spends_coinbase = false;
    bool estimates = false;   //!< its confirmation time depends only on its fee (FeeEstimator)
    SequenceLocks locks = {}; //!< lock points, valid for the blocks up to locks_height
    int32_t locks_height = 0; //!< highest block with a coin that it spends
    // Set by the pool.
    uint64_t sequence = 0;    //!< order of arrival
    int64_t memory = 0;       //!< PoolMemoryOf
    uint64_t id_hash = 0;     //!< keyed, of the txid
    uint64_t wtxid_hash = 0;
    uint64_t spent_hash = 0;  //!< of the output that the first input spends
    size_t stored_at = 0;     //!< in PoolStore
    mutable Amount delta = 0; //!< added to the fee by prioritisetransaction
    mutable PoolTxSet parents = {};
    mutable PoolTxSet children = {};
    mutable const PoolCluster* cluster = nullptr;
    mutable uint32_t place = 0; //!< in the mining order of its cluster
    mutable uint32_t chunk = 0; //!< of its cluster
    mutable size_t listed_at = 0; //!< index in the list of a listener: PoolForPeers
    // Scratch of PoolChange.
    mutable uint64_t visit = 0;
    mutable uint32_t index = 0;

    const Txid& Id() const { return tx->Id(); }
    Amount ModifiedFee() const { return ibd::ModifiedFee(fee, delta); }
    FeeSize Rate() const { return {ModifiedFee(), weight}; }
};

inline bool LessTxid::operator()(const PoolTx* a, const PoolTx* b) const
{
    return a->Id() < b->Id();
}

} // namespace ibd

// PoolEvents: an observer of the pool's changes. Called under the pool's mutex, on the thread that
// makes the change: copy the data, and take only leaf locks.
#pragma once

#include "mempool/pool_tx.h"

namespace ibd {

enum class RemovalReason {
    kExpiry,
    kSizeLimit,
    kReorg,
    kBlock,
    kConflict, //!< with a block
    kReplaced,
};

/** The name shown to users. */
const char* NameOf(RemovalReason reason);

class PoolEvents {
public:
    virtual ~PoolEvents() = default;
    /** `sequence`: number of this change; see TxPool::Sequence(). */
    virtual void TxAdded(const PoolTx& tx, uint64_t sequence) = 0;
    virtual void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) = 0;
    /** Called some removals before that of `tx`: may prefetch memory. */
    virtual void PrefetchRemoval(const PoolTx&) const {}
    /** Called after the removals by the block at this height. */
    virtual void BlockConfirmed(int32_t) {}
};

} // namespace ibd

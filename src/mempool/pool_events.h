// PoolEvents: follows the pool's changes. Called under the pool's mutex, on the thread that makes
// the change: copy what is needed, take no lock that is not a leaf.
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

/** The name that users know. */
const char* NameOf(RemovalReason reason);

class PoolEvents {
public:
    virtual ~PoolEvents() = default;
    /** `sequence`: of this change; see TxPool::Sequence(). */
    virtual void TxAdded(const PoolTx& tx, uint64_t sequence) = 0;
    /** A block's transactions have the sequence of the change before. */
    virtual void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) = 0;
    /** Some removals before that of `tx`: may have the processor fetch what this will need. */
    virtual void PrefetchRemoval(const PoolTx&) const {}
    /** After the removals by the block at this height. */
    virtual void BlockConfirmed(int32_t) {}
};

} // namespace ibd

// RollingFee: the minimum fee rate after the pool was full. It rises above the rate of evicted
// transactions, so that they are not accepted again. After a block it halves every 12 hours, faster
// while the pool is far from full. Rules are Core's. Owned by TxPool; under its mutex.
#pragma once

#include "primitives/tx_view.h"

namespace ibd {

class RollingFee {
public:
    /** `step`: -incrementalrelayfee, satoshi for 1,000 virtual bytes; as all rates here. */
    explicit RollingFee(Amount step) : m_step(step) {}

    /** The rate at `now`, seconds since 1970, of a pool that uses `bytes` of `most`. */
    Amount Rate(int64_t now, size_t bytes, size_t most);
    /** Records that a chunk of this rate was evicted. */
    void Evicted(Amount rate);
    void BlockConnected(int64_t now)
    {
        m_updated = now;
        m_falls = true;
    }

private:
    const Amount m_step;
    double m_rate = 0; //!< a double, because it falls in small steps
    int64_t m_updated = 0;
    bool m_falls = true; //!< a block came since the last eviction
};

} // namespace ibd

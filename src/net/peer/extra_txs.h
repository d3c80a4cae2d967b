// ExtraTxs: the last `most` transactions that were refused or replaced: they are not in the pool,
// but may soon be in a block. Compact blocks are also completed from them. Owned by TxRelay, one
// thread. Memory: the caller bounds the size of each.
#pragma once

#include "primitives/transaction.h"

#include <span>

namespace ibd {

class ExtraTxs {
public:
    explicit ExtraTxs(size_t most) : m_most(most) {}

    /** Adds a transaction in place of the oldest. */
    void Add(const TransactionRef& tx)
    {
        if (m_most == 0) return;
        if (m_txs.size() < m_most) {
            m_txs.push_back(tx);
        } else {
            m_txs[m_next] = tx;
        }
        m_next = (m_next + 1) % m_most;
    }
    std::span<const TransactionRef> All() const { return m_txs; }

private:
    const size_t m_most;
    std::vector<TransactionRef> m_txs;
    size_t m_next = 0; //!< index of the next one
};

} // namespace ibd

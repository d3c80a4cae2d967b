// TxidHasher: computes ids of parsed transactions, several at a time in the processor's lanes.
// Reusable: keeps its capacity. One thread.
#pragma once

#include "crypto/sha256_batch.h"
#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

class TxidHasher {
public:
    /** The next Run() sets the id of `tx`, which must not move until then. */
    void Add(TxView& tx);
    /** Sets the ids of all transactions added since the last call. */
    void Run();

private:
    std::vector<TxView*> m_txs;
    std::vector<HashMessage> m_preimages; //!< of m_txs
    std::vector<Hash32> m_digests;
};

} // namespace ibd

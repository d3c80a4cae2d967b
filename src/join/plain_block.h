// PlainBlock: a block parsed in place without hashing anything, for whoever reads a block again
// that is known by its checksum: ids and merkle root were checked the first time. One thread.
// Memory: the arrays of the largest block so far.
#pragma once

#include "primitives/tx_view.h"
#include "util/result.h"

#include <vector>

namespace ibd {

class PlainBlock {
public:
    /** Parses the block that `raw`, which must outlive the views, begins with. False: it is none;
     *  the object is then of no use until the next call. */
    bool Parse(ByteSpan raw);

    /** Without the bytes behind the last transaction. */
    ByteSpan Raw() const { return m_raw; }
    /** Without ids. */
    std::span<const TxView> Txs() const { return m_txs; }
    size_t Inputs() const { return m_inputs.size(); }   //!< of all transactions
    size_t Outputs() const { return m_outputs.size(); } //!< likewise

private:
    ByteSpan m_raw;
    std::vector<TxView> m_txs;
    std::vector<InputView> m_inputs;
    std::vector<OutputView> m_outputs;
};

} // namespace ibd

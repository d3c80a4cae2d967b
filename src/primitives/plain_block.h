// PlainBlock: a block parsed in place, without hashing unless requested. For a block that was
// checked before and whose checksum shows that it is unchanged: txids and merkle root were checked
// the first time. One thread. Memory: the arrays of the largest block so far.
#pragma once

#include "primitives/block.h"

namespace ibd {

class PlainBlock {
public:
    /** Parses the block at the start of `raw`, which must outlive the views. False: malformed; the
     *  object must not be used until the next call. */
    bool Parse(ByteSpan raw);

    /** Without bytes after the last transaction. */
    ByteSpan Raw() const { return m_raw; }
    /** Hash of the header; computed at each call. */
    BlockHash Hash() const;
    /** Without ids, except those from ComputeIds(). */
    std::span<const TxView> Txs() const { return m_txs; }
    /** Computes the ids of the transactions with these numbers, multi-lane. */
    void ComputeIds(std::span<const uint32_t> numbers);
    size_t Inputs() const { return m_inputs.size(); }   //!< of all transactions
    size_t Outputs() const { return m_outputs.size(); } //!< of all transactions

private:
    ByteSpan m_raw;
    std::vector<TxView> m_txs;
    std::vector<InputView> m_inputs;
    std::vector<OutputView> m_outputs;
    TxidHasher m_ids;
};

} // namespace ibd

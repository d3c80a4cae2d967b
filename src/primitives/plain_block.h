// PlainBlock: a block parsed in place without hashing anything but what is asked for, for whoever
// reads a block again that is known by its checksum: ids and merkle root were checked the first
// time. One thread. Memory: the arrays of the largest block so far.
#pragma once

#include "primitives/block.h"

namespace ibd {

class PlainBlock {
public:
    /** Parses the block that `raw`, which must outlive the views, begins with. False: it is none;
     *  the object is then of no use until the next call. */
    bool Parse(ByteSpan raw);

    /** Without the bytes behind the last transaction. */
    ByteSpan Raw() const { return m_raw; }
    /** Hash of the header; computed at each call. */
    BlockHash Hash() const;
    /** Without ids but those that ComputeIds() was called for. */
    std::span<const TxView> Txs() const { return m_txs; }
    /** Of the transactions of these numbers, multi-lane. */
    void ComputeIds(std::span<const uint32_t> numbers);
    size_t Inputs() const { return m_inputs.size(); }   //!< of all transactions
    size_t Outputs() const { return m_outputs.size(); } //!< likewise

private:
    ByteSpan m_raw;
    std::vector<TxView> m_txs;
    std::vector<InputView> m_inputs;
    std::vector<OutputView> m_outputs;
    TxidHasher m_ids;
};

} // namespace ibd

// DraftBlock: a block taken apart, to be changed and sealed again with valid commitments and proof
// of work, so that only the rule at hand is broken.
#pragma once

#include "consensus/params.h"
#include "primitives/transaction.h"

namespace ibd::test {

struct DraftBlock {
    BlockHeader header;
    std::vector<MutableTransaction> txs;
    bool renew_commitment = true; //!< of the witnesses, when sealed

    static DraftBlock Of(ByteSpan raw);

    MutableTransaction& Coinbase() { return txs[0]; }

    /** The block on `prev`, with roots and nonce made to fit. */
    Bytes Seal(const BlockHash& prev, const ChainParams& params) const;
};

} // namespace ibd::test

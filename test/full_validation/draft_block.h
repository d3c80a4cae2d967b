// DraftBlock: a block to be changed and sealed again on any other.
#pragma once

#include "sim/block_draft.h"

namespace ibd::test {

struct DraftBlock : sim::BlockDraft {
    bool renew_commitment = true; //!< of the witnesses, when sealed

    static DraftBlock Of(ByteSpan raw) { return {sim::BlockDraft::Of(raw)}; }

    /** The block on `prev`, with roots and nonce made to fit. */
    Bytes Seal(const BlockHash& prev, const ChainParams& params) const;
};

} // namespace ibd::test

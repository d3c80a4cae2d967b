// See draft_block.h.
#include "draft_block.h"

namespace ibd::test {

Bytes DraftBlock::Seal(const BlockHash& prev, const ChainParams& params) const
{
    sim::BlockDraft sealed = *this;
    if (renew_commitment) sealed.RenewCommitment();
    sealed.header.prev_hash = prev;
    sealed.FixRoot();
    sim::Mine(sealed.header, params);
    return sealed.ToBytes();
}

} // namespace ibd::test

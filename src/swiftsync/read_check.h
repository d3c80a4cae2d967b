// What users of stored blocks check of the bytes that a BlockSource hands out, if the block index
// has accepted the blocks before. Any thread.
#pragma once

#include "chain/block_source.h"

namespace ibd {

/** Takes the next block whose bytes are those of the block, parsed into `view`; `careful`: also its
 *  transactions are unchanged. Others are handed back to the source, which reads them again, or
 *  ends with an error. False: there is none left. */
Result<bool> NextSound(BlockSource& source, SuppliedBlock& block, BlockView& view, bool careful);

} // namespace ibd

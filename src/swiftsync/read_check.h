// The check of bytes from a BlockSource when the block index has accepted the block before. Any
// thread.
#pragma once

#include "chain/block_source.h"

namespace ibd {

/** Takes the next block from the source and parses it into `view`. Checks that its header is that
 *  of the block, with `careful` also that its transactions are unchanged. A block that fails is
 *  handed back to the source, which reads it again or ends with an error. False: there is none
 *  left. */
Result<bool> NextSound(BlockSource& source, SuppliedBlock& block, BlockView& view, bool careful);

} // namespace ibd

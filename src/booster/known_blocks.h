// KnownBlocks: where full validation may verify signatures in batches.
#pragma once

#include "crypto/signature_batch.h"
#include "validation/chain_manager.h"

namespace ibd {

/** The height up to which the blocks of the chain that ends at `terminal` are known to be valid
 *  (KnownHeight()). Logs which verifier checks the signatures there and above. */
int32_t FindKnownBlocks(Logger& log, const ChainManager& chain, const HeaderNode& terminal,
                        LanesMode lanes);

} // namespace ibd

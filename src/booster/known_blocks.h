// LogKnownBlocks: the log's line about where full validation verifies signatures in batches.
#pragma once

#include "crypto/signature_batch.h"
#include "validation/chain_view.h"

namespace ibd {

/** Logs which verifier checks the signatures of the blocks up to `known_height`, which is
 *  KnownHeightOf(terminal), and of those above. */
void LogKnownBlocks(const ChainView& chain, const HeaderNode& terminal, int32_t known_height,
                    LanesMode lanes);

} // namespace ibd

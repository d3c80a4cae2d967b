// See known_blocks.h.
#include "booster/known_blocks.h"

#include "chain/assume_valid.h"

namespace ibd {

int32_t FindKnownBlocks(Logger& log, const ChainManager& chain, const HeaderNode& terminal,
                        LanesMode lanes)
{
    const BlockHash& block = chain.Options().known_valid;
    const int32_t known = KnownHeight(chain.Read().Tree(), terminal, block);
    if (lanes == LanesMode::kOff) return known; // the start has logged it
    if (known == 0) {
        log.Info("IBD Booster: libsecp256k1 verifies all signatures, because the assumed-valid "
                 "block is {}",
                 block.IsNull() ? "not known" : "not in this chain");
    } else {
        log.Info("IBD Booster: up to height {} blocks are assumed-valid; there signatures are "
                 "verified with {}{}",
                 known, SignatureVerifierName(lanes),
                 known < terminal.height ? ", those above with libsecp256k1" : "");
    }
    return known;
}

} // namespace ibd

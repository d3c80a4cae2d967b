// See known_blocks.h.
#include "booster/known_blocks.h"

namespace ibd {

void LogKnownBlocks(const ChainView& chain, const HeaderNode& terminal, int32_t known_height,
                    LanesMode lanes)
{
    if (lanes == LanesMode::kOff) return; // the start has logged it
    if (known_height == 0) {
        chain.Log().Info("IBD Booster: libsecp256k1 verifies all signatures, because the "
                         "assumed-valid block is {}",
                         chain.Options().known_valid.IsNull() ? "not known" : "not in this chain");
        return;
    }
    chain.Log().Info("IBD Booster: up to height {} blocks are assumed-valid; there signatures are "
                     "verified with {}{}",
                     known_height, SignatureVerifierName(lanes),
                     known_height < terminal.height ? ", those above with libsecp256k1" : "");
}

} // namespace ibd

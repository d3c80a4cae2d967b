// ChaCha20 in vectors of four words, which each compiler maps to the CPU's vectors.
#define IBD_LANES 4
#define IBD_LANES_TARGET
#include "crypto/chacha20_lanes.h"

namespace ibd::chacha20 {

Backend Vector4Backend() { return {"vector4", true, IBD_LANES, NextBlocks}; }

} // namespace ibd::chacha20

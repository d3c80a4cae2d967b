// SHA-256 in four lanes of the 128-bit vectors that the target always has (SSE2, NEON).
#include "util/bytes.h"

#define IBD_LANES 4
#define IBD_LANES_VECTORS 1
#define IBD_LANES_TARGET
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IBD_LANES_BSWAP(v) (v)
#else
#define IBD_LANES_BSWAP(v) (((v) << 24) | (((v)&0xff00) << 8) | (((v) >> 8) & 0xff00) | ((v) >> 24))
#endif
#include "crypto/sha256_lanes.h"

namespace ibd::sha256 {

Sha256Backend Vector4Backend() { return LanesBackend("4 lanes", true); }

} // namespace ibd::sha256

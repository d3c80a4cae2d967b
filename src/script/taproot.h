// The tagged hashes of taproot outputs (BIP341). Consensus code. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

inline constexpr uint8_t kLeafMask = 0xfe;      //!< bits of a control block's first byte: version
inline constexpr uint8_t kLeafTapscript = 0xc0; //!< BIP342
inline constexpr size_t kMaxTapTreeDepth = 128;

/** Of a leaf of the tree. */
Hash32 TapLeafHash(uint8_t leaf_version, ByteSpan script);
/** Of two subtrees, in whatever order. */
Hash32 TapBranchHash(ByteSpan a, ByteSpan b);
/** What is added to the internal key; `merkle_root` is 32 bytes, or empty where there is no tree.
 */
Hash32 TapTweakHash(const XOnlyKey& internal_key, ByteSpan merkle_root);

} // namespace ibd

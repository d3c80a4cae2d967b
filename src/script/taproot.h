// The tagged hashes of taproot outputs (BIP341). Consensus code. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

inline constexpr uint8_t kLeafMask = 0xfe;      //!< bits of a control block's first byte: version
inline constexpr uint8_t kLeafTapscript = 0xc0; //!< BIP342
inline constexpr size_t kMaxTapTreeDepth = 128;

/** Hash of a leaf of the tree. */
Hash32 TapLeafHash(uint8_t leaf_version, ByteSpan script);
/** Hash of two subtrees, in either order. */
Hash32 TapBranchHash(ByteSpan a, ByteSpan b);
/** The tweak added to the internal key; `merkle_root`: 32 bytes, or empty without a tree. */
Hash32 TapTweakHash(const XOnlyKey& internal_key, ByteSpan merkle_root);

} // namespace ibd

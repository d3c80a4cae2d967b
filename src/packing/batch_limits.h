// The bounds of a batch of blocks, and of a batch of transactions.
#pragma once

#include <cstddef>

namespace ibd {

/** Most bytes of all blocks of a batch, unpacked. */
inline constexpr size_t kMaxBatchBytes = 4'000'000;
inline constexpr size_t kMaxBatchBlocks = 64;

/** Most different keys in a batch: each costs hashes on both sides. A block of full size that
 * spends P2WPKH only has 14,700. */
inline constexpr size_t kMaxBatchKeys = 16'384;
/** Most keys of 65 bytes, each counted wherever a script shows it: each costs a square root on both
 *  sides. A block of 1 MB that spends only such keys has 5,600. */
inline constexpr size_t kMaxLongKeys = 8'192;
/** Most square roots of a reader: one for each long key shown, and one for its hash. */
inline constexpr size_t kMaxKeyRoots = 2 * kMaxLongKeys;
/** A block with more witness items is not modelled. */
inline constexpr size_t kMaxWitnessItems = 100'000;

/** Most transactions of a batch, and most of their bytes. A larger transaction goes alone. */
inline constexpr size_t kMaxTxBatch = 64;
inline constexpr size_t kMaxTxBatchBytes = 100'000;
/** A batch of transactions has at least this part of their bytes. Peers send them unasked, so the
 *  work of a reader must be in proportion to the bytes that arrive. */
inline constexpr size_t kMaxTxExpansion = 4;

} // namespace ibd

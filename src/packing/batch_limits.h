// The bounds of a batch of blocks, and of a batch of transactions.
#pragma once

#include <algorithm>
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
/** A block with more witness items is not modelled. */
inline constexpr size_t kMaxWitnessItems = 100'000;

// A reader's work is bounded by the bytes that it makes, `total` of all blocks of the batch.

/** Most square roots: one for each long key shown, which has 65 bytes, and one for its hash. */
constexpr size_t MaxKeyRoots(size_t total) { return std::min(2 * kMaxLongKeys, total / 32); }
/** Most bytes of all streams before compression. A push of one byte takes three. */
constexpr size_t MaxStreamBytes(size_t total) { return 2 * total + 256; }

/** Most transactions of a batch, and most of their bytes. A larger transaction goes alone. */
inline constexpr size_t kMaxTxBatch = 64;
inline constexpr size_t kMaxTxBatchBytes = 100'000;
/** The transactions have at most this many times the bytes of their batch: peers send them unasked,
 *  so the reader's work must be in proportion to the bytes that arrive. */
inline constexpr size_t kMaxTxExpansion = 4;

} // namespace ibd

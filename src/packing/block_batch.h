// Batches of blocks in fewer bytes, for a line between two nodes: a model leaves out the bytes that
// follow from other bytes of the batch, and zstd compresses the rest, field by field
// (doc/formats/packed_blocks.md). Pure functions; any thread.
#pragma once

#include "packing/batch_limits.h"
#include "util/bytes.h"
#include "util/result.h"

#include <span>
#include <vector>

namespace ibd {

/** Levels of zstd. The model does most of the work: level 19 saves a sixth of a percent more than
 *  level 1, in eight times the time. */
inline constexpr int kMinPackLevel = 1;
inline constexpr int kMaxPackLevel = 19;

/** The batch of 1 to kMaxBatchBlocks byte strings, together at most kMaxBatchBytes: blocks, or
 *  anything else, which is only compressed. Error: zstd failed (memory). */
Result<Bytes> PackBlocks(std::span<const ByteSpan> blocks, int level);

/** The byte strings that were packed. Refuses a batch above the bounds before it allocates, and
 *  writes nothing beyond the sizes that the batch states. Memory: at most 8 times kMaxBatchBytes.
 *  Error: damage (bad data), or zstd has no memory (system). */
Result<std::vector<Bytes>> UnpackBlocks(ByteSpan batch);

/** The unpacked size that a batch states, at most kMaxBatchBytes; 0: none that can be true. */
size_t BatchBytes(ByteSpan batch);

} // namespace ibd

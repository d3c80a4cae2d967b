// Batches of transactions in fewer bytes: those of a block without its header, so that the model of
// blocks (block_batch.h) serves both (doc/formats/packed_blocks.md). Pure functions; any thread.
#pragma once

#include "packing/batch_limits.h"
#include "util/bytes.h"
#include "util/result.h"

#include <span>
#include <vector>

namespace ibd {

/** The batch of 1 to kMaxTxBatch serialized transactions, together at most kMaxTxBatchBytes; empty
 *  if it would save nothing, or be too small for its reader (kMaxTxExpansion).
 *  `level`: kMinPackLevel to kMaxPackLevel. Error: zstd failed (memory). */
Result<Bytes> PackTxs(std::span<const Bytes> txs, int level);

/** The serialized transactions that were packed, in their order. Refuses a batch above the bounds
 *  before it allocates. Error: damage (bad data), or zstd has no memory (system). */
Result<std::vector<Bytes>> UnpackTxs(ByteSpan batch);

} // namespace ibd

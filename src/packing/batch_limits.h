// The bounds of a batch of blocks.
#pragma once

#include <cstddef>

namespace ibd {

/** Most bytes of all blocks of a batch, unpacked. */
inline constexpr size_t kMaxBatchBytes = 4'000'000;
inline constexpr size_t kMaxBatchBlocks = 64;

} // namespace ibd

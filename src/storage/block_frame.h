// The frame of each block in a blk file, and the size limit of a block there.
#pragma once

#include <cstdint>

namespace ibd {

inline constexpr uint32_t kFrameHeaderSize = 8; //!< network magic, u32 length
inline constexpr uint32_t kMaxStoredBlockSize = 4'000'000;

} // namespace ibd

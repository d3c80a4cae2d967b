// NetworkMagic: the first bytes of a network's messages and address files.
#pragma once

#include <array>
#include <cstdint>

namespace ibd {

/** ChainParams::magic. */
using NetworkMagic = std::array<uint8_t, 4>;

} // namespace ibd

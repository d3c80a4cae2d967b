// Services that a node offers, as bits in addresses and version messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ibd {

/** Bits for the services of a node. */
enum ServiceFlags : uint64_t {
    kNodeNone = 0,
    kNodeNetwork = 1 << 0,         //!< all blocks
    kNodeBloom = 1 << 2,           //!< BIP111
    kNodeWitness = 1 << 3,         //!< BIP144
    kNodeCompactFilters = 1 << 6,  //!< BIP157
    kNodeNetworkLimited = 1 << 10, //!< the last 288 blocks (BIP159)
    kNodeP2pV2 = 1 << 11,          //!< BIP324
};
/** "NETWORK", "WITNESS", "UNKNOWN[2^5]": names of the set bits, lowest first. */
std::vector<std::string> ServiceNames(uint64_t services);

} // namespace ibd

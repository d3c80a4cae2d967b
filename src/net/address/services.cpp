// See services.h.
#include "net/address/services.h"

#include <fmt/format.h>

namespace ibd {

std::vector<std::string> ServiceNames(uint64_t services)
{
    std::vector<std::string> out;
    for (int bit = 0; bit < 64; ++bit) {
        switch (services & uint64_t{1} << bit) {
        case 0: break;
        case kNodeNetwork: out.emplace_back("NETWORK"); break;
        case kNodeBloom: out.emplace_back("BLOOM"); break;
        case kNodeWitness: out.emplace_back("WITNESS"); break;
        case kNodeCompactFilters: out.emplace_back("COMPACT_FILTERS"); break;
        case kNodeNetworkLimited: out.emplace_back("NETWORK_LIMITED"); break;
        case kNodeP2pV2: out.emplace_back("P2P_V2"); break;
        default: out.push_back(fmt::format("UNKNOWN[2^{}]", bit));
        }
    }
    return out;
}

} // namespace ibd

// See network_state.h.
#include "net/network_state.h"

namespace ibd {

namespace {

Hash32 RandomSeed(Env& env)
{
    Hash32 out;
    env.RandomBytes(out);
    return out;
}

} // namespace

NetworkState::NetworkState(PeerNetworkSurroundings surroundings,
                           const PeerNetworkOptions& all_options)
    : at(std::move(surroundings)), options(all_options), thread(at.log), active(options.active),
      chance(RandomSeed(at.env)), ways{options.reachable, options.proxies},
      limits(options.max_connections), peers(options.groups, RandomKey())
{
}

} // namespace ibd

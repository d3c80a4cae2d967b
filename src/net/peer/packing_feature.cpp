// See packing_feature.h.
#include "net/peer/packing_feature.h"

#include "net/wire/packed_blocks.h"

namespace ibd {

void PackingFeature::Negotiate(Peer& peer)
{
    if (m_options.pack_level == 0) return;
    const AddressNetwork network = peer.connection.Network();
    const bool anonymous = network == AddressNetwork::kOnion || network == AddressNetwork::kI2p ||
                           peer.connection.through_proxy;
    if (anonymous && !m_options.pack_anonymously) return;
    m_states[peer].ours = m_peers.SendFeature(peer, kPackedBlocksFeature, {kPackedBlocksVersion});
}

bool PackingFeature::TakeFeature(Peer& peer, const FeatureMessage& feature)
{
    if (!feature.Is(kPackedBlocksFeature, kPackedBlocksVersion)) return false;
    m_states[peer].theirs = true;
    return true;
}

} // namespace ibd

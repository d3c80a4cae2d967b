// See packing_feature.h.
#include "net/peer/packing_feature.h"

#include "net/wire/packed_blocks.h"

namespace ibd {

void PackingFeature::Negotiate(Peer& peer)
{
    const bool brief = peer.Is(ConnectionKind::kFeeler) || peer.Is(ConnectionKind::kAddrFetch);
    if (m_options.pack_level == 0 || brief || peer.common_version < kFeatureVersion) return;
    const AddressNetwork network = peer.connection.Network();
    const bool anonymous = network == AddressNetwork::kOnion || network == AddressNetwork::kI2p ||
                           peer.connection.through_proxy;
    if (anonymous && !m_options.pack_anonymously) return;
    m_peers.Send(peer, FeatureMessage{std::string(kPackedBlocksFeature), {kPackedBlocksVersion}});
    m_states[peer].ours = true;
}

bool PackingFeature::TakeFeature(Peer& peer, const FeatureMessage& feature)
{
    if (feature.id != kPackedBlocksFeature) return false;
    if (feature.data.empty() || feature.data[0] != kPackedBlocksVersion) return false;
    m_states[peer].theirs = true;
    return true;
}

} // namespace ibd

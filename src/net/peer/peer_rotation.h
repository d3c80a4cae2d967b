// PeerRotation: connects an extra peer beyond the slots when the tip is stale, or occasionally to
// compare headers; and chooses the peer to evict afterwards. Owned by PeerManager.
#pragma once

#include "net/peer/block_relay.h"

namespace ibd {

class PeerRotation final : public PeerTopic {
public:
    PeerRotation(PeerSet& peers, const HeaderDownload& headers, const BlockRelay& blocks)
        : m_peers(peers), m_headers(headers), m_blocks(blocks)
    {
    }

    void StartRound() override;
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork) override;

    /** Whether the tip is stale, so that one more peer should be connected. */
    bool WantsAnother() const { return m_wants_another; }
    /** Whether the chain was synced once, so that occasionally a new peer is asked for its headers.
     */
    bool IsSynced() const { return m_synced; }

private:
    void CheckStaleTip();
    void SetWantsAnother(bool wanted);
    bool MayEvict(const Peer& peer) const;
    void EvictExtraBlockRelay();
    void EvictExtraFullRelay();

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    const HeaderDownload& m_headers;
    const BlockRelay& m_blocks;
    // Seconds since 1970.
    int64_t m_next_check = 0;
    int64_t m_next_stale_check = 0;
    int64_t m_last_tip_change = 0;
    bool m_wants_another = false;
    bool m_synced = false;
};

} // namespace ibd

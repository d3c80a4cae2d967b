// SocketLink: the peers' interface to the sockets (PeerLink), with the limit of -maxuploadtarget.
// Owned by PeerNetwork; net-msg.
#pragma once

#include "net/access_rules.h"
#include "net/socket/connections.h"
#include "net/socket/upload_meter.h"

namespace ibd {

class SocketLink final : public PeerLink {
public:
    SocketLink(NetworkState& state, AccessRules& access, Connections& connections)
        : m_state(state), m_access(access), m_connections(connections),
          m_upload(state.options.max_upload)
    {
    }

    void Send(PeerId peer, OutgoingMessage message) override;
    bool SendPaused(PeerId peer) const override { return m_connections.SendPaused(peer); }
    void Consumed(PeerId peer, size_t bytes) override { m_connections.Consumed(peer, bytes); }
    void Disconnect(PeerId peer) override;
    void Discourage(const NetAddress& address) override { m_access.Discourage(address); }
    PeerTraffic Traffic(PeerId peer) const override { return m_connections.Traffic(peer); }
    bool MayUploadHistory() const override;
    bool MayUpload() const override;
    Bytes GroupOf(const NetAddress& address) const override
    {
        return m_state.options.groups.GroupOf(address);
    }

    /** Counts the bytes sent until now. */
    void UpdateUpload();
    TrafficTotals Totals();

private:
    UploadMeter UploadNow(int64_t now) const;

    NetworkState& m_state;
    AccessRules& m_access;
    Connections& m_connections;
    UploadMeter m_upload;
};

} // namespace ibd

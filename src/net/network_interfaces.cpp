// See network_interfaces.h.
#include "net/network_interfaces.h"

#include "net/automatic_peers.h"
#include "net/socket_link.h"

#include <algorithm>

namespace ibd {

// Queries.

std::vector<PeerInfo> PeerInfoSource::Peers()
{
    return m_state.thread.Ask([&] {
        std::vector<PeerInfo> out = m_manager.Info();
        for (PeerInfo& info : out) {
            Channel::Counts counts = m_connections.CountsByType(info.connection.id);
            info.sent_by_type = std::move(counts.sent);
            info.received_by_type = std::move(counts.received);
            info.mapped_as = m_state.options.groups.MappedAs(info.connection.address.address);
        }
        return out;
    });
}

PeerCounts PeerInfoSource::Counts()
{
    return m_state.thread.Ask([&] { return m_state.peers.Counts(); });
}

TrafficTotals PeerInfoSource::Traffic()
{
    return m_state.thread.Ask([&] { return m_link.Totals(); });
}

std::vector<OwnAddress> PeerInfoSource::OwnAddresses()
{
    std::vector<OwnAddress> out;
    m_state.thread.Run([&] {
        for (const auto& [address, entry] : m_addresses.Own().All()) {
            out.push_back({{address, entry.port}, entry.score});
        }
    });
    return out;
}

std::vector<Endpoint> PeerInfoSource::Listening() { return m_connections.Listening(); }

int64_t PeerInfoSource::TimeOffset()
{
    return m_state.thread.Ask([&] { return m_manager.TimeOffset(); });
}

NetworkWays PeerInfoSource::Ways()
{
    return m_state.thread.Ask([&] { return m_state.ways; });
}

bool PeerInfoSource::IsActive() { return m_state.active; }

uint64_t PeerInfoSource::Services() const
{
    const uint64_t services = m_state.options.peers.services;
    return m_state.lacks_history ? services & ~uint64_t{kNodeNetwork} : services;
}

// Connections.

void ConnectionControl::SetActive(bool active)
{
    m_state.thread.Run([&] {
        m_state.at.log.Info("SetNetworkActive: {}", active);
        if (m_state.active.exchange(active) == active || active) return;
        for (const auto& [id, peer] : m_state.peers.All()) {
            (void)m_manager.Disconnect(id, "Network not active");
        }
    });
}

void ConnectionControl::LimitServices(bool limited) { m_state.lacks_history = limited; }

void ConnectionControl::PingAll()
{
    m_state.thread.Run([&] { m_manager.PingAll(); });
}

bool ConnectionControl::AddNode(const std::string& name, bool v2)
{
    return m_state.thread.Ask([&] { return m_named.Add(name, v2); });
}

bool ConnectionControl::RemoveNode(const std::string& name)
{
    return m_state.thread.Ask([&] { return m_named.Remove(name); });
}

void ConnectionControl::TryNode(const std::string& name, bool v2)
{
    OutboundCall call;
    call.destination = name;
    call.v2 = v2;
    call.over = std::make_shared<std::promise<void>>();
    const std::future<void> over = call.over->get_future();
    m_state.thread.Run([&] { (void)m_calls.Connect(std::move(call)); });
    over.wait();
}

std::vector<AddedNode> ConnectionControl::AddedNodes()
{
    return m_state.thread.Ask([&] { return m_named.List(); });
}

bool ConnectionControl::AddConnection(const std::string& address, ConnectionKind kind, bool v2)
{
    OutboundCall call;
    call.kind = kind;
    call.v2 = v2;
    call.over = std::make_shared<std::promise<void>>();
    const std::future<void> over = call.over->get_future();
    const bool added =
        m_state.thread.Ask([&] { return m_calls.AddConnection(address, std::move(call)); });
    over.wait();
    return added;
}

bool ConnectionControl::Disconnect(PeerId peer)
{
    return m_state.thread.Ask([&] { return m_manager.Disconnect(peer, "disconnect by id"); });
}

bool ConnectionControl::Disconnect(const std::string& name)
{
    return m_state.thread.Ask([&] {
        for (const auto& [id, peer] : m_state.peers.All()) {
            if (peer.peer.name != name) continue;
            const bool log = m_state.options.peers.log_addresses;
            return m_manager.Disconnect(
                id, fmt::format("disconnect by address{} match", log ? "=" + name : ""));
        }
        return false;
    });
}

bool ConnectionControl::SendMessage(PeerId peer, const std::string& type, Bytes payload)
{
    return m_state.thread.Ask([&] { return m_manager.SendTo(peer, {type, std::move(payload)}); });
}

// Bans.

bool BanControl::Ban(const Subnet& range, int64_t seconds, bool absolute)
{
    return m_state.thread.Ask([&] {
        if (!m_access.Ban(range, seconds, absolute)) return false;
        DisconnectRange(range);
        return true;
    });
}

void BanControl::DisconnectRange(const Subnet& range)
{
    const bool log = m_state.options.peers.log_addresses;
    const std::string why =
        fmt::format("disconnect by subnet{} match", log ? "=" + range.ToString() : "");
    for (const auto& [id, peer] : m_state.peers.All()) {
        if (range.Contains(peer.peer.address.address)) (void)m_manager.Disconnect(id, why);
    }
}

bool BanControl::Unban(const Subnet& range)
{
    return m_state.thread.Ask([&] { return m_access.Unban(range); });
}

void BanControl::Clear()
{
    m_state.thread.Run([&] { m_access.ClearBans(); });
}

bool BanControl::IsBanned(const Subnet& range)
{
    return m_state.thread.Ask([&] { return m_access.IsBanned(range); });
}

bool BanControl::IsBanned(const NetAddress& address)
{
    return m_state.thread.Ask([&] { return m_access.IsBanned(address); });
}

std::map<Subnet, BanEntry> BanControl::All()
{
    return m_state.thread.Ask([&] { return m_access.Bans(); });
}

// The address manager.

std::vector<PeerAddress> AddressControl::Known(size_t count, std::optional<AddressNetwork> network)
{
    return m_state.thread.Ask([&] { return m_addresses.Known(count, network); });
}

AddAddressResult AddressControl::Add(const Endpoint& address, bool tried)
{
    return m_state.thread.Ask([&] { return m_addresses.Add(address, tried); });
}

AddressCounts AddressControl::Counts(std::optional<AddressNetwork> network)
{
    return m_state.thread.Ask([&] {
        const AddrMan& others = m_addresses.Others();
        return AddressCounts{others.Size(network, true), others.Size(network, false)};
    });
}

std::vector<std::pair<AddrInfo, AddrMan::Position>> AddressControl::Table(bool tried)
{
    return m_state.thread.Ask([&] { return m_addresses.Others().Entries(tried); });
}

void AddressControl::Save()
{
    const auto [file, count] = m_state.thread.Ask(
        [&] { return std::pair(m_addresses.PeersFileNow(), m_addresses.Others().Size()); });
    m_addresses.WritePeersFile(file, count);
}

// Blocks and hints.

void BlockFetching::DownloadInto(DownloadGoal& goal, BlockSink& sink)
{
    m_state.thread.Run([&] { m_manager.DownloadInto(goal, sink); });
}

void BlockFetching::StopDownload()
{
    m_state.thread.Run([&] { m_manager.StopDownload(); });
}

Result<> BlockFetching::FetchBlock(PeerId peer, const HeaderNode& node)
{
    return m_state.thread.Ask([&] { return m_manager.FetchBlock(peer, node); });
}

void BlockFetching::SetExtraPeers(int count)
{
    m_state.thread.Run([&] { m_automatic.SetExtraBlockPeers(count); });
}

HeaderAnswers BlockFetching::AskForLastHeaders()
{
    return m_state.thread.Ask([&] { return m_manager.AskForLastHeaders(); });
}

size_t BlockFetching::CountSpentCoinsPeers()
{
    const auto peers = m_state.thread.Ask([&] { return m_manager.Info(); });
    return static_cast<size_t>(std::ranges::count_if(
        peers, [](const PeerInfo& peer) { return peer.established && peer.sends_spent_coins; }));
}

void HintsFetching::Fetch(HintsGoal& goal, int64_t offer_time)
{
    m_state.thread.Run([&] { m_manager.FetchHints(goal, offer_time); });
}

void HintsFetching::Stop()
{
    m_state.thread.Run([&] { m_manager.StopHints(); });
}

void HintsFetching::Next(const std::string& why)
{
    m_state.thread.Run([&] { m_manager.NextHints(why); });
}

void HintsFetching::Punish(const Uint256& id)
{
    m_state.thread.Run([&] { m_manager.PunishForHints(id); });
}

// Relay of transactions.

void TxControl::Announce(const TransactionRef& tx)
{
    m_state.thread.Run([&] { m_manager.Announce(*tx); });
}

std::vector<OrphanPool::Orphan> TxControl::Orphans()
{
    return m_state.thread.Ask([&] { return m_manager.Orphans(); });
}

PrivateAddition TxControl::SendPrivately(const TransactionRef& tx)
{
    return m_state.thread.Ask([&] { return m_manager.Private().Send(tx); });
}

std::vector<PrivateTx> TxControl::PrivateTxs()
{
    return m_state.thread.Ask([&] { return m_manager.Private().All(); });
}

std::vector<TransactionRef> TxControl::AbortPrivate(const Uint256& id)
{
    return m_state.thread.Ask([&] { return m_manager.Private().Abort(id); });
}

void TxControl::FindStalePrivate()
{
    m_state.thread.Run([&] { m_manager.Private().FindStale(); });
}

void TxControl::AnnounceAgain()
{
    m_state.thread.Run([&] { m_manager.AnnounceAgain(); });
}

} // namespace ibd

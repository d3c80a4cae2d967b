// See network.h: each method runs one query or command of network_impl.h.
#include "net/network.h"

#include "net/network_impl.h"

namespace ibd {

PeerNetwork::PeerNetwork(PeerNetworkSurroundings surroundings, PeerNetworkOptions options)
    : m_options(std::move(options)),
      m_impl(std::make_unique<Impl>(std::move(surroundings), m_options))
{
}

PeerNetwork::~PeerNetwork() = default;

void PeerNetwork::Run(const std::function<void()>& body) { m_impl->Run(body); }

Result<> PeerNetwork::LoadAddresses() { return m_impl->LoadAddresses(); }

Result<> PeerNetwork::Start() { return m_impl->Start(); }

void PeerNetwork::Interrupt() { m_impl->Interrupt(); }

void PeerNetwork::Stop() { m_impl->Stop(); }

void PeerNetwork::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    m_impl->TipChanged(tip, fork);
}

void PeerNetwork::Wake() { m_impl->Wake(); }

void PeerNetwork::DownloadInto(DownloadGoal& goal, BlockSink& sink)
{
    Run([&] { m_impl->Manager().DownloadInto(goal, sink); });
}

void PeerNetwork::StopDownload()
{
    Run([&] { m_impl->Manager().StopDownload(); });
}

void PeerNetwork::FetchHints(HintsGoal& goal, int64_t offer_time)
{
    Run([&] { m_impl->Manager().FetchHints(goal, offer_time); });
}

void PeerNetwork::StopHints()
{
    Run([&] { m_impl->Manager().StopHints(); });
}

void PeerNetwork::NextHints(const std::string& why)
{
    Run([&] { m_impl->Manager().NextHints(why); });
}

void PeerNetwork::PunishForHints(const Uint256& id)
{
    Run([&] { m_impl->Manager().PunishForHints(id); });
}

// Queries.

std::vector<PeerInfo> PeerNetwork::Peers()
{
    return Ask([&] { return m_impl->Peers(); });
}

PeerNetwork::Counts PeerNetwork::ConnectionCounts()
{
    return Ask([&] { return m_impl->ConnectionCounts(); });
}

HeadersTold PeerNetwork::AskForLastHeaders()
{
    return Ask([&] { return m_impl->AskForLastHeaders(); });
}

PeerNetwork::Totals PeerNetwork::TotalTraffic()
{
    return Ask([&] { return m_impl->TotalTraffic(); });
}

std::vector<Endpoint> PeerNetwork::Listening() { return m_impl->Listening(); }

std::vector<PeerNetwork::OwnAddress> PeerNetwork::OwnAddresses()
{
    std::vector<OwnAddress> out;
    Run([&] {
        for (const auto& [address, entry] : m_impl->Local().All()) {
            out.push_back({{address, entry.port}, entry.score});
        }
    });
    return out;
}

int64_t PeerNetwork::TimeOffset()
{
    return Ask([&] { return m_impl->Manager().TimeOffset(); });
}

// Commands of the user.

void PeerNetwork::SetActive(bool active)
{
    Run([&] { m_impl->SetActive(active); });
}

bool PeerNetwork::IsActive() { return m_impl->IsActive(); }

void PeerNetwork::PingAll()
{
    Run([&] { m_impl->Manager().PingAll(); });
}

bool PeerNetwork::AddNode(const std::string& name, bool v2)
{
    return Ask([&] { return m_impl->AddNode(name, v2); });
}

bool PeerNetwork::RemoveNode(const std::string& name)
{
    return Ask([&] { return m_impl->RemoveNode(name); });
}

void PeerNetwork::TryNode(const std::string& name, bool v2)
{
    Impl::Call call;
    call.destination = name;
    call.v2 = v2;
    call.over = std::make_shared<std::promise<void>>();
    const std::future<void> over = call.over->get_future();
    Run([&] { (void)m_impl->Connect(std::move(call)); });
    over.wait();
}

NetworkWays PeerNetwork::Ways()
{
    return Ask([&] { return m_impl->Ways(); });
}

std::vector<PeerNetwork::AddedNode> PeerNetwork::AddedNodes()
{
    return Ask([&] { return m_impl->AddedNodes(); });
}

bool PeerNetwork::AddConnection(const std::string& address, ConnectionKind kind, bool v2)
{
    Impl::Call call;
    call.kind = kind;
    call.v2 = v2;
    call.over = std::make_shared<std::promise<void>>();
    const std::future<void> over = call.over->get_future();
    const bool added = Ask([&] { return m_impl->AddConnection(address, std::move(call)); });
    over.wait();
    return added;
}

bool PeerNetwork::Disconnect(PeerId peer)
{
    return Ask([&] { return m_impl->Disconnect(peer, "disconnect by id"); });
}

bool PeerNetwork::Disconnect(const std::string& name)
{
    return Ask([&] { return m_impl->Disconnect(name); });
}

bool PeerNetwork::SendMessage(PeerId peer, const std::string& type, Bytes payload)
{
    return Ask([&] { return m_impl->Manager().SendTo(peer, {type, std::move(payload)}); });
}

Result<> PeerNetwork::FetchBlock(PeerId peer, const HeaderNode& node)
{
    return Ask([&] { return m_impl->Manager().FetchBlock(peer, node); });
}

void PeerNetwork::SetExtraBlockPeers(int count)
{
    Run([&] { m_impl->SetExtraBlockPeers(count); });
}

// Bans.

bool PeerNetwork::Ban(const Subnet& range, int64_t seconds, bool absolute)
{
    return Ask([&] {
        if (!m_impl->Bans().Ban(range, seconds, absolute, m_impl->NowSeconds())) return false;
        m_impl->BansChanged();
        m_impl->DisconnectRange(range);
        return true;
    });
}

bool PeerNetwork::Unban(const Subnet& range)
{
    return Ask([&] {
        const bool changed = m_impl->Bans().Unban(range);
        if (changed) m_impl->BansChanged();
        return changed;
    });
}

void PeerNetwork::ClearBans()
{
    Run([&] {
        m_impl->Bans().Clear();
        m_impl->BansChanged();
    });
}

bool PeerNetwork::IsBanned(const Subnet& range)
{
    return Ask([&] { return m_impl->Bans().IsBanned(range, m_impl->NowSeconds()); });
}

bool PeerNetwork::IsBanned(const NetAddress& address)
{
    return Ask([&] { return m_impl->Bans().IsBanned(address, m_impl->NowSeconds()); });
}

std::map<Subnet, BanEntry> PeerNetwork::Bans()
{
    return Ask([&] { return m_impl->Bans().Banned(m_impl->NowSeconds()); });
}

// The address manager.

std::vector<PeerAddress> PeerNetwork::KnownAddresses(size_t count,
                                                     std::optional<AddressNetwork> network)
{
    return Ask([&] { return m_impl->KnownAddresses(count, network); });
}

PeerNetwork::AddResult PeerNetwork::AddPeerAddress(const Endpoint& address, bool tried)
{
    return Ask([&] { return m_impl->AddPeerAddress(address, tried); });
}

PeerNetwork::TableSizes PeerNetwork::AddressCounts(std::optional<AddressNetwork> network)
{
    return Ask([&] {
        const AddrMan& addresses = m_impl->Addresses();
        return TableSizes{addresses.Size(network, true), addresses.Size(network, false)};
    });
}

std::vector<std::pair<AddrInfo, AddrMan::Position>> PeerNetwork::AddressTable(bool tried)
{
    return Ask([&] { return m_impl->Addresses().Entries(tried); });
}

} // namespace ibd

// See network.h: each method calls one of network_impl.h.
#include "net/network.h"

#include "net/network_impl.h"

namespace ibd {

PeerNetwork::PeerNetwork(PeerNetworkSurroundings surroundings, PeerNetworkOptions options)
    : m_options(std::move(options)),
      m_impl(std::make_unique<Impl>(std::move(surroundings), m_options))
{
}

PeerNetwork::~PeerNetwork() = default;

Result<> PeerNetwork::LoadAddresses() { return m_impl->LoadAddresses(); }

Result<> PeerNetwork::Start() { return m_impl->Start(); }

void PeerNetwork::Interrupt() { m_impl->Interrupt(); }

void PeerNetwork::Stop() { m_impl->Stop(); }

void PeerNetwork::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    m_impl->TipChanged(tip, fork);
}

void PeerNetwork::Wake() { m_impl->Wake(); }

PeerInfoSource& PeerNetwork::Info() { return m_impl->GetInterfaces().info; }

ConnectionControl& PeerNetwork::Control() { return m_impl->GetInterfaces().control; }

BanControl& PeerNetwork::Bans() { return m_impl->GetInterfaces().bans; }

AddressControl& PeerNetwork::Addresses() { return m_impl->GetInterfaces().addresses; }

BlockFetching& PeerNetwork::Blocks() { return m_impl->GetInterfaces().blocks; }

HintsFetching& PeerNetwork::Hints() { return m_impl->GetInterfaces().hints; }

TxControl& PeerNetwork::Txs() { return m_impl->GetInterfaces().txs; }

} // namespace ibd

// See inbound_ways.h.
#include "net/inbound_ways.h"

#include "net/socket/port_mapper.h"
#include "net/socket/tor_control.h"

namespace ibd {

Result<> InboundWays::Listen()
{
    const auto fail = [](const Error& error) {
        return SystemError(
            "{}\nError: Failed to listen on any port. Use -listen=0 if you want this.",
            error.message);
    };
    for (const Binding& binding : m_options.binds) {
        const auto listening = m_connections.Listen(binding);
        if (!listening) return fail(listening.GetError());
    }
    if (!m_options.bind_any) return {};
    const uint16_t port = m_options.listen_port;
    // A failure is ignored: the user did not request IPv6.
    (void)m_connections.Listen({{NetAddress(), port}, kPermitNone, false});
    const auto listening =
        m_connections.Listen({{NetAddress::FromIpv4({0, 0, 0, 0}), port}, kPermitNone, false});
    if (!listening) return fail(listening.GetError());
    return {};
}

void InboundWays::Start()
{
    if (m_options.onion_service) StartOnionService();
    if (m_options.map_port) StartPortMapper();
}

void InboundWays::StartOnionService()
{
    const OnionServiceOptions& onion = *m_options.onion_service;
    m_connections.Attach([this, &onion](event_base* base) {
        TorControl::Settings settings{m_at.env,
                                      m_at.log,
                                      base,
                                      onion.control_name,
                                      onion.control,
                                      onion.password,
                                      m_options.folder / "onion_v3_private_key",
                                      onion.target,
                                      m_at.params.p2p_port,
                                      onion.find_proxy};
        TorControl::Events events;
        events.service = [this](const Endpoint& service, bool on) { Reachable(service, on); };
        events.proxy = [this](const Endpoint& socks) {
            m_state.thread.Post([this, socks] { UseTor(socks); });
        };
        return std::make_shared<TorControl>(std::move(settings), std::move(events));
    });
}

void InboundWays::StartPortMapper()
{
    m_connections.Attach([this](event_base* base) {
        PortMapper::Settings settings{m_at.env, m_at.log, base, m_options.listen_port};
        settings.gateway = [this](AddressNetwork network) {
            return DefaultGateway(m_at.env, network);
        };
        settings.own_addresses = InterfaceAddresses;
        return std::make_shared<PortMapper>(std::move(settings), [this](const Endpoint& external) {
            m_state.thread.Post([this, external] {
                (void)m_addresses.Own().Add(external, LocalAddresses::kMapped);
            });
        });
    });
}

/** Isolates streams, so that peers cannot link them to one node. */
void InboundWays::UseTor(const Endpoint& socks)
{
    m_state.ways.proxies[AddressNetwork::kOnion] = ProxyServer{socks, {}, true};
    if (m_options.onion_service->may_connect) {
        m_state.ways.reachable.Add(AddressNetwork::kOnion);
    }
}

void InboundWays::Reachable(const Endpoint& own, bool on)
{
    m_state.thread.Post([this, own, on] {
        if (on) {
            (void)m_addresses.Own().Add(own, LocalAddresses::kManual);
        } else {
            m_addresses.Own().Remove(own.address);
        }
    });
}

} // namespace ibd

// PortMapper: asks the router to forward our port to us (-natpmp) by PCP, or by NAT-PMP where it
// speaks that only: for IPv4, and for each routable IPv6 address of ours, which a firewall may keep
// from being called. Renewed at half of the time that was granted; after a failure it tries again
// later. Nothing is taken back at the end: the mapping is short.
//
// Owned by who owns the loop, its thread only; told things there. Memory: a handful of addresses.
#pragma once

#include "net/pcp_messages.h"
#include "util/env.h"
#include "util/log.h"

#include <deque>
#include <functional>
#include <memory>

struct event;
struct event_base;

namespace ibd {

/** The router by which this machine reaches the Internet, of /proc/net/route or ipv6_route. */
std::optional<NetAddress> ParseIpv4Gateway(std::string_view routes);
std::optional<NetAddress> ParseIpv6Gateway(std::string_view routes);
/** That of this machine; nothing if there is none. */
std::optional<NetAddress> DefaultGateway(Env& env, AddressNetwork network);

class PortMapper {
public:
    static constexpr int kTries = 3;
    static constexpr int64_t kTryMilliseconds = 1'000;
    static constexpr uint32_t kLifetime = 40 * 60;       //!< seconds, asked for
    static constexpr int kMostStrays = 16; //!< packets that are no answer, to one question
    static constexpr uint32_t kShortestLifetime = 30;    //!< below it the router talks nonsense
    static constexpr int64_t kRetryMilliseconds = 5 * 60'000;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        uint16_t port = 0; //!< at which we listen, and which others are to call
        uint16_t server_port = kPcpPort;
        /** Of the routing table; asked again each time. */
        std::function<std::optional<NetAddress>(AddressNetwork network)> gateway = {};
        /** Of this machine's interfaces. */
        std::function<std::vector<NetAddress>()> own_addresses = {};
    };
    using Mapped = std::function<void(const Endpoint& external)>;

    PortMapper(Settings settings, Mapped mapped);
    ~PortMapper();
    PortMapper(const PortMapper&) = delete;
    PortMapper& operator=(const PortMapper&) = delete;

private:
    enum class Question { kPcpMap, kNatPmpAddress, kNatPmpMap };
    struct Job {
        NetAddress gateway;
        NetAddress bind; //!< ours; any address of IPv4
    };
    struct Free {
        void operator()(event* e) const;
    };
    static void OnEvent(int, short what, void* self);

    void StartRound();
    void EndRound();
    void NextJob();
    bool OpenSocket();
    void Ask(Question question);
    void SendRequest();
    void Receive();
    PortMapAnswer Decode(ByteSpan packet) const;
    void TakeAnswer(const PortMapAnswer& answer);
    void TakeMapping(const PortMapping& mapping);
    void Refused(const PortMapAnswer& answer);
    void CloseSocket();
    void WaitFor(short what, int64_t milliseconds);
    const char* Protocol() const { return m_question == Question::kPcpMap ? "pcp" : "natpmp"; }

    const Settings m_settings;
    const Mapped m_mapped;
    std::unique_ptr<event, Free> m_event;
    std::deque<Job> m_jobs; //!< the first is at work
    int m_fd = -1;
    PortMapRequest m_request;
    Question m_question = Question::kPcpMap;
    int m_tries = 0;
    int m_strays = 0;
    NetAddress m_external; //!< as NAT-PMP told it
    bool m_warned = false; //!< that we are not authorized
    // Of the round.
    uint32_t m_lifetime = 0; //!< shortest that was granted; 0: none was
    bool m_no_resources = false;
};

} // namespace ibd

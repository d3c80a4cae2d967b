// PortMapper: asks the router to forward our port to us (-natpmp) by PCP, or by NAT-PMP if the
// router supports only that: for IPv4, and for each of our routable IPv6 addresses, which a
// firewall may block. Renews after half of the granted time; retries later after a failure.
// Mappings are not removed at the end, because they expire soon.
//
// Used on the thread of the owner's loop; callbacks run there. Memory: a few addresses.
#pragma once

#include "net/socket/pcp_messages.h"
#include "util/env.h"
#include "util/log.h"

#include <deque>
#include <functional>
#include <memory>

struct event;
struct event_base;

namespace ibd {

/** The default router, from /proc/net/route or ipv6_route. */
std::optional<NetAddress> ParseIpv4Gateway(std::string_view routes);
std::optional<NetAddress> ParseIpv6Gateway(std::string_view routes);
/** The default router of this machine; nothing: none. */
std::optional<NetAddress> DefaultGateway(Env& env, AddressNetwork network);

class PortMapper {
public:
    static constexpr int kTries = 3;
    static constexpr int64_t kTryMilliseconds = 1'000;
    static constexpr uint32_t kLifetime = 40 * 60;    //!< seconds, requested
    static constexpr int kMostStrays = 16;            //!< unrelated packets to one request
    static constexpr uint32_t kShortestLifetime = 30; //!< seconds; the router's shorter grants
                                                      //!< are implausible
    static constexpr int64_t kRetryMilliseconds = 5 * 60'000;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        uint16_t port = 0; //!< listening port, internal and external
        uint16_t server_port = kPcpPort;
        /** Reads the routing table each time. */
        std::function<std::optional<NetAddress>(AddressNetwork network)> gateway = {};
        /** Addresses of this machine's interfaces. */
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
        NetAddress bind; //!< our address, or any IPv4 address
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
    std::deque<Job> m_jobs; //!< the first one is running
    int m_fd = -1;
    PortMapRequest m_request;
    Question m_question = Question::kPcpMap;
    int m_tries = 0;
    int m_strays = 0;
    NetAddress m_external; //!< from NAT-PMP
    bool m_warned = false; //!< that we are not authorized
    // State of the current round.
    uint32_t m_lifetime = 0; //!< shortest granted time; 0: none was granted
    bool m_no_resources = false;
};

} // namespace ibd

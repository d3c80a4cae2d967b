// SeedPlan: the order and times of requests for addresses while few are known: to nodes named by
// the user (-seednode), to DNS seeds, and finally the compiled-in addresses. It has no socket and
// no thread: the caller passes the numbers of peers and addresses, and gets the next steps. Order,
// times and texts are Bitcoin Core's. Owned by PeerNetwork, thread of the peers.
#pragma once

#include "crypto/random_stream.h"
#include "net/address/addr_man.h"
#include "util/log.h"

#include <deque>

namespace ibd {

struct SeedOptions {
    std::vector<std::string> nodes; //!< -seednode
    std::vector<std::string> dns;   //!< seeds of the network
    bool dns_seed = true;
    bool force_dns = false;
    bool fixed_seeds = true;
    bool added_nodes = false; //!< -addnode was given
};

class SeedPlan {
public:
    // Microseconds.
    static constexpr int64_t kSecond = 1'000'000;
    static constexpr int64_t kNodesFirst = 30 * kSecond; //!< wait before DNS
    static constexpr int64_t kNextNode = 10 * kSecond;
    static constexpr int64_t kFewDelay = 11 * kSecond;   //!< wait before DNS, with few addresses
    static constexpr int64_t kManyDelay = 300 * kSecond; //!< wait before DNS, with many addresses
    static constexpr int64_t kFixedDelay = 60 * kSecond;
    static constexpr size_t kMany = 1000; //!< addresses
    static constexpr int kDnsAtOnce = 3;
    static constexpr int kEnoughPeers = 2;

    /** Times use the clock of `View::now`. */
    SeedPlan(SeedOptions options, Logger& log, const Hash32& seed, int64_t now, size_t addresses);

    struct View {
        int64_t now = 0;            //!< microseconds
        bool active = true;         //!< the network is active
        size_t addresses = 0;       //!< number of known ones
        int full_relay = 0;         //!< full-relay peers that have sent verack
        bool empty_network = false; //!< a reachable network has no known address
    };
    struct Step {
        std::vector<std::string> fetch; //!< nodes to connect to for their addresses
        std::vector<std::string> ask;   //!< DNS seeds to look up
        bool add_fixed = false;
    };
    Step Next(const View& view);
    /** The result of a DNS seed in Step::ask. */
    void Answered(size_t addresses)
    {
        m_found += addresses;
        --m_open;
    }

private:
    enum class Phase { kNodes, kBegin, kAsk, kDone };
    void NextNode(const View& view, Step& step);
    void NextFixed(const View& view, Step& step);
    void NextDns(const View& view, Step& step);
    bool WaitedForNodes(const View& view);
    void BeginDns(const View& view);
    bool MayAsk(const View& view);
    void EndDns(const char* why);

    const SeedOptions m_options;
    Logger& m_log;
    std::vector<std::string> m_nodes; //!< not asked yet, in random order
    std::deque<std::string> m_dns;    //!< not asked yet, in random order
    const int64_t m_start;
    int64_t m_node_since; //!< time of the last attempt to connect to a seed node
    bool m_fetch_now;     //!< at the next step
    bool m_add_fixed;
    Phase m_phase = Phase::kNodes;
    int m_right_now = 0;      //!< seeds to ask before the result is checked
    int64_t m_wait_until = 0; //!< 0: not waiting
    int64_t m_next_look = 0;
    bool m_paused = false; //!< the wait for the disabled network was logged
    size_t m_found = 0;    //!< addresses from DNS
    int m_open = 0;        //!< pending questions
};

} // namespace ibd

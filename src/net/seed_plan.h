// SeedPlan: when to ask whom for addresses, as long as there are few: nodes that the user named
// (-seednode), DNS seeds, and at last the addresses that come with the program. It has no socket
// and no thread: it says what is to be done, and hears how many peers and addresses there are.
// Order, times and texts are Bitcoin Core's. Owned by PeerNetwork, thread of the peers.
#pragma once

#include "crypto/random_stream.h"
#include "net/addr_man.h"
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
    static constexpr int64_t kNodesFirst = 30 * kSecond; //!< before DNS is asked
    static constexpr int64_t kNextNode = 10 * kSecond;
    static constexpr int64_t kFewDelay = 11 * kSecond;   //!< before DNS, with few addresses
    static constexpr int64_t kManyDelay = 300 * kSecond; //!< and with many
    static constexpr int64_t kFixedDelay = 60 * kSecond;
    static constexpr size_t kMany = 1000; //!< addresses
    static constexpr int kDnsAtOnce = 3;
    static constexpr int kEnoughPeers = 2;

    /** Times are of the clock that `View::now` has. */
    SeedPlan(SeedOptions options, Logger& log, const Hash32& seed, int64_t now, size_t addresses);

    struct View {
        int64_t now = 0;            //!< microseconds
        bool active = true;         //!< we talk to peers at all
        size_t addresses = 0;       //!< known
        int full_relay = 0;         //!< peers of that kind that have said verack
        bool empty_network = false; //!< of a network that is reachable no address is known
    };
    struct Step {
        std::vector<std::string> fetch; //!< nodes to connect to for their addresses
        std::vector<std::string> ask;   //!< DNS seeds to look up
        bool add_fixed = false;
    };
    Step Next(const View& view);
    /** What a DNS seed of Step::ask said. */
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
    std::vector<std::string> m_nodes; //!< not yet asked, in order of chance
    std::deque<std::string> m_dns;    //!< likewise
    const int64_t m_start;
    int64_t m_node_since; //!< when the last node was tried
    bool m_fetch_now;     //!< at the next step
    bool m_add_fixed;
    Phase m_phase = Phase::kNodes;
    int m_right_now = 0;      //!< seeds to ask before looking at what came of it
    int64_t m_wait_until = 0; //!< 0: does not wait
    int64_t m_next_look = 0;
    bool m_paused = false; //!< said that we do not talk to peers
    size_t m_found = 0;    //!< addresses that DNS told
    int m_open = 0;        //!< questions without an answer yet
};

} // namespace ibd

// See seed_plan.h.
#include "net/address/seed_plan.h"

#include <algorithm>

namespace ibd {

SeedPlan::SeedPlan(SeedOptions options, Logger& log, const Hash32& seed, int64_t now,
                   size_t addresses)
    : m_options(std::move(options)), m_log(log), m_nodes(m_options.nodes),
      m_dns(m_options.dns.begin(), m_options.dns.end()), m_start(now), m_node_since(now),
      m_fetch_now(addresses == 0 && !m_nodes.empty()), m_add_fixed(m_options.fixed_seeds)
{
    RandomStream chance(seed);
    chance.Shuffle(m_nodes);
    chance.Shuffle(m_dns);
    if (!m_options.dns_seed) {
        m_log.Info("DNS seeding disabled");
        m_phase = Phase::kDone;
    } else if (m_nodes.empty()) {
        m_phase = Phase::kBegin;
    } else {
        m_log.Info("-seednode enabled. Trying the provided seeds for {} seconds before defaulting "
                   "to the dnsseeds.",
                   kNodesFirst / kSecond);
    }
    if (!m_add_fixed) m_log.Info("Fixed seeds are disabled");
}

SeedPlan::Step SeedPlan::Next(const View& view)
{
    Step step;
    NextNode(view, step);
    NextDns(view, step);
    NextFixed(view, step);
    return step;
}

void SeedPlan::NextNode(const View& view, Step& step)
{
    if (m_nodes.empty()) return;
    if (m_fetch_now) {
        m_fetch_now = false;
        const std::string node = std::move(m_nodes.back());
        m_nodes.pop_back();
        if (view.addresses == 0) {
            m_log.Info("Empty addrman, adding seednode ({}) to addrfetch", node);
        } else {
            m_log.Info("Couldn't connect to peers from addrman after {} seconds. Adding seednode "
                       "({}) to addrfetch",
                       kNextNode / kSecond, node);
        }
        step.fetch.push_back(node);
    }
    if (view.full_relay >= kEnoughPeers || view.now <= m_node_since + kNextNode) return;
    m_node_since = view.now;
    m_fetch_now = !m_nodes.empty();
}

void SeedPlan::NextFixed(const View& view, Step& step)
{
    if (!m_add_fixed || !view.empty_network) return;
    if (view.now > m_start + kFixedDelay) {
        m_log.Info("Adding fixed seeds as 60 seconds have passed and addrman is empty for at least "
                   "one reachable network");
    } else if (!m_options.dns_seed && m_options.nodes.empty() && !m_options.added_nodes) {
        m_log.Info("Adding fixed seeds as -dnsseed=0 (or IPv4/IPv6 connections are disabled via "
                   "-onlynet) and neither -addnode nor -seednode are provided");
    } else {
        return;
    }
    m_add_fixed = false;
    step.add_fixed = true;
}

// DNS.

/** Whether the wait before DNS is over. */
bool SeedPlan::WaitedForNodes(const View& view)
{
    if (view.now > m_start + kNodesFirst) {
        m_log.Info("Couldn't connect to enough peers via seed nodes. Handing fetch logic to the "
                   "DNS seeds.");
        return true;
    }
    if (view.full_relay < kEnoughPeers) return false;
    m_log.Info("P2P peers available. Finished fetching data from seed nodes.");
    return true;
}

void SeedPlan::BeginDns(const View& view)
{
    if (m_options.force_dns || view.addresses == 0) {
        m_right_now = static_cast<int>(m_dns.size());
    } else if (!m_options.nodes.empty() && view.full_relay >= kEnoughPeers) {
        m_log.Info("Skipping DNS seeds. Enough peers have been found");
        m_phase = Phase::kDone;
        return;
    }
    m_phase = Phase::kAsk;
}

void SeedPlan::EndDns(const char* why)
{
    if (m_found > 0 || m_dns.empty()) m_log.Info("{} addresses found from DNS seeds", m_found);
    if (*why != '\0') m_log.Info("{}", why);
    m_phase = Phase::kDone;
}

/** With known addresses, tries these first: each query reveals us to the seed. */
bool SeedPlan::MayAsk(const View& view)
{
    if (m_right_now > 0) return true;
    if (m_wait_until == 0) {
        if (view.addresses == 0) {
            m_right_now = kDnsAtOnce;
            return true;
        }
        const int64_t wait = view.addresses >= kMany ? kManyDelay : kFewDelay;
        m_log.Info("Waiting {} seconds before querying DNS seeds.", wait / kSecond);
        m_wait_until = view.now + wait;
        m_next_look = view.now + kFewDelay;
        return false;
    }
    if (view.now < std::min(m_next_look, m_wait_until)) return false;
    m_next_look += kFewDelay;
    if (view.full_relay >= kEnoughPeers) {
        EndDns(m_found > 0 ? "P2P peers available. Finished DNS seeding."
                           : "P2P peers available. Skipped DNS seeding.");
        return false;
    }
    if (view.now < m_wait_until) return false;
    m_wait_until = 0;
    m_right_now = kDnsAtOnce;
    return true;
}

void SeedPlan::NextDns(const View& view, Step& step)
{
    if (m_phase == Phase::kNodes && WaitedForNodes(view)) m_phase = Phase::kBegin;
    if (m_phase == Phase::kBegin) BeginDns(view);
    if (m_phase != Phase::kAsk) return;
    if (m_dns.empty()) {
        if (m_open == 0) EndDns("");
        return;
    }
    if (!MayAsk(view)) return;
    if (!view.active) {
        if (!std::exchange(m_paused, true)) {
            m_log.Info("Waiting for network to be reactivated before querying DNS seeds.");
        }
        return;
    }
    m_paused = false;
    m_log.Info("Loading addresses from DNS seed {}", m_dns.front());
    step.ask.push_back(m_dns.front());
    m_dns.pop_front();
    --m_right_now;
    ++m_open;
}

} // namespace ibd

// addr_man.h: selection and queries of addresses.
#include "net/address/addr_man.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kReplacement = 4 * 60 * kMinute; //!< a connection since then protects its
                                                   //!< position
constexpr int64_t kTestWindow = 40 * kMinute;      //!< time for testing an address before it is
                                                   //!< replaced

} // namespace

AddrMan::Counts AddrMan::CountOf(const NetworkSet& networks) const
{
    Counts out;
    for (size_t i = 0; i < kAddressNetworkCount; ++i) {
        if (!networks.Empty() && !networks.Contains(static_cast<AddressNetwork>(i))) continue;
        out.in_new += m_counts[i].in_new;
        out.in_tried += m_counts[i].in_tried;
    }
    return out;
}

/** Searches from a random position of a random bucket; kNone: that bucket has none of the networks.
 */
AddrMan::Id AddrMan::PickFrom(bool tried, const NetworkSet& networks)
{
    const auto bucket = m_chance.Below(tried ? kTriedBuckets : kNewBuckets);
    const auto start = m_chance.Below(kBucketSize);
    const std::vector<Id>& table = tried ? m_tried : m_new;
    for (uint32_t i = 0; i < kBucketSize; ++i) {
        const Id id = table[bucket * kBucketSize + (start + i) % kBucketSize];
        if (id == kNone) continue;
        if (networks.Empty()) return id;
        if (networks.Contains(m_infos[id].address.endpoint.address.RoutableNetwork())) return id;
    }
    return kNone;
}

std::optional<AddrMan::Choice> AddrMan::Select(bool new_only, const NetworkSet& networks,
                                               int64_t now)
{
    const Counts counts = CountOf(networks);
    const size_t tried_count = new_only ? 0 : counts.in_tried;
    if (counts.in_new + tried_count == 0) return std::nullopt;
    const bool tried = tried_count != 0 && (counts.in_new == 0 || m_chance.Coin());
    constexpr int kScale = 1 << 30;
    // The table has one of the networks, so this terminates; bad ones are accepted as the factor
    // grows.
    for (double factor = 1.0;;) {
        const Id id = PickFrom(tried, networks);
        if (id == kNone) continue;
        const AddrInfo& info = m_infos[id];
        if (static_cast<double>(m_chance.Below(kScale)) < factor * info.Chance(now) * kScale) {
            m_logger.Debug(LogCategory::kAddrman, "Selected {} from {}",
                           info.address.endpoint.ToString(), tried ? "tried" : "new");
            return Choice{info.address, info.last_try};
        }
        factor *= 1.2;
    }
}

std::optional<AddrMan::Choice> AddrMan::SelectTriedCollision()
{
    if (m_collisions.empty()) return std::nullopt;
    const auto at = std::next(m_collisions.begin(),
                              static_cast<std::ptrdiff_t>(m_chance.Below(m_collisions.size())));
    const Id there = TriedPlaceOf(m_infos[*at].address.endpoint);
    if (there == kNone) return std::nullopt; // resolved meanwhile
    return Choice{m_infos[there].address, m_infos[there].last_try};
}

/** Returns whether the collision is resolved. */
bool AddrMan::ResolveCollision(Id id, int64_t now)
{
    const Endpoint endpoint = m_infos[id].address.endpoint;
    const Id there = TriedPlaceOf(endpoint);
    if (there == kNone) {
        MarkGood(endpoint, false, now);
        return true;
    }
    const AddrInfo& old = m_infos[there];
    const std::string old_text = old.address.endpoint.ToString();
    if (now - old.last_success < kReplacement) return true;
    if (now - old.last_try < kReplacement) {
        if (now - old.last_try <= kMinute) return false; // it may still answer
        m_logger.Debug(LogCategory::kAddrman, "Replacing {} with {} in tried table", old_text,
                       endpoint.ToString());
    } else {
        if (now - m_infos[id].last_success <= kTestWindow) return false;
        m_logger.Debug(LogCategory::kAddrman,
                       "Unable to test; replacing {} with {} in tried table anyway", old_text,
                       endpoint.ToString());
    }
    MarkGood(endpoint, false, now);
    return true;
}

void AddrMan::ResolveCollisions(int64_t now)
{
    const std::vector<Id> cases(m_collisions.begin(), m_collisions.end());
    for (const Id id : cases) {
        // Resolving a collision may have removed the entry of another.
        if (!m_collisions.contains(id)) continue;
        if (m_infos[id].tried || ResolveCollision(id, now)) m_collisions.erase(id);
    }
}

std::vector<PeerAddress> AddrMan::GetAddresses(size_t max, size_t max_percent,
                                               std::optional<AddressNetwork> network, int64_t now,
                                               bool filtered)
{
    CHECK(max_percent <= 100);
    size_t wanted = m_random.size();
    if (max_percent != 0) wanted = max_percent * wanted / 100;
    if (max != 0) wanted = std::min(wanted, max);
    std::vector<PeerAddress> out;
    out.reserve(wanted);
    for (size_t i = 0; i < m_random.size() && out.size() < wanted; ++i) {
        SwapRandom(i, i + m_chance.Below(m_random.size() - i));
        const AddrInfo& info = m_infos[m_random[i]];
        if (network && info.address.endpoint.address.NetworkClass() != *network) continue;
        if (filtered && info.IsTerrible(now)) continue;
        out.push_back(info.address);
    }
    m_logger.Debug(LogCategory::kAddrman, "GetAddr returned {} random addresses", out.size());
    return out;
}

std::optional<AddrMan::Position> AddrMan::Find(const Endpoint& endpoint) const
{
    const auto found = m_ids.find(endpoint);
    if (found == m_ids.end()) return std::nullopt;
    const AddrInfo& info = m_infos[found->second];
    const uint32_t bucket =
        info.tried ? m_places.TriedBucket(endpoint) : m_places.NewBucket(endpoint, info.source);
    return Position{info.tried, info.tried ? 1 : info.references, bucket,
                    m_places.InBucket(endpoint, !info.tried, bucket)};
}

std::vector<std::pair<AddrInfo, AddrMan::Position>> AddrMan::Entries(bool tried) const
{
    std::vector<std::pair<AddrInfo, Position>> out;
    const std::vector<Id>& table = tried ? m_tried : m_new;
    for (uint32_t i = 0; i < table.size(); ++i) {
        if (table[i] == kNone) continue;
        const AddrInfo& info = m_infos[table[i]];
        out.emplace_back(
            info, Position{tried, tried ? 1 : info.references, i / kBucketSize, i % kBucketSize});
    }
    return out;
}

size_t AddrMan::Size(std::optional<AddressNetwork> network, std::optional<bool> in_new) const
{
    Counts counts;
    if (network) {
        counts = m_counts[static_cast<size_t>(*network)];
    } else {
        counts = CountOf({});
    }
    if (!in_new) return counts.in_new + counts.in_tried;
    return *in_new ? counts.in_new : counts.in_tried;
}

} // namespace ibd

// See eviction.h.
#include "net/peer/eviction.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace ibd {

namespace {

using Candidates = std::vector<EvictionCandidate>;
using Better = std::function<bool(const EvictionCandidate&, const EvictionCandidate&)>;
using Which = std::function<bool(const EvictionCandidate&)>;

constexpr size_t kProtectedGroups = 4;
constexpr size_t kProtectedPings = 8;
constexpr size_t kProtectedTxs = 4;
constexpr size_t kProtectedBlockRelay = 8;
constexpr size_t kProtectedBlocks = 4;

bool All(const EvictionCandidate&) { return true; }

/** Sorts by `worse` (the best is last) and removes those of the best `count` that match `which`. */
void Protect(Candidates& candidates, const Better& worse, size_t count, const Which& which = All)
{
    std::sort(candidates.begin(), candidates.end(), worse);
    const auto best =
        candidates.end() - static_cast<std::ptrdiff_t>(std::min(count, candidates.size()));
    candidates.erase(std::remove_if(best, candidates.end(), which), candidates.end());
}

bool Younger(const EvictionCandidate& a, const EvictionCandidate& b)
{
    return a.connected > b.connected;
}

bool BroughtFewerTxs(const EvictionCandidate& a, const EvictionCandidate& b)
{
    return std::tuple(a.last_tx, a.relays_txs, !a.bloom_filter, -a.connected) <
           std::tuple(b.last_tx, b.relays_txs, !b.bloom_filter, -b.connected);
}

bool BroughtFewerBlocks(const EvictionCandidate& a, const EvictionCandidate& b)
{
    return std::tuple(a.last_block, a.relevant_services, -a.connected) <
           std::tuple(b.last_block, b.relevant_services, -b.connected);
}

bool WorseForBlocksOnly(const EvictionCandidate& a, const EvictionCandidate& b)
{
    if (a.relays_txs != b.relays_txs) return a.relays_txs;
    return BroughtFewerBlocks(a, b);
}

/** A network with few peers; or the peers on this machine. */
struct Minority {
    AddressNetwork network;
    bool local = false;
    size_t count = 0;

    bool Has(const EvictionCandidate& candidate) const
    {
        return local ? candidate.is_local : candidate.network == network;
    }
    /** Sorts its peers last, and the oldest of them at the end. */
    bool Worse(const EvictionCandidate& a, const EvictionCandidate& b) const
    {
        if (local && a.is_local != b.is_local) return b.is_local;
        if (!local && Has(a) != Has(b)) return Has(b);
        return Younger(a, b);
    }
};

/** One round of shares for each network; returns the number of protected peers. */
size_t ProtectShares(Candidates& candidates, std::vector<Minority>& minorities, size_t most)
{
    const auto present = std::count_if(minorities.begin(), minorities.end(),
                                       [](const Minority& m) { return m.count > 0; });
    if (present == 0) return 0;
    const size_t share = std::max<size_t>(most / static_cast<size_t>(present), 1);
    size_t taken = 0;
    for (Minority& minority : minorities) {
        if (minority.count == 0) continue;
        const size_t before = candidates.size();
        Protect(
            candidates, [&](const auto& a, const auto& b) { return minority.Worse(a, b); }, share,
            [&](const auto& candidate) { return minority.Has(candidate); });
        const size_t now = before - candidates.size();
        minority.count -= now;
        taken += now;
        if (taken >= most) break;
    }
    return taken;
}

/** The peers of the largest group; of two equal ones, the one with the younger youngest peer.
 *  Candidates are sorted by age, the youngest first. */
Candidates OfLargestGroup(const Candidates& candidates)
{
    std::map<uint64_t, Candidates> groups;
    const Candidates* largest = nullptr;
    for (const EvictionCandidate& candidate : candidates) {
        Candidates& group = groups[candidate.group];
        group.push_back(candidate);
        const auto rank = [](const Candidates& of) {
            return std::pair(of.size(), of.front().connected);
        };
        if (!largest || rank(group) > rank(*largest)) largest = &group;
    }
    return *largest;
}

} // namespace

void ProtectByNetworkAndAge(Candidates& candidates)
{
    const size_t initial = candidates.size();
    const size_t half = initial / 2;
    std::vector<Minority> minorities = {{AddressNetwork::kCjdns},
                                        {AddressNetwork::kI2p},
                                        {AddressNetwork::kUnroutable, true},
                                        {AddressNetwork::kOnion}};
    for (Minority& minority : minorities) {
        minority.count = static_cast<size_t>(
            std::count_if(candidates.begin(), candidates.end(),
                          [&](const auto& candidate) { return minority.Has(candidate); }));
    }
    // Unused shares of networks with few peers are given to the others.
    std::stable_sort(minorities.begin(), minorities.end(),
                     [](const Minority& a, const Minority& b) { return a.count < b.count; });
    size_t taken = 0;
    while (taken < half / 2) {
        const size_t now = ProtectShares(candidates, minorities, half / 2 - taken);
        if (now == 0) break;
        taken += now;
    }
    Protect(candidates, Younger, half - taken);
}

std::optional<PeerId> SelectToEvict(Candidates candidates)
{
    std::erase_if(candidates, [](const auto& c) { return c.noban || !c.inbound; });
    Protect(
        candidates, [](const auto& a, const auto& b) { return a.group < b.group; },
        kProtectedGroups);
    Protect(
        candidates, [](const auto& a, const auto& b) { return a.ping_shortest > b.ping_shortest; },
        kProtectedPings);
    Protect(candidates, BroughtFewerTxs, kProtectedTxs);
    Protect(candidates, WorseForBlocksOnly, kProtectedBlockRelay,
            [](const auto& c) { return !c.relays_txs && c.relevant_services; });
    Protect(candidates, BroughtFewerBlocks, kProtectedBlocks);
    ProtectByNetworkAndAge(candidates);
    if (candidates.empty()) return std::nullopt;
    // Peers with a useful property were protected above, even if they are marked for eviction.
    const auto unwanted = [](const auto& c) { return c.prefer_evict; };
    if (std::any_of(candidates.begin(), candidates.end(), unwanted)) {
        std::erase_if(candidates, [&](const auto& c) { return !unwanted(c); });
    }
    return OfLargestGroup(candidates).front().id;
}

} // namespace ibd

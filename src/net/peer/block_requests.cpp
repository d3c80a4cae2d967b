// See block_requests.h.
#include "net/peer/block_requests.h"

#include <algorithm>

namespace ibd {

std::deque<BlockRequests::Request>::iterator BlockRequests::Load::Find(const HeaderNode& node)
{
    return std::find_if(requests.begin(), requests.end(),
                        [&](const Request& request) { return request.node == &node; });
}

void BlockRequests::Add(PeerId peer, const std::vector<const HeaderNode*>& nodes, int64_t now)
{
    if (nodes.empty()) return;
    Load& load = m_loads[peer];
    if (load.requests.empty()) {
        load.first_since = load.last_received = now;
        load.rate.Begin(now);
        // Others delivered in its place. It has the time of a stall to deliver one itself.
        if (load.stalling_since != 0) load.stalling_since = now;
    }
    for (const HeaderNode* node : nodes) {
        load.requests.push_back({node, nullptr});
        const auto [owed, is_new] = m_owed.try_emplace(node);
        owed->second.peers.push_back(peer);
        if (!is_new) continue;
        const auto again = m_given_back.find({node->height, node});
        owed->second.since = again == m_given_back.end() ? now : again->second;
        if (again != m_given_back.end()) m_given_back.erase(again);
    }
}

void BlockRequests::Remove(PeerId peer, const HeaderNode& node, int64_t now)
{
    if (!IsAskedOf(peer, node)) return;
    Load& load = m_loads[peer];
    load.last_received = now;
    load.stalling_since = 0;
    End(peer, node, now);
}

/** That another peer answered is no excuse for this one: it may still be silent. */
void BlockRequests::End(PeerId peer, const HeaderNode& node, int64_t now)
{
    Load& load = m_loads[peer];
    const auto request = load.Find(node);
    if (request == load.requests.begin()) load.first_since = now;
    load.requests.erase(request);
    if (load.requests.empty()) load.rate.End(now);
    RemoveOwed(peer, node);
}

void BlockRequests::RemoveAll(const HeaderNode& node, int64_t now)
{
    const auto peers = AskedOf(node);
    // Iterates over a copy, because End() changes AskedOf().
    for (const PeerId peer : std::vector<PeerId>(peers.begin(), peers.end())) End(peer, node, now);
}

void BlockRequests::RemovePeer(PeerId peer)
{
    const auto found = m_loads.find(peer);
    if (found == m_loads.end()) return;
    for (const Request& request : found->second.requests) {
        const HeaderNode& node = *request.node;
        const int64_t since = m_owed.at(&node).since;
        RemoveOwed(peer, node);
        GiveBack(node, since);
    }
    m_loads.erase(found);
}

void BlockRequests::RemoveOwed(PeerId peer, const HeaderNode& node)
{
    const auto owed = m_owed.find(&node);
    std::erase(owed->second.peers, peer);
    if (owed->second.peers.empty()) m_owed.erase(owed);
}

void BlockRequests::GiveBack(const HeaderNode& node, int64_t since)
{
    if (!IsAsked(node)) m_given_back.try_emplace({node.height, &node}, since);
}

BlockRequests::Load* BlockRequests::FindLoad(PeerId peer)
{
    const auto found = m_loads.find(peer);
    return found == m_loads.end() ? nullptr : &found->second;
}

const BlockRequests::Load* BlockRequests::FindLoad(PeerId peer) const
{
    const auto found = m_loads.find(peer);
    return found == m_loads.end() ? nullptr : &found->second;
}

bool BlockRequests::IsAskedOf(PeerId peer, const HeaderNode& node) const
{
    const auto peers = AskedOf(node);
    return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

std::span<const PeerId> BlockRequests::AskedOf(const HeaderNode& node) const
{
    const auto found = m_owed.find(&node);
    return found == m_owed.end() ? std::span<const PeerId>() : found->second.peers;
}

std::unique_ptr<PartialBlock>& BlockRequests::Partial(PeerId peer, const HeaderNode& node)
{
    CHECK(IsAskedOf(peer, node));
    return m_loads[peer].Find(node)->partial;
}

size_t BlockRequests::CountTo(PeerId peer) const
{
    const Load* const load = FindLoad(peer);
    return load ? load->requests.size() : 0;
}

bool BlockRequests::OnlyHelps(PeerId peer) const
{
    const Load* const load = FindLoad(peer);
    return !load || std::ranges::all_of(load->requests, [&](const Request& request) {
        return AskedOf(*request.node).front() != peer;
    });
}

std::vector<int32_t> BlockRequests::HeightsOf(PeerId peer) const
{
    std::vector<int32_t> out;
    const Load* const load = FindLoad(peer);
    if (!load) return out;
    for (const Request& request : load->requests) out.push_back(request.node->height);
    return out;
}

} // namespace ibd

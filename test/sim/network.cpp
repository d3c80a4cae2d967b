// See network.h.
#include "sim/network.h"

namespace ibd::sim {

namespace {

constexpr size_t kMessageHeader = 24; //!< bytes around a payload

} // namespace

ServedChain::ServedChain(const ChainParams& params, std::span<const Bytes> blocks)
    : m_tree(params), m_blocks(blocks)
{
    m_active.SetTip(m_tree.Genesis());
    for (const Bytes& raw : blocks.subspan(1)) {
        const BlockHeader header = BlockHeader::FromBytes(raw.data());
        HeaderNode* const node = m_tree.Insert(header, header.Hash());
        CHECK(node->prev == m_active.Tip());
        m_active.SetTip(node);
    }
}

RuleResult ServedChain::AcceptHeaders(std::span<const BlockHeader> headers, const HeaderNode** last)
{
    for (const BlockHeader& header : headers) {
        const HeaderNode* const known = Find(header.Hash());
        if (!known) return Violation(RuleViolation::Kind::kHeaderLowWork, "too-little-chainwork");
        *last = known;
    }
    return std::nullopt;
}

Result<Bytes> ServedChain::ReadBlock(const HeaderNode& node)
{
    return m_blocks[static_cast<size_t>(node.height)];
}

Host::Host(Network& network, const World& world, PeerOptions options, uint64_t seed)
    : m_network(network), m_rng(seed), m_env(seed), m_log(MakeNullLogger()),
      m_peers({m_env, *m_log, world.params, world.chain, world.headers, world.blocks, *this,
               [this] { return m_network.Now(); }, nullptr, world.pool, nullptr, nullptr, nullptr,
               world.pool},
              std::move(options))
{
}

void Host::WorkSoon()
{
    if (std::exchange(m_work_due, true)) return;
    m_network.At(m_network.Now(), [this] { Work(); });
}

void Host::Work()
{
    m_work_due = false;
    if (m_peers.Work()) WorkSoon();
}

void Host::Die()
{
    while (!m_ends.empty()) Disconnect(m_ends.begin()->first);
}

void Host::Send(PeerId peer, OutgoingMessage message)
{
    const auto found = m_ends.find(peer);
    if (found == m_ends.end() || (tamper && !tamper(message))) return;
    End& end = found->second;
    const size_t size =
        (m_network.weigh ? m_network.weigh(message) : message.payload.size()) + kMessageHeader;
    const int64_t arrival = ArrivalOn(end, size);
    end.queued += size;
    end.sent += size;
    m_network.At(end.free_at, [this, peer, size] {
        const auto left = m_ends.find(peer);
        if (left == m_ends.end()) return;
        left->second.queued -= size;
        left->second.traffic.last_send = m_network.Now() / kSecond;
        WorkSoon();
    });
    m_network.At(arrival,
                 [other = end.other, id = end.id_there, size, m = std::move(message)]() mutable {
                     other->Arrive(id, std::move(m), size);
                 });
}

/** Puts a message of that size on the line; returns when it arrives. */
int64_t Host::ArrivalOn(End& end, size_t size)
{
    const LinkQuality& line = end.quality;
    const int64_t begin = std::max(m_network.Now(), end.free_at);
    end.free_at = begin + static_cast<int64_t>(size) * kSecond / line.bytes_per_second;
    if (line.stalls_ppm > 0 && m_rng.Chance(uint64_t(line.stalls_ppm), 1'000'000)) {
        end.free_at += line.stall;
    }
    const int64_t late = line.jitter > 0 ? int64_t(m_rng.Below(uint64_t(line.jitter))) : 0;
    end.there_at = std::max(end.there_at, end.free_at + line.latency + late);
    return end.there_at;
}

void Host::Arrive(PeerId peer, OutgoingMessage message, size_t size)
{
    const auto found = m_ends.find(peer);
    if (found == m_ends.end()) return; // the connection is gone
    found->second.traffic.last_receive = m_network.Now() / kSecond;
    if (hear && hear(peer, message)) return;
    m_peers.Received(peer, {std::string(message.type), std::move(message.payload), size, ""});
    WorkSoon();
}

bool Host::SendPaused(PeerId peer) const
{
    const auto found = m_ends.find(peer);
    return found != m_ends.end() && found->second.queued > kSendBuffer;
}

PeerTraffic Host::Traffic(PeerId peer) const
{
    const auto found = m_ends.find(peer);
    if (found == m_ends.end()) return {};
    PeerTraffic out = found->second.traffic;
    out.bytes_received = BytesFrom(found->second);
    return out;
}

/** Bytes that have arrived, with those of a message that is arriving. */
uint64_t Host::BytesFrom(const End& end) const
{
    const auto there = end.other->m_ends.find(end.id_there);
    if (there == end.other->m_ends.end()) return 0;
    const End& sender = there->second;
    const int64_t coming = sender.free_at + sender.quality.latency - m_network.Now();
    const int64_t bytes = std::max(coming, int64_t{0}) * sender.quality.bytes_per_second / kSecond;
    return sender.sent - std::min(sender.sent, uint64_t(bytes));
}

/** Messages in transit are lost; the other side learns of the disconnection later. */
void Host::Disconnect(PeerId peer)
{
    const auto found = m_ends.find(peer);
    if (found == m_ends.end()) return;
    const End end = found->second;
    m_ends.erase(found);
    m_network.At(m_network.Now(), [this, peer] { Lose(peer); });
    m_network.At(m_network.Now() + end.quality.latency,
                 [other = end.other, id = end.id_there] { other->Lose(id); });
}

void Host::Lose(PeerId peer)
{
    m_ends.erase(peer);
    m_peers.Disconnected(peer);
    WorkSoon();
}

void Network::At(int64_t when, std::function<void()> what)
{
    m_events.emplace(std::max(when, m_now), std::move(what));
}

bool Network::Step()
{
    if (m_events.empty()) return false;
    auto next = m_events.extract(m_events.begin());
    m_now = next.key();
    ++m_steps;
    next.mapped()();
    return true;
}

Network::Link Network::Connect(Host& from, Host& to, ConnectionKind kind,
                               const std::string& address, const LinkQuality& quality)
{
    const PeerId there = m_next_id++;
    const PeerId here = m_next_id++;
    from.m_ends[there] = {&to, here, quality, 0, 0, 0, 0, {}};
    to.m_ends[here] = {&from, there, quality, 0, 0, 0, 0, {}};
    NewPeer peer;
    peer.id = there;
    peer.kind = kind;
    peer.name = address;
    peer.address = *Endpoint::Parse(address, 8333);
    from.m_peers.Connected(peer);
    peer.id = here;
    peer.kind = ConnectionKind::kInbound;
    to.m_peers.Connected(peer);
    from.WorkSoon();
    to.WorkSoon();
    return {there, here};
}

void Network::Tick(Host& host, int64_t micros)
{
    At(m_now + micros, [this, &host, micros] {
        host.WorkSoon();
        Tick(host, micros);
    });
}

} // namespace ibd::sim

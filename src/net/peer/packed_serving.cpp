// See packed_serving.h.
#include "net/peer/packed_serving.h"

#include "net/wire/message_table.h"

#include <bit>

namespace ibd {

void PackedServing::Handle(Peer& peer, ReceivedMessage& message)
{
    if (!m_feature.IsAgreed(peer)) return m_peers.LogUnknown(peer, message.type);
    const auto request = m_peers.Read<GetPackedMessage>(message.payload);
    if (!request) return;
    if (request->blocks.TooMany()) {
        return m_peers.Misbehaving(
            peer, fmt::format("getpacked message size = {}", request->blocks.Count()));
    }
    m_at.log.Debug(LogCategory::kNet, "received getpacked for {} blocks peer={}",
                   request->blocks.items.size(), peer.Id());
    auto& requests = m_states[peer].requests;
    requests.insert(requests.end(), request->blocks.items.begin(), request->blocks.items.end());
    Serve(peer);
}

/** One batch or block at a time: reading and packing it is work. */
void PackedServing::Serve(Peer& peer)
{
    auto& requests = m_states[peer].requests;
    if (requests.empty() || peer.closing || m_at.link.SendPaused(peer.Id())) return;
    if (m_serving.AwaitsChain(requests.front())) return;
    const std::vector<const HeaderNode*> nodes = NextBlocks(peer);
    if (peer.closing) return;
    if (nodes.empty()) return requests.pop_front(); // as a block in getdata that is not served
    if (!SendKept(peer, nodes)) SendNew(peer, nodes);
}

PeerTopic::Unserved PackedServing::UnservedOf(const Peer& peer) const
{
    const auto& requests = m_states[peer].requests;
    if (requests.empty()) return Unserved::kNone;
    return m_serving.AwaitsChain(requests.front()) ? Unserved::kWaiting : Unserved::kReady;
}

/** The next blocks that may make a batch: a power of two, consecutive, the first height a multiple
 *  of their number. Empty: the next is not served. */
std::vector<const HeaderNode*> PackedServing::NextBlocks(Peer& peer)
{
    const auto& requests = m_states[peer].requests;
    std::vector<const HeaderNode*> out;
    const HeaderNode* const first = m_serving.Servable(peer, requests.front());
    if (!first) return out;
    out.push_back(first);
    const auto height = static_cast<uint32_t>(first->height);
    const size_t aligned = height == 0 ? kMaxBatchBlocks : size_t{1} << std::countr_zero(height);
    const size_t most = std::min({aligned, kMaxBatchBlocks, requests.size()});
    while (out.size() < most) {
        const HeaderNode* const next = m_at.chain.Find(requests[out.size()]);
        if (!next || next->prev != out.back() || !m_serving.Servable(peer, next->hash)) break;
        out.push_back(next);
    }
    out.resize(std::bit_floor(out.size()));
    return out;
}

bool PackedServing::SendKept(Peer& peer, const std::vector<const HeaderNode*>& nodes)
{
    for (size_t count = nodes.size(); count > 0; count /= 2) {
        const Bytes* const batch = m_cache.Find(nodes.front()->hash, count);
        if (!batch) continue;
        SendBatch(peer, count, *batch);
        return true;
    }
    return false;
}

void PackedServing::SendNew(Peer& peer, const std::vector<const HeaderNode*>& nodes)
{
    const bool may_pack = m_budget.Allows(m_at.env.MonotonicMicros());
    std::vector<Bytes> blocks;
    size_t size = 0;
    for (const HeaderNode* node : nodes) {
        auto raw = m_at.blocks.ReadBlock(*node);
        if (!raw) {
            m_serving.LogUnread(peer, raw.Message());
            return m_peers.Close(peer);
        }
        size += raw->size();
        if (!blocks.empty() && size > kMostBytes) break;
        blocks.push_back(std::move(*raw));
        if (!may_pack) break;
    }
    blocks.resize(std::bit_floor(blocks.size()));
    if (!may_pack || blocks.front().size() > kMaxBatchBytes) {
        return SendPlain(peer, std::move(blocks.front()));
    }
    const int64_t start = m_at.env.MonotonicMicros();
    const std::vector<ByteSpan> spans(blocks.begin(), blocks.end());
    auto batch = PackBlocks(spans, m_options.pack_level);
    m_budget.Spend(m_at.env.MonotonicMicros() - start);
    if (!batch) {
        m_at.log.Warning("{}", batch.Message());
        return SendPlain(peer, std::move(blocks.front()));
    }
    if (batch->size() >= kMaxPayload) return SendPlain(peer, std::move(blocks.front()));
    m_cache.Keep(nodes.front()->hash, blocks.size(), *batch);
    SendBatch(peer, blocks.size(), std::move(*batch));
}

void PackedServing::SendBatch(Peer& peer, size_t blocks, Bytes batch)
{
    auto& requests = m_states[peer].requests;
    requests.erase(requests.begin(), requests.begin() + static_cast<ptrdiff_t>(blocks));
    m_peers.SendRaw(peer, {std::string(PackedMessage::kType), std::move(batch)});
}

void PackedServing::SendPlain(Peer& peer, Bytes block)
{
    m_states[peer].requests.pop_front();
    m_peers.SendRaw(peer, {std::string(BlockMessage::kType), std::move(block)});
}

} // namespace ibd

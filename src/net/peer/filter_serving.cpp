// See filter_serving.h.
#include "net/peer/filter_serving.h"

#include "net/wire/protocol.h"

namespace ibd {

namespace {

constexpr uint8_t kBasic = 0; //!< the only type

/** The last block that a request names; nothing: malformed. */
std::optional<BlockHash> StopOf(const PeerSet& peers, const ReceivedMessage& message)
{
    const auto stop = [](const auto& request) {
        return request ? std::optional(request->stop) : std::nullopt;
    };
    const std::string& type = message.type;
    const ByteSpan payload = message.payload;
    if (type == GetCFiltersMessage::kType) return stop(peers.Read<GetCFiltersMessage>(payload));
    if (type == GetCFHeadersMessage::kType) return stop(peers.Read<GetCFHeadersMessage>(payload));
    return stop(peers.Read<GetCFCheckptMessage>(payload));
}

} // namespace

void FilterServing::Handle(Peer& peer, ReceivedMessage& message)
{
    const auto stop = StopOf(m_peers, message);
    if (!stop) return;
    const bool serves = (peer.our_services & kNodeCompactFilters) != 0;
    if (!serves || !MustWait(*stop)) return Answer(peer, message);
    State& state = m_states[peer];
    state.awaiting = std::move(message);
    state.until = m_peers.Now() + kAwaitTime;
}

bool FilterServing::MustWait(const BlockHash& stop) const
{
    const HeaderNode* const node = m_at.chain.Find(stop);
    if (!m_at.filters || !node || !m_peers.IsActive(*node)) return false;
    if (node->height + kAwaitedDepth < m_at.chain.Tip().height) return false;
    const auto entry = m_at.filters->FilterEntry(*node);
    return entry && !*entry;
}

void FilterServing::Answer(Peer& peer, const ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == GetCFiltersMessage::kType) return HandleGetFilters(peer, message.payload);
    if (type == GetCFHeadersMessage::kType) return HandleGetHeaders(peer, message.payload);
    HandleGetCheckpoints(peer, message.payload);
}

/** The last block of a request; null: there is no answer, and the peer may have been dropped. */
const HeaderNode* FilterServing::Check(Peer& peer, uint8_t type, uint32_t start,
                                       const BlockHash& stop, uint32_t most)
{
    const auto drop = [&](const std::string& why) {
        m_peers.Drop(peer, why);
        return nullptr;
    };
    if (type != kBasic || !(peer.our_services & kNodeCompactFilters)) {
        return drop(fmt::format("peer requested unsupported block filter type: {}", type));
    }
    const HeaderNode* const node = m_at.chain.Find(stop);
    if (!node || !m_serving.MayServe(*node)) {
        return drop(fmt::format("peer requested invalid block hash: {}", stop.ToHex()));
    }
    const auto height = static_cast<uint32_t>(node->height);
    if (start > height) {
        return drop(fmt::format("peer sent invalid getcfilters/getcfheaders with start height {} "
                                "and stop height {}",
                                start, height));
    }
    if (height - start >= most) {
        return drop(fmt::format("peer requested too many cfilters/cfheaders: {} / {}",
                                height - start + 1, most));
    }
    return node;
}

std::optional<FilterProvider::Entry> FilterServing::Find(const HeaderNode& block) const
{
    const auto entry = m_at.filters ? m_at.filters->FilterEntry(block)
                                    : Found<FilterProvider::Entry>(std::nullopt);
    if (entry && *entry) return *entry;
    m_at.log.Debug(
        LogCategory::kNet,
        "Failed to find block filter header in index: filter_type=basic, block_hash={}{}",
        block.hash.ToHex(), entry ? "" : ": " + entry.Message());
    return std::nullopt;
}

void FilterServing::HandleGetFilters(Peer& peer, ByteSpan payload)
{
    const auto request = m_peers.Read<GetCFiltersMessage>(payload);
    if (!request) return;
    const HeaderNode* const stop =
        Check(peer, request->filter_type, request->start_height, request->stop, kMaxBlockFilters);
    if (!stop || !Find(*stop)) return; // if this block has a filter, so have all below
    State& state = m_states[peer];
    state.stop = stop;
    state.next = static_cast<int32_t>(request->start_height);
    Serve(peer);
}

void FilterServing::Serve(Peer& peer)
{
    State& state = m_states[peer];
    if (state.awaiting) {
        if (m_peers.Now() < state.until && MustWait(*StopOf(m_peers, *state.awaiting))) return;
        const ReceivedMessage message = std::move(*state.awaiting);
        state.awaiting.reset();
        return Answer(peer, message);
    }
    for (int sent = 0; state.stop && sent < kFiltersAtOnce; ++sent) {
        if (m_at.link.SendPaused(peer.Id())) return;
        const HeaderNode& block = *state.stop->Ancestor(state.next);
        if (!SendFilter(peer, block) || ++state.next > state.stop->height) state.stop = nullptr;
    }
}

PeerTopic::Unserved FilterServing::UnservedOf(const Peer& peer) const
{
    const State& state = m_states[peer];
    if (state.awaiting) return Unserved::kWaiting;
    return state.stop ? Unserved::kReady : Unserved::kNone;
}

bool FilterServing::SendFilter(Peer& peer, const HeaderNode& block)
{
    auto filter = m_at.filters->Filter(block);
    if (!filter || !*filter) {
        m_at.log.Error("Failed to read block filter: block_hash={}{}", block.hash.ToHex(),
                       filter ? "" : ": " + filter.Message());
        return false;
    }
    m_peers.Send(peer, CFilterMessage{kBasic, block.hash, std::move(**filter)});
    return true;
}

void FilterServing::HandleGetHeaders(Peer& peer, ByteSpan payload)
{
    const auto request = m_peers.Read<GetCFHeadersMessage>(payload);
    if (!request) return;
    const HeaderNode* const stop =
        Check(peer, request->filter_type, request->start_height, request->stop, kMaxFilterHeaders);
    if (!stop) return;
    CFHeadersMessage out{kBasic, stop->hash, {}, {}};
    const auto start = static_cast<int32_t>(request->start_height);
    if (start > 0) {
        const auto before = Find(*stop->Ancestor(start - 1));
        if (!before) return;
        out.previous_header = before->header;
    }
    for (int32_t height = start; height <= stop->height; ++height) {
        const auto entry = Find(*stop->Ancestor(height));
        if (!entry) return;
        out.filter_hashes.push_back(entry->hash);
    }
    m_peers.Send(peer, out);
}

void FilterServing::HandleGetCheckpoints(Peer& peer, ByteSpan payload)
{
    const auto request = m_peers.Read<GetCFCheckptMessage>(payload);
    if (!request) return;
    const HeaderNode* const stop =
        Check(peer, request->filter_type, 0, request->stop, std::numeric_limits<uint32_t>::max());
    if (!stop) return;
    CFCheckptMessage out{kBasic, stop->hash, {}};
    constexpr int32_t kEvery = kFilterCheckpointInterval;
    for (int32_t height = kEvery; height <= stop->height; height += kEvery) {
        const auto entry = Find(*stop->Ancestor(height));
        if (!entry) return;
        out.headers.push_back(entry->header);
    }
    m_peers.Send(peer, out);
}

} // namespace ibd

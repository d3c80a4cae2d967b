// See block_serving.h.
#include "net/peer/block_serving.h"

#include "chain/assume_valid.h"
#include "net/wire/message_table.h"
#include "net/wire/stripped.h"

namespace ibd {

namespace {

/** A request waits for a block if at most this many stored blocks must be connected before it. */
constexpr int kMostAwaited = 144;
/** Additional blocks that a limited node serves, for requests sent before a new block arrived. */
constexpr int kLimitedMargin = 2;
/** Most bytes of a block's transaction count. */
constexpr size_t kMaxCountSize = 9;

/** The block in the serialization before BIP144. */
Result<Bytes> StripWitnesses(ByteSpan raw)
{
    BlockView block;
    IBD_RETURN_IF_ERROR(block.Parse(raw));
    Bytes out;
    out.reserve(block.StrippedSize() + kMaxCountSize);
    Writer writer(out);
    writer.Raw(raw.first(BlockHeader::kSize));
    writer.CompactSize(block.Txs().size());
    for (const TxView& tx : block.Txs()) WriteStripped(writer, tx);
    return out;
}

} // namespace

void BlockServing::Handle(Peer& peer, ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == GetHeadersMessage::kType) return HandleGetHeaders(peer, message.payload);
    if (type == GetBlocksMessage::kType) return HandleGetBlocks(peer, message.payload);
    if (type == GetDataMessage::kType) return HandleGetData(peer, message.payload);
    HandleGetBlockTxn(peer, message.payload);
}

void BlockServing::HandleGetHeaders(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<GetHeadersMessage>(payload);
    if (!message) return;
    if (message->locator.TooMany()) {
        return m_peers.Drop(peer, fmt::format("getheaders locator size {} > {}",
                                              message->locator.Count(), kMaxLocator));
    }
    if (m_at.chain.IsImporting()) {
        m_at.log.Debug(LogCategory::kNet,
                       "Ignoring getheaders from peer={} while importing/reindexing", peer.Id());
        return;
    }
    const HeaderNode& tip = m_at.chain.Tip();
    if (tip.chain_work < m_options.minimum_work && !peer.Permits(kPermitDownload)) {
        m_at.log.Debug(LogCategory::kNet,
                       "Ignoring getheaders from peer={} because active chain has too little work; "
                       "sending empty response",
                       peer.Id());
        return m_peers.Send(peer, HeadersMessage{});
    }
    SendHeaders(peer, *message);
}

void BlockServing::SendHeaders(Peer& peer, const GetHeadersMessage& request)
{
    const HeaderNode& tip = m_at.chain.Tip();
    HeadersMessage out;
    const HeaderNode* node = nullptr;
    if (request.locator.items.empty()) {
        node = m_at.chain.Find(request.stop);
        if (!node) return;
        if (!MayServe(*node)) {
            m_at.log.Debug(LogCategory::kNet,
                           "ignoring request from peer={} for old block header that isn't in the "
                           "main chain",
                           peer.Id());
            return;
        }
        out.list.items.push_back(node->Header());
    } else {
        node = &ForkWithActive(request.locator.items);
    }
    m_at.log.Debug(LogCategory::kNet, "getheaders {} to {} from peer={}", node->height,
                   request.stop.IsNull() ? "end" : request.stop.ToHex(), peer.Id());
    // On the active chain: the blocks after the fork, or the single requested header.
    if (m_peers.IsActive(*node) && !(out.list.items.size() == 1 && node->hash == request.stop)) {
        const int end = std::min<int>(tip.height, node->height + int{kMaxHeaders});
        for (int height = node->height + 1; height <= end; ++height) {
            node = tip.Ancestor(height);
            out.list.items.push_back(node->Header());
            if (node->hash == request.stop) break;
        }
    }
    // Reset, not raised: a requesting peer has not used our announcements.
    m_chains.SetSent(peer, out.list.items.empty() ? tip : *node);
    m_peers.Send(peer, out);
}

void BlockServing::HandleGetData(Peer& peer, ByteSpan payload)
{
    auto message = m_peers.Read<GetDataMessage>(payload);
    if (!message) return;
    std::vector<InventoryItem>& items = message->list.items;
    if (message->list.TooMany()) {
        return m_peers.Misbehaving(peer,
                                   fmt::format("getdata message size = {}", message->list.Count()));
    }
    m_at.log.Debug(LogCategory::kNet, "received getdata ({} invsz) peer={}", items.size(),
                   peer.Id());
    if (!items.empty()) {
        m_at.log.Debug(LogCategory::kNet, "received getdata for: {} peer={}", items[0].ToString(),
                       peer.Id());
    }
    auto& requests = m_states[peer].requests;
    requests.insert(requests.end(), items.begin(), items.end());
    Serve(peer);
}

/** In a turn, answers requests for transactions, then one for a block, because reading a block is
 *  slow. */
void BlockServing::Serve(Peer& peer)
{
    State& state = m_states[peer];
    if (state.requests.empty() || m_at.link.SendPaused(peer.Id())) return;
    NotFoundMessage missing;
    const auto is_paused = [&] { return m_at.link.SendPaused(peer.Id()); };
    const int64_t end = m_at.env.MonotonicMicros() + kTurn;
    const auto is_over = [&] { return is_paused() || m_at.env.MonotonicMicros() >= end; };
    while (!state.requests.empty() && state.requests.front().IsTx() && !is_over()) {
        const InventoryItem item = state.requests.front();
        state.requests.pop_front();
        if (!peer.may_get_txs) continue; // it gets no answer
        if (auto tx = m_txs.Serialized(peer, item)) {
            m_batcher.Add(peer, std::move(*tx));
        } else {
            missing.list.items.push_back(item);
        }
    }
    m_batcher.Flush(peer);
    if (!state.requests.empty() && !state.requests.front().IsTx() && !is_paused() &&
        !AwaitsChain(state.requests.front())) {
        const InventoryItem item = state.requests.front();
        state.requests.pop_front();
        if (item.IsBlock()) ServeBlock(peer, item);
    }
    if (!missing.list.items.empty()) m_peers.Send(peer, missing);
}

PeerTopic::Unserved BlockServing::UnservedOf(const Peer& peer) const
{
    const State& state = m_states[peer];
    if (state.requests.empty()) return Unserved::kNone;
    return AwaitsChain(state.requests.front()) ? Unserved::kWaiting : Unserved::kReady;
}

bool BlockServing::AwaitsChain(const InventoryItem& item) const
{
    return item.IsBlock() && AwaitsChain(BlockHash(item.hash));
}

bool BlockServing::AwaitsChain(const BlockHash& hash) const
{
    const HeaderNode* node = m_at.chain.Find(hash);
    if (!node || m_at.chain.IsInitialBlockDownload() ||
        node->chain_work <= m_at.chain.Tip().chain_work) {
        return false;
    }
    for (int blocks = 0; blocks < kMostAwaited; ++blocks, node = node->prev) {
        if (m_peers.IsActive(*node)) return true;
        const BlockFacts facts = m_at.chain.Facts(*node);
        if (!facts.have_data || facts.failed) return false;
    }
    return false;
}

const HeaderNode* BlockServing::Servable(Peer& peer, const BlockHash& hash, bool filtered)
{
    const HeaderNode* const node = m_at.chain.Find(hash);
    if (!node) return nullptr;
    if (!MayServe(*node)) {
        m_at.log.Debug(LogCategory::kNet,
                       "ignoring request from peer={} for old block that isn't in the main chain",
                       peer.Id());
        return nullptr;
    }
    if (IsBeyondLimits(peer, filtered, *node)) return nullptr;
    return m_at.chain.Facts(*node).have_data ? node : nullptr;
}

void BlockServing::ServeBlock(Peer& peer, const InventoryItem& item)
{
    const HeaderNode* const node = Servable(peer, item.hash, item.type == kInvFilteredBlock);
    if (!node) return;
    if (!SendBlock(peer, item, *node)) return m_peers.Close(peer);
    BlockHash& continuation = m_states[peer].continuation;
    if (item.hash != continuation) return;
    // An inv of the tip makes the peer request the hashes after its own.
    InvMessage more;
    more.list.items = {{kInvBlock, m_at.chain.Tip().hash}};
    m_peers.Send(peer, more);
    continuation = {};
}

bool BlockServing::MayUploadHistory(const Peer& peer) const
{
    return peer.Permits(kPermitDownload) || m_at.link.MayUploadHistory();
}

bool BlockServing::IsBeyondUploadTarget(const Peer& peer, const HeaderNode& node) const
{
    const int64_t age = int64_t{m_at.chain.BestHeader().time} - int64_t{node.time};
    return age > kHistoricalAge && !MayUploadHistory(peer);
}

/** Drops a peer that requests a block which it must not get. */
bool BlockServing::IsBeyondLimits(Peer& peer, bool filtered, const HeaderNode& node)
{
    if ((filtered && !MayUploadHistory(peer)) || IsBeyondUploadTarget(peer, node)) {
        m_peers.Drop(peer, "historical block serving limit reached");
        return true;
    }
    const bool limited =
        (peer.our_services & kNodeNetworkLimited) && !(peer.our_services & kNodeNetwork);
    if (limited && !peer.Permits(kPermitNoBan) &&
        m_at.chain.Tip().height - node.height > kLimitedBlocks + kLimitedMargin) {
        // A deeper block would reveal how far we have pruned; without a disconnection the peer
        // would wait.
        m_peers.Drop(peer, "Ignore block request below NODE_NETWORK_LIMITED threshold");
        return true;
    }
    return false;
}

void BlockServing::LogUnread(const Peer& peer, const std::string& why) const
{
    m_at.log.Error("Cannot load block from disk: {}, disconnecting {}", why, m_peers.NameOf(peer));
}

/** Sends the block in the requested form, but an old one not as a compact block, since the peer has
 *  none of its transactions. */
bool BlockServing::SendBlock(Peer& peer, const InventoryItem& item, const HeaderNode& node)
{
    if (item.type == kInvFilteredBlock && !m_bloom.Has(peer)) return true; // no answer, as in Core
    if (item.type == kInvCompactBlock && m_chains.IsCaughtUp() &&
        node.height >= m_at.chain.Tip().height - kMaxCompactDepth) {
        return m_forms.Send(peer, node);
    }
    auto raw = m_at.blocks.ReadBlock(node);
    BlockView filtered;
    if (raw && item.type == kInvBlock) raw = StripWitnesses(*raw);
    if (raw && item.type == kInvFilteredBlock) {
        if (const auto parsed = filtered.Parse(*raw); !parsed) raw = parsed.GetError();
    }
    if (!raw) {
        LogUnread(peer, raw.Message());
        return false;
    }
    if (item.type == kInvFilteredBlock) {
        m_bloom.SendFiltered(peer, filtered);
    } else {
        m_peers.SendRaw(peer, {std::string(BlockMessage::kType), std::move(*raw)});
    }
    return true;
}

void BlockServing::HandleGetBlocks(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<GetBlocksMessage>(payload);
    if (!message) return;
    if (message->locator.TooMany()) {
        return m_peers.Drop(peer, fmt::format("getblocks locator size {} > {}",
                                              message->locator.Count(), kMaxLocator));
    }
    const HeaderNode& tip = m_at.chain.Tip();
    const int fork = ForkWithActive(message->locator.items).height;
    m_at.log.Debug(LogCategory::kNet, "getblocks {} to {} limit {} from peer={}",
                   fork < tip.height ? fork + 1 : -1,
                   message->stop.IsNull() ? "end" : message->stop.ToHex(), kMaxGetBlocks,
                   peer.Id());
    // A block that will probably be pruned before a request is not offered.
    const int likely_kept =
        kLimitedBlocks - static_cast<int>(3600 / m_at.params.consensus.pow_target_spacing);
    const int end = std::min<int>(tip.height, fork + int{kMaxGetBlocks});
    for (int height = fork + 1; height <= end; ++height) {
        const HeaderNode& node = *tip.Ancestor(height);
        if (node.hash == message->stop) return;
        if (m_options.prune_mode &&
            (height <= tip.height - likely_kept || !m_at.chain.Facts(node).have_data)) {
            return;
        }
        m_announcing.QueueInv(peer, node.hash);
        if (height == fork + int{kMaxGetBlocks}) m_states[peer].continuation = node.hash;
    }
}

void BlockServing::HandleGetBlockTxn(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<GetBlockTxnMessage>(payload);
    if (!message) return;
    const HeaderNode* const node = m_at.chain.Find(message->block);
    if (!node || !m_at.chain.Facts(*node).have_data) {
        m_at.log.Debug(LogCategory::kNet, "Peer {} sent us a getblocktxn for a block we don't have",
                       peer.Id());
        return;
    }
    if (node->height < m_at.chain.Tip().height - kMaxBlockTxnDepth) {
        // A request that costs us disk access must cost the peer bandwidth: it gets the whole
        // block.
        m_at.log.Debug(LogCategory::kNet, "Peer {} sent us a getblocktxn for a block > {} deep",
                       peer.Id(), kMaxBlockTxnDepth);
        m_states[peer].requests.push_back({kInvWitnessBlock, message->block});
        return;
    }
    if (const BlockView* const block = m_forms.Load(*node)) SendBlockTxn(peer, *message, *block);
}

void BlockServing::SendBlockTxn(Peer& peer, const GetBlockTxnMessage& request,
                                const BlockView& block)
{
    auto payload = BlockTxnPayload(block, request.indexes);
    if (!payload) return m_peers.Misbehaving(peer, "getblocktxn with out-of-bounds tx indices");
    m_at.log.Debug(LogCategory::kCmpctBlock,
                   "{} sent us a GETBLOCKTXN for block {}, sending a BLOCKTXN with {} txns. ({} "
                   "bytes)",
                   m_peers.NameOf(peer), request.block.ToHex(), request.indexes.size(),
                   payload->size());
    m_peers.SendRaw(peer, {std::string(BlockTxnMessage::kType), std::move(*payload)});
}

bool BlockServing::MayServe(const HeaderNode& node) const
{
    if (m_peers.IsActive(node)) return true;
    if (!m_at.chain.Facts(node).fully_validated) return false;
    const HeaderNode& best = m_at.chain.BestHeader();
    return int64_t{best.time} - int64_t{node.time} < kStaleBlockAge &&
           BlockProofEquivalentTime(best, node, best, m_at.params.consensus) < kStaleBlockAge;
}

/** The last block of the active chain in the locator's chain. */
const HeaderNode& BlockServing::ForkWithActive(const std::vector<BlockHash>& locator) const
{
    const HeaderNode& tip = m_at.chain.Tip();
    for (const BlockHash& hash : locator) {
        const HeaderNode* const node = m_at.chain.Find(hash);
        if (!node) continue;
        if (IsAncestor(*node, tip)) return *node;
        if (IsAncestor(tip, *node)) return tip;
    }
    return *tip.Ancestor(0);
}

} // namespace ibd

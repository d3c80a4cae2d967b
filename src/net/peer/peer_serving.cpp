// See peer_manager.h: blocks for peers, and announcements of new ones.
#include "net/peer/peer_manager.h"

#include "chain/assume_valid.h"
#include "net/wire/stripped.h"

namespace ibd {

namespace {

/** A request waits for a block if at most this many stored blocks must be connected before it. */
constexpr int kMostAwaited = 144;
/** Blocks beyond the promise of a limited node, for requests that cross a new block. */
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

void PeerManager::HandleInv(Peer& peer, ByteSpan payload)
{
    const auto message = Read<InvMessage>(peer, payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return Misbehaving(peer, fmt::format("inv message size = {}", message->list.Count()));
    }
    const BlockHash* unknown = nullptr;
    for (const InventoryItem& item : message->list.items) {
        if (item.type == kInvBlock) {
            const bool have = m_at.chain.Find(item.hash) != nullptr;
            m_at.log.Debug(LogCategory::kNet, "got inv: {} {} peer={}", item.ToString(),
                           have ? "have" : "new", peer.Id());
            NoteAnnounced(peer, item.hash);
            if (!have && !m_at.chain.IsImporting()) unknown = &item.hash;
        } else if (item.IsTx()) {
            const bool unwanted = peer.Is(ConnectionKind::kBlockRelay) ||
                                  (m_options.blocks_only && !peer.Permits(kPermitRelay));
            if (unwanted) {
                return Drop(peer, fmt::format("transaction ({}) inv sent in violation of protocol",
                                              item.hash.ToHex()));
            }
        } else {
            m_at.log.Debug(LogCategory::kNet, "Unknown inv type \"{}\" received from peer={}",
                           item.ToString(), peer.Id());
        }
    }
    if (unknown) AskForHeadersOf(peer, *unknown);
}

/** The last block of an inv is the highest. While headers come from a single peer, each new block
 *  adds one more peer to ask. */
void PeerManager::AskForHeadersOf(Peer& peer, const BlockHash& block)
{
    if (!peer.sync_started && (peer.inv_asked_headers || block == m_last_inv_sync)) return;
    const HeaderNode& best = m_at.chain.BestHeader();
    if (RequestHeaders(peer, BlockLocator(&best))) {
        m_at.log.Debug(LogCategory::kNet, "getheaders ({}) {} to peer={}", best.height,
                       block.ToHex(), peer.Id());
    }
    if (peer.sync_started) return;
    peer.inv_asked_headers = true;
    m_last_inv_sync = block;
}

void PeerManager::HandleGetData(Peer& peer, ByteSpan payload)
{
    auto message = Read<GetDataMessage>(peer, payload);
    if (!message) return;
    std::vector<InventoryItem>& items = message->list.items;
    if (message->list.TooMany()) {
        return Misbehaving(peer, fmt::format("getdata message size = {}", message->list.Count()));
    }
    m_at.log.Debug(LogCategory::kNet, "received getdata ({} invsz) peer={}", items.size(),
                   peer.Id());
    if (!items.empty()) {
        m_at.log.Debug(LogCategory::kNet, "received getdata for: {} peer={}", items[0].ToString(),
                       peer.Id());
    }
    peer.requests.insert(peer.requests.end(), items.begin(), items.end());
    ServeRequests(peer);
}

/** Answers requests for transactions, of which there are none, and then one more request: reading a
 *  block is work, and other peers get their turn. */
void PeerManager::ServeRequests(Peer& peer)
{
    if (m_at.link.SendPaused(peer.Id())) return;
    NotFoundMessage missing;
    while (!peer.requests.empty() && peer.requests.front().IsTx()) {
        // A peer that wanted no transactions gets no answer.
        if (peer.wants_txs) missing.list.items.push_back(peer.requests.front());
        peer.requests.pop_front();
    }
    if (!peer.requests.empty() && !AwaitsChain(peer)) {
        const InventoryItem item = peer.requests.front();
        peer.requests.pop_front();
        if (item.IsBlock()) ServeBlock(peer, item);
    }
    if (!missing.list.items.empty()) Send(peer, missing);
}

/** Whether its next request is for a block that is being connected: such blocks are announced, so
 *  the peer may request it, and would wait long for a missing answer. */
bool PeerManager::AwaitsChain(const Peer& peer) const
{
    if (peer.requests.empty() || !peer.requests.front().IsBlock()) return false;
    const HeaderNode* node = m_at.chain.Find(peer.requests.front().hash);
    if (!node || m_at.chain.IsInitialBlockDownload() ||
        node->chain_work <= m_at.chain.Tip().chain_work) {
        return false;
    }
    for (int blocks = 0; blocks < kMostAwaited; ++blocks, node = node->prev) {
        if (IsActive(*node)) return true;
        const BlockFacts facts = m_at.chain.Facts(*node);
        if (!facts.have_data || facts.failed) return false;
    }
    return false;
}

void PeerManager::ServeBlock(Peer& peer, const InventoryItem& item)
{
    const HeaderNode* const node = m_at.chain.Find(item.hash);
    if (!node) return;
    if (!MayServe(*node)) {
        m_at.log.Debug(LogCategory::kNet,
                       "ignoring request from peer={} for old block that isn't in the main chain",
                       peer.Id());
        return;
    }
    const bool historical =
        item.type == kInvFilteredBlock ||
        int64_t{m_at.chain.BestHeader().time} - int64_t{node->time} > kHistoricalAge;
    if (historical && !peer.Permits(kPermitDownload) && !m_at.link.MayUploadHistory()) {
        return Drop(peer, "historical block serving limit reached");
    }
    const HeaderNode& tip = m_at.chain.Tip();
    const bool limited =
        (peer.our_services & kNodeNetworkLimited) && !(peer.our_services & kNodeNetwork);
    if (limited && !peer.Permits(kPermitNoBan) &&
        tip.height - node->height > kLimitedBlocks + kLimitedMargin) {
        // A deeper block would reveal how far we have pruned; without a disconnection the peer
        // would wait.
        return Drop(peer, "Ignore block request below NODE_NETWORK_LIMITED threshold");
    }
    if (!m_at.chain.Facts(*node).have_data) return;
    if (!SendBlock(peer, item, *node)) return Close(peer);
    if (item.hash != peer.continuation) return;
    // An inv of the tip makes the peer request the hashes after those that it has.
    InvMessage more;
    more.list.items = {{kInvBlock, tip.hash}};
    Send(peer, more);
    peer.continuation = {};
}

/** Sends the block in the requested form, but an old one not as a compact block, since the peer has
 *  none of its transactions. */
bool PeerManager::SendBlock(Peer& peer, const InventoryItem& item, const HeaderNode& node)
{
    if (item.type == kInvFilteredBlock && !peer.bloom) return true; // no answer, as in Core
    if (item.type == kInvCompactBlock && IsCaughtUp() &&
        node.height >= m_at.chain.Tip().height - kMaxCompactDepth) {
        return SendCompact(peer, node);
    }
    auto raw = m_at.blocks.ReadBlock(node);
    BlockView filtered;
    if (raw && item.type == kInvBlock) raw = StripWitnesses(*raw);
    if (raw && item.type == kInvFilteredBlock) {
        if (const auto parsed = filtered.Parse(*raw); !parsed) raw = parsed.GetError();
    }
    if (!raw) {
        m_at.log.Error("Cannot load block from disk: {}, disconnecting {}", raw.Message(),
                       NameOf(peer));
        return false;
    }
    if (item.type == kInvFilteredBlock) {
        SendFiltered(peer, filtered);
    } else {
        SendRaw(peer, {std::string(kBlockType), std::move(*raw)});
    }
    return true;
}

void PeerManager::HandleGetBlocks(Peer& peer, ByteSpan payload)
{
    const auto message = Read<GetBlocksMessage>(peer, payload);
    if (!message) return;
    if (message->locator.TooMany()) {
        return Drop(peer, fmt::format("getblocks locator size {} > {}", message->locator.Count(),
                                      kMaxLocator));
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
        peer.to_inv.push_back(node.hash);
        if (height == fork + int{kMaxGetBlocks}) peer.continuation = node.hash;
    }
}

/** Announces new blocks: by compact block or headers if the peer requested that and can connect
 *  them, else by inv. */
void PeerManager::Announce(Peer& peer)
{
    if (peer.to_announce.empty()) return;
    ResolveUnknown(peer);
    const HeaderNode& last = *peer.to_announce.back();
    HeadersMessage message;
    const std::vector<BlockHeader>& fresh = message.list.items;
    if (!CollectAnnouncement(peer, message.list.items)) {
        if (!HasHeader(peer, last)) peer.to_inv.push_back(last.hash);
    } else if (fresh.size() == 1 && peer.wants_compact_announcements && SendCompact(peer, last)) {
        m_at.log.Debug(LogCategory::kNet, "SendMessages sending header-and-ids {} to peer={}",
                       last.hash.ToHex(), peer.Id());
        peer.best_sent = &last;
    } else if (!fresh.empty()) {
        m_at.log.Debug(LogCategory::kNet, "sending {} headers up to {} to peer={}", fresh.size(),
                       last.hash.ToHex(), peer.Id());
        Send(peer, message);
        peer.best_sent = &last;
    }
    peer.to_announce.clear();
}

/** Whether the peer has announced the block, or received its announcement. */
bool PeerManager::HasHeader(const Peer& peer, const HeaderNode& node)
{
    return (peer.best_known && IsAncestor(node, *peer.best_known)) ||
           (peer.best_sent && IsAncestor(node, *peer.best_sent));
}

/** The headers to announce, empty if the peer has them all; false: use inv. */
bool PeerManager::CollectAnnouncement(const Peer& peer, std::vector<BlockHeader>& out) const
{
    const size_t count = peer.to_announce.size();
    const bool compact = peer.wants_compact_announcements && count == 1;
    if ((!peer.prefers_headers && !compact) || count > kMaxAnnouncements) return false;
    const HeaderNode* before = nullptr;
    for (const HeaderNode* node : peer.to_announce) {
        // After a reorganisation the queued blocks are no chain, or not the active one.
        if (!IsActive(*node) || (before && node->prev != before)) return false;
        before = node;
        if (out.empty() && HasHeader(peer, *node)) continue;
        if (out.empty() && node->prev && !HasHeader(peer, *node->prev)) return false;
        out.push_back(node->Header());
    }
    return true;
}

void PeerManager::SendInventory(Peer& peer)
{
    if (peer.to_inv.empty()) return;
    InvMessage message;
    for (const BlockHash& hash : peer.to_inv) message.list.items.push_back({kInvBlock, hash});
    Send(peer, message);
    peer.to_inv.clear();
}

/** Blocks of the active chain, and recent ones off it: old ones would allow fingerprinting. */
bool PeerManager::MayServe(const HeaderNode& node) const
{
    if (IsActive(node)) return true;
    if (!m_at.chain.Facts(node).fully_validated) return false;
    const HeaderNode& best = m_at.chain.BestHeader();
    return int64_t{best.time} - int64_t{node.time} < kStaleBlockAge &&
           BlockProofEquivalentTime(best, node, best, m_at.params.consensus) < kStaleBlockAge;
}

/** The last block of the active chain in the locator's chain. */
const HeaderNode& PeerManager::ForkWithActive(const std::vector<BlockHash>& locator) const
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

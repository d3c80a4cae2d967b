// See peer_manager.h: compact blocks (BIP152) in both directions. Completed blocks go to the same
// sink as full ones.
#include "net/peer/peer_manager.h"

#include "consensus/script_flags.h"

namespace ibd {

namespace {

/** Up to this number, requested transactions are named in the log. */
constexpr size_t kFewRequested = 5;

} // namespace

// From peers.

/** Whether compact blocks are useful, and this peer supports them. */
bool PeerManager::MaySendCompact(const Peer& peer) const
{
    return !m_options.blocks_only && peer.provides_compact;
}

void PeerManager::HandleCompactBlock(Peer& peer, ByteSpan payload)
{
    const char* problem = nullptr;
    if (m_at.chain.IsImporting()) {
        problem = "even though we are still loading blocks!";
    } else if (m_options.blocks_only) {
        problem = "even though we are blocksonly!";
    } else if (!peer.provides_compact) {
        problem = "despite never having sent us a SENDCMPCT!";
    }
    if (problem) {
        m_at.log.Debug(LogCategory::kCmpctBlock, "{} sent us a compact block {}", NameOf(peer),
                       problem);
        return;
    }
    const auto message = Read<CompactBlockMessage>(peer, payload);
    if (!message) return;
    const HeaderNode* const node = AcceptCompactHeader(peer, message->header);
    if (!node || !m_sink) return;
    if (!m_at.chain.Facts(*node).have_data) TakeCompactBlock(peer, *node, *message);
}

/** The header's node; null: it is refused. */
const HeaderNode* PeerManager::AcceptCompactHeader(Peer& peer, const BlockHeader& header)
{
    const HeaderNode* const before = m_at.chain.Find(header.prev_hash);
    if (!before) {
        if (!m_at.chain.IsInitialBlockDownload()) {
            RequestHeaders(peer, BlockLocator(&m_at.chain.BestHeader()));
        }
        return nullptr;
    }
    if (before->chain_work + ClaimedWork({&header, 1}) < WorkThreshold()) {
        m_at.log.Debug(LogCategory::kNet, "Ignoring low-work compact block from peer {}",
                       peer.Id());
        return nullptr;
    }
    const bool is_new = !m_at.chain.Find(header.Hash());
    const HeaderNode* node = nullptr;
    if (const RuleResult violation = m_at.headers.AcceptHeaders({&header, 1}, &node)) {
        PunishForHeader(peer, *violation, true);
        return nullptr;
    }
    if (is_new) {
        LogNewHeader(peer, *node, true);
        if (m_downloader) m_downloader->GoalChanged();
    }
    NoteAnnounced(peer, node->hash);
    if (is_new && node->chain_work > m_at.chain.Tip().chain_work) {
        peer.last_announcement = NowSeconds();
    }
    return node;
}

/** For a missing block: completes it, or has it fetched in full. */
void PeerManager::TakeCompactBlock(Peer& peer, const HeaderNode& node,
                                   const CompactBlockMessage& message)
{
    const bool asked = m_downloader->IsAskedOf(peer.Id(), node);
    if (!asked && !peer.announces_compact) {
        m_at.log.Debug(LogCategory::kCmpctBlock,
                       "{}, not marked as high-bandwidth, sent us an unsolicited compact block!",
                       NameOf(peer));
        return;
    }
    if (peer.spoilt->Contains(node)) return;
    const HeaderNode& tip = m_at.chain.Tip();
    if (node.chain_work <= tip.chain_work || m_at.chain.Facts(node).was_seen) {
        if (asked) AskInFull(peer, node);
        return;
    }
    const size_t asked_peers = m_downloader->AskedOf(node).size();
    if (asked_peers == 0 && !IsCaughtUp()) return;
    if (node.height > tip.height + kMaxCompactAhead) {
        // We know none of its transactions.
        return asked ? AskInFull(peer, node) : ProcessHeaders(peer, {message.header});
    }
    const bool may_ask = asked_peers < kMaxCompactDownloads &&
                         m_downloader->RequestsTo(peer.Id()) < BlockDownloader::kMinInFlight;
    if (asked || may_ask) {
        StartPartial(peer, node, message);
    } else {
        FillAtOnce(peer, node, message);
    }
}

/** The first peer asked for a block is also asked for its missing transactions. Other peers are
 *  asked in parallel only if we requested their announcements, and the last place is reserved for
 *  an outbound peer. */
void PeerManager::StartPartial(Peer& peer, const HeaderNode& node,
                               const CompactBlockMessage& message)
{
    const size_t asked_before = m_downloader->AskedOf(node).size();
    m_downloader->Demand(peer.Id(), node, Now());
    auto& partial = m_downloader->Partial(peer.Id(), node);
    if (partial) {
        m_at.log.Debug(LogCategory::kNet, "Peer sent us compact block we were already syncing!");
        return;
    }
    partial = std::make_unique<PartialBlock>();
    const PartialBlock::Status status = InitPartial(*partial, node, message);
    if (status == PartialBlock::Status::kInvalid) {
        m_downloader->GiveUp(peer.Id(), node, Now());
        NoteSpoilt(peer.Id(), node, "is not that block");
        return Misbehaving(peer, "invalid compact block");
    }
    const bool is_first = IsFirstAsked(peer, node);
    if (status == PartialBlock::Status::kFailed) {
        return is_first ? AskInFull(peer, node)
                        : m_downloader->GiveUp(peer.Id(), node, Now());
    }
    GetBlockTxnMessage request{node.hash, partial->Missing()};
    if (request.indexes.empty()) return FillPartial(peer, node, {});
    const auto asked = m_downloader->AskedOf(node);
    const bool one_called = std::any_of(asked.begin(), asked.end(),
                                        [&](PeerId id) { return IsOutbound(id); });
    if (is_first ||
        (peer.announces_compact && (one_called || asked_before < kMaxCompactDownloads - 1))) {
        return Send(peer, request);
    }
    m_downloader->GiveUp(peer.Id(), node, Now());
}

PartialBlock::Status PeerManager::InitPartial(PartialBlock& partial, const HeaderNode& node,
                                              const CompactBlockMessage& message) const
{
    const auto status = partial.Start(message, m_at.transactions);
    if (m_at.log.Wants(LogLevel::kDebug, LogCategory::kCmpctBlock)) {
        m_at.log.Debug(LogCategory::kCmpctBlock,
                       "Initialized PartiallyDownloadedBlock for block {} using a cmpctblock of {} "
                       "bytes",
                       node.hash.ToHex(), Encode(message).size());
    }
    return status;
}

/** Other peers are asked for the block already, but it may be complete without requests. */
void PeerManager::FillAtOnce(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message)
{
    PartialBlock partial;
    if (InitPartial(partial, node, message) != PartialBlock::Status::kOk) return;
    Bytes raw;
    if (FillBlock(partial, node, {}, raw) != PartialBlock::Status::kOk) return;
    Deliver(peer, {&node, peer.Id(), std::move(raw), true});
}

void PeerManager::HandleBlockTxn(Peer& peer, ByteSpan payload)
{
    if (m_at.chain.IsImporting()) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected blocktxn message received from peer {}",
                       peer.Id());
        return;
    }
    // Checked before its transactions are parsed: an unexpected message may have many small ones.
    const HeaderNode* const node = payload.size() < BlockHash::size()
                                       ? nullptr
                                       : m_at.chain.Find(BlockHash::FromBytes(payload.data()));
    if (!node || !m_sink || !m_downloader->IsAskedOf(peer.Id(), *node) ||
        !m_downloader->Partial(peer.Id(), *node)) {
        if (!IsReadable<BlockTxnMessage>(peer, payload)) return;
        m_at.log.Debug(LogCategory::kNet,
                       "Peer {} sent us block transactions for block we weren't expecting",
                       peer.Id());
        return;
    }
    const auto message = Read<BlockTxnMessage>(peer, payload);
    if (message) FillPartial(peer, *node, message->txs);
}

/** The peer is asked for the block and has sent it as a compact block. */
void PeerManager::FillPartial(Peer& peer, const HeaderNode& node,
                              std::span<const TransactionRef> txs)
{
    PartialBlock& partial = *m_downloader->Partial(peer.Id(), node);
    if (partial.IsSpent()) {
        m_downloader->GiveUp(peer.Id(), node, Now());
        Misbehaving(peer, "previous compact block reconstruction attempt failed");
        m_at.log.Debug(LogCategory::kNet, "Peer {} sent compact block transactions multiple times",
                       peer.Id());
        return;
    }
    Bytes raw;
    switch (FillBlock(partial, node, txs, raw)) {
    case PartialBlock::Status::kOk:
        m_downloader->Received(peer.Id(), node, Now());
        return Deliver(peer, {&node, peer.Id(), std::move(raw), true});
    case PartialBlock::Status::kInvalid:
        m_downloader->GiveUp(peer.Id(), node, Now());
        NoteSpoilt(peer.Id(), node, "is not that block");
        return Misbehaving(peer, "invalid compact block/non-matching block transactions");
    case PartialBlock::Status::kFailed: break;
    }
    // The spent object stays with the request, so that this peer does not start again.
    if (IsFirstAsked(peer, node)) return AskInFull(peer, node);
    m_downloader->GiveUp(peer.Id(), node, Now());
    m_at.log.Debug(LogCategory::kNet,
                   "Peer {} sent us a compact block but it failed to reconstruct, waiting on first "
                   "download to complete",
                   peer.Id());
}

PartialBlock::Status PeerManager::FillBlock(PartialBlock& partial, const HeaderNode& node,
                                            std::span<const TransactionRef> txs, Bytes& raw) const
{
    const bool segwit =
        BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit);
    const auto status = partial.Fill(txs, segwit, raw);
    if (status != PartialBlock::Status::kOk) return status;
    size_t bytes = 0;
    for (const TransactionRef& tx : txs) bytes += tx->View().raw.size();
    m_at.log.Debug(LogCategory::kCmpctBlock,
                   "Successfully reconstructed block {} with {} txn prefilled, {} txn from mempool "
                   "(incl at least 0 from extra pool) and {} txn ({} bytes) requested",
                   node.hash.ToHex(), partial.PrefilledCount(), partial.PoolCount(), txs.size(),
                   bytes);
    if (txs.size() >= kFewRequested) return status;
    for (const TransactionRef& tx : txs) {
        m_at.log.Debug(LogCategory::kCmpctBlock, "Reconstructed block {} required tx {}",
                       node.hash.ToHex(), tx->Id().ToHex());
    }
    return status;
}

/** The peer is asked for the block already, as a compact block. */
void PeerManager::AskInFull(Peer& peer, const HeaderNode& node)
{
    GetDataMessage message;
    message.list.items.push_back({kInvWitnessBlock, node.hash});
    Send(peer, message);
}

bool PeerManager::IsFirstAsked(const Peer& peer, const HeaderNode& node) const
{
    const auto asked = m_downloader->AskedOf(node);
    return !asked.empty() && asked.front() == peer.Id();
}

bool PeerManager::IsOutbound(PeerId id) const
{
    const auto found = m_peers.find(id);
    return found != m_peers.end() && !found->second->IsInbound();
}

/** A block of this peer is on the chain. Without other pending requests it was new, and the peer is
 *  chosen for fast announcements. */
void PeerManager::BroughtBlock(PeerId id)
{
    Peer* const peer = Find(id);
    if (!peer || peer->closing || !MaySendCompact(*peer)) return;
    if (m_at.chain.IsInitialBlockDownload() || !m_downloader->Idle()) return;
    const auto change =
        m_announcers.BroughtBlock(id, [this](PeerId other) { return IsOutbound(other); });
    if (change.start) {
        Send(*peer, SendCompactMessage{true});
        peer->announces_compact = true;
    }
    Peer* const stopped = change.stop ? Find(*change.stop) : nullptr;
    if (!stopped) return;
    Send(*stopped, SendCompactMessage{false});
    stopped->announces_compact = false;
}

// For peers.

/** Loads this block into m_compact_form; false: it cannot be read. */
bool PeerManager::LoadCompactForm(const HeaderNode& node)
{
    if (m_compact_form.node == &node) return true;
    m_compact_form.node = nullptr;
    auto raw = m_at.blocks.ReadBlock(node);
    if (!raw) {
        m_at.log.Error("Cannot load block from disk: {}", raw.Message());
        return false;
    }
    m_compact_form.raw = std::move(*raw);
    if (!m_compact_form.view.Parse(m_compact_form.raw)) return false;
    m_compact_form.compact_message = Encode(MakeCompactBlock(m_compact_form.view, Random64()));
    m_compact_form.node = &node;
    return true;
}

bool PeerManager::SendCompact(Peer& peer, const HeaderNode& node)
{
    if (!LoadCompactForm(node)) return false;
    SendRaw(peer, {std::string(CompactBlockMessage::kType), m_compact_form.compact_message});
    return true;
}

/** Announces a stored block, whose coinless rules hold, before it is connected, to the peers that
 *  want compact announcements. */
void PeerManager::AnnounceEarly(const HeaderNode& node)
{
    const HeaderNode& tip = m_at.chain.Tip();
    const bool on_tip = &node == &tip || node.prev == &tip;
    if (!on_tip || m_at.chain.IsInitialBlockDownload() || node.height <= m_announced_early) return;
    m_announced_early = node.height;
    if (!BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit)) return;
    for (const auto& [id, peer] : m_peers) {
        if (peer->common_version < kInvalidCompactBlockVersion || peer->closing) continue;
        if (!peer->established || !peer->wants_compact_announcements) continue;
        ResolveUnknown(*peer);
        if (HasHeader(*peer, node) || !node.prev || !HasHeader(*peer, *node.prev)) continue;
        if (!SendCompact(*peer, node)) return;
        m_at.log.Debug(LogCategory::kNet,
                       "PeerManager::NewPoWValidBlock sending header-and-ids {} to peer={}",
                       node.hash.ToHex(), id);
        peer->best_sent = &node;
    }
}

void PeerManager::HandleGetBlockTxn(Peer& peer, ByteSpan payload)
{
    const auto message = Read<GetBlockTxnMessage>(peer, payload);
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
        m_at.log.Debug(LogCategory::kNet,
                       "Peer {} sent us a getblocktxn for a block > {} deep", peer.Id(),
                       kMaxBlockTxnDepth);
        peer.requests.push_back({kInvWitnessBlock, message->block});
        return;
    }
    if (LoadCompactForm(*node)) SendBlockTxn(peer, *message, m_compact_form.view);
}

void PeerManager::SendBlockTxn(Peer& peer, const GetBlockTxnMessage& request,
                               const BlockView& block)
{
    auto payload = BlockTxnPayload(block, request.indexes);
    if (!payload) return Misbehaving(peer, "getblocktxn with out-of-bounds tx indices");
    m_at.log.Debug(LogCategory::kCmpctBlock,
                   "{} sent us a GETBLOCKTXN for block {}, sending a BLOCKTXN with {} txns. ({} "
                   "bytes)",
                   NameOf(peer), request.block.ToHex(), request.indexes.size(), payload->size());
    SendRaw(peer, {std::string(BlockTxnMessage::kType), std::move(*payload)});
}

} // namespace ibd

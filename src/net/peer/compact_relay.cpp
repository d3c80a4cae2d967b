// See compact_relay.h.
#include "net/peer/compact_relay.h"

#include "consensus/script_flags.h"

namespace ibd {

namespace {

/** If fewer transactions than this were requested, the log names them. */
constexpr size_t kFewRequested = 5;

} // namespace

void CompactRelay::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == CompactBlockMessage::kType) {
        return HandleCompactBlock(peer, message.payload);
    }
    HandleBlockTxn(peer, message.payload);
}

void CompactRelay::HandleCompactBlock(Peer& peer, ByteSpan payload)
{
    const char* problem = nullptr;
    if (m_at.chain.IsImporting()) {
        problem = "even though we are still loading blocks!";
    } else if (m_peers.Options().blocks_only) {
        problem = "even though we are blocksonly!";
    } else if (!m_announcing.ProvidesCompact(peer)) {
        problem = "despite never having sent us a SENDCMPCT!";
    }
    if (problem) {
        m_at.log.Debug(LogCategory::kCmpctBlock, "{} sent us a compact block {}",
                       m_peers.NameOf(peer), problem);
        return;
    }
    const auto message = m_peers.Read<CompactBlockMessage>(payload);
    if (!message) return;
    const HeaderNode* const node = m_headers.AcceptOfCompact(peer, message->header);
    if (!node || !m_blocks.Downloader()) return;
    if (!m_at.chain.Facts(*node).have_data) Take(peer, *node, *message);
}

/** For a missing block: completes it, or requests it in full. */
void CompactRelay::Take(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message)
{
    const bool asked = Downloader().Requests().IsAskedOf(peer.Id(), node);
    if (!asked && !m_announcing.IsAnnouncer(peer)) {
        m_at.log.Debug(LogCategory::kCmpctBlock,
                       "{}, not marked as high-bandwidth, sent us an unsolicited compact block!",
                       m_peers.NameOf(peer));
        return;
    }
    if (m_blocks.Spoilt().Of(peer).Contains(node)) return;
    const HeaderNode& tip = m_at.chain.Tip();
    if (node.chain_work <= tip.chain_work || m_at.chain.Facts(node).was_seen) {
        if (asked) AskInFull(peer, node);
        return;
    }
    const size_t asked_peers = Downloader().Requests().AskedOf(node).size();
    if (asked_peers == 0 && !m_chains.IsCaughtUp()) return;
    if (node.height > tip.height + kMaxAhead) {
        // The pool is unlikely to have transactions of a block far above the tip.
        return asked ? AskInFull(peer, node) : m_headers.Process(peer, {message.header});
    }
    PauseTxChecks(node, m_begun);
    const bool may_ask = asked_peers < kMaxDownloads &&
                         Downloader().Requests().CountTo(peer.Id()) < BlockDownloader::kMinInFlight;
    if (asked || may_ask) {
        StartPartial(peer, node, message);
    } else {
        FillAtOnce(peer, node, message);
    }
}

/** Checks of transactions leave the processor and the pool to a new block until it is the tip.
 *  There are two pauses for each chain work above `last`, so that peers cannot stop the checks by
 *  repeating a block, or by cheap blocks at one height. */
void CompactRelay::PauseTxChecks(const HeaderNode& node, Arith256& last)
{
    if (!m_at.pool || node.chain_work <= last) return;
    last = node.chain_work;
    m_at.pool->PauseChecks();
}

/** The first peer asked for a block is also asked for its missing transactions. Other peers are
 *  asked in parallel only if this node requested their announcements. The last place is reserved
 *  for an outbound peer, unless one was asked already. */
void CompactRelay::StartPartial(Peer& peer, const HeaderNode& node,
                                const CompactBlockMessage& message)
{
    const size_t asked_before = Downloader().Requests().AskedOf(node).size();
    Downloader().Demand(peer.Id(), node, m_peers.Now());
    auto& partial = Downloader().Partial(peer.Id(), node);
    if (partial) {
        m_at.log.Debug(LogCategory::kNet, "Peer sent us compact block we were already syncing!");
        return;
    }
    partial = std::make_unique<PartialBlock>();
    const PartialBlock::Status status = InitPartial(*partial, node, message);
    if (status == PartialBlock::Status::kInvalid)
        return Refuse(peer, node, "invalid compact block");
    if (status == PartialBlock::Status::kFailed) {
        return IsFirstAsked(peer, node) ? AskInFull(peer, node)
                                        : Downloader().GiveUp(peer.Id(), node, m_peers.Now());
    }
    AskForMissing(peer, node, asked_before);
}

void CompactRelay::AskForMissing(Peer& peer, const HeaderNode& node, size_t asked_before)
{
    GetBlockTxnMessage request{node.hash, Downloader().Partial(peer.Id(), node)->Missing()};
    if (request.indexes.empty()) return FillPartial(peer, node, {});
    const auto asked = Downloader().Requests().AskedOf(node);
    const bool one_called =
        std::any_of(asked.begin(), asked.end(), [&](PeerId id) { return IsOutbound(id); });
    const bool in_parallel =
        m_announcing.IsAnnouncer(peer) && (one_called || asked_before < kMaxDownloads - 1);
    if (IsFirstAsked(peer, node) || in_parallel) return m_peers.Send(peer, request);
    Downloader().GiveUp(peer.Id(), node, m_peers.Now());
}

/** The bytes that the peer sent are not the block. */
void CompactRelay::Refuse(Peer& peer, const HeaderNode& node, const char* why)
{
    Downloader().GiveUp(peer.Id(), node, m_peers.Now());
    m_blocks.Spoilt().Note(peer.Id(), node, "is not that block");
    m_peers.Misbehaving(peer, why);
}

PartialBlock::Status CompactRelay::InitPartial(PartialBlock& partial, const HeaderNode& node,
                                               const CompactBlockMessage& message) const
{
    const auto status = partial.Start(message, m_at.transactions, m_txs.Extra());
    if (m_at.log.Wants(LogLevel::kDebug, LogCategory::kCmpctBlock)) {
        m_at.log.Debug(LogCategory::kCmpctBlock,
                       "Initialized PartiallyDownloadedBlock for block {} using a cmpctblock of {} "
                       "bytes",
                       node.hash.ToHex(), Encode(message).size());
    }
    return status;
}

/** Tries to complete a block without a request: enough other peers are asked for it already, or
 *  this peer has enough other requests. */
void CompactRelay::FillAtOnce(Peer& peer, const HeaderNode& node,
                              const CompactBlockMessage& message)
{
    PartialBlock partial;
    if (InitPartial(partial, node, message) != PartialBlock::Status::kOk) return;
    Bytes raw;
    if (FillBlock(partial, node, {}, raw) != PartialBlock::Status::kOk) return;
    Deliver(peer, node, std::move(raw));
}

/** A complete block. */
void CompactRelay::Deliver(Peer& peer, const HeaderNode& node, Bytes raw)
{
    PauseTxChecks(node, m_completed);
    m_blocks.Deliver(peer, {&node, peer.Id(), std::move(raw), true});
}

void CompactRelay::HandleBlockTxn(Peer& peer, ByteSpan payload)
{
    if (m_at.chain.IsImporting()) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected blocktxn message received from peer {}",
                       peer.Id());
        return;
    }
    // The request is looked up before the transactions are parsed, because an unexpected message
    // may have many small transactions.
    const HeaderNode* const node = payload.size() < BlockHash::size()
                                       ? nullptr
                                       : m_at.chain.Find(BlockHash::FromBytes(payload.data()));
    if (!node || !m_blocks.Downloader() || !Downloader().Requests().IsAskedOf(peer.Id(), *node) ||
        !Downloader().Partial(peer.Id(), *node)) {
        if (!m_peers.IsReadable<BlockTxnMessage>(payload)) return;
        m_at.log.Debug(LogCategory::kNet,
                       "Peer {} sent us block transactions for block we weren't expecting",
                       peer.Id());
        return;
    }
    const auto message = m_peers.Read<BlockTxnMessage>(payload);
    if (message) FillPartial(peer, *node, message->txs);
}

/** Completes a block that was requested from this peer, which sent the compact block. */
void CompactRelay::FillPartial(Peer& peer, const HeaderNode& node,
                               std::span<const TransactionRef> txs)
{
    PartialBlock& partial = *Downloader().Partial(peer.Id(), node);
    if (partial.IsSpent()) {
        Downloader().GiveUp(peer.Id(), node, m_peers.Now());
        m_peers.Misbehaving(peer, "previous compact block reconstruction attempt failed");
        m_at.log.Debug(LogCategory::kNet, "Peer {} sent compact block transactions multiple times",
                       peer.Id());
        return;
    }
    Bytes raw;
    switch (FillBlock(partial, node, txs, raw)) {
    case PartialBlock::Status::kOk:
        Downloader().Received(peer.Id(), node, m_peers.Now());
        return Deliver(peer, node, std::move(raw));
    case PartialBlock::Status::kInvalid:
        return Refuse(peer, node, "invalid compact block/non-matching block transactions");
    case PartialBlock::Status::kFailed: break;
    }
    // The spent object stays with the request, so that this peer does not start again.
    if (IsFirstAsked(peer, node)) return AskInFull(peer, node);
    Downloader().GiveUp(peer.Id(), node, m_peers.Now());
    m_at.log.Debug(LogCategory::kNet,
                   "Peer {} sent us a compact block but it failed to reconstruct, waiting on first "
                   "download to complete",
                   peer.Id());
}

PartialBlock::Status CompactRelay::FillBlock(PartialBlock& partial, const HeaderNode& node,
                                             std::span<const TransactionRef> txs, Bytes& raw) const
{
    const bool segwit = BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit);
    const auto status = partial.Fill(txs, segwit, raw);
    if (status != PartialBlock::Status::kOk) return status;
    size_t bytes = 0;
    for (const TransactionRef& tx : txs) bytes += tx->View().raw.size();
    m_at.log.Debug(LogCategory::kCmpctBlock,
                   "Successfully reconstructed block {} with {} txn prefilled, {} txn from mempool "
                   "(incl at least {} from extra pool) and {} txn ({} bytes) requested",
                   node.hash.ToHex(), partial.PrefilledCount(), partial.PoolCount(),
                   partial.ExtraCount(), txs.size(), bytes);
    if (txs.size() >= kFewRequested) return status;
    for (const TransactionRef& tx : txs) {
        m_at.log.Debug(LogCategory::kCmpctBlock, "Reconstructed block {} required tx {}",
                       node.hash.ToHex(), tx->Id().ToHex());
    }
    return status;
}

/** Asks for the whole block. The request to this peer is already recorded. */
void CompactRelay::AskInFull(Peer& peer, const HeaderNode& node)
{
    GetDataMessage message;
    message.list.items.push_back({kInvWitnessBlock, node.hash});
    m_peers.Send(peer, message);
}

bool CompactRelay::IsFirstAsked(const Peer& peer, const HeaderNode& node) const
{
    const auto asked = Downloader().Requests().AskedOf(node);
    return !asked.empty() && asked.front() == peer.Id();
}

bool CompactRelay::IsOutbound(PeerId id) const
{
    const Peer* const peer = m_peers.Find(id);
    return peer && !peer->IsInbound();
}

} // namespace ibd

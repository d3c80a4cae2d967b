// See tx_relay.h.
#include "net/peer/tx_relay.h"

#include "net/wire/packed_blocks.h"
#include "packing/tx_batch.h"
#include "util/found.h"
#include "util/strings.h"

namespace ibd {

namespace {

/** Transactions in a request, as in Core; peers with the permission to relay may be asked for any
 *  number. */
constexpr size_t kMostOfRequest = 1'000;
/** A notfound with more entries cannot be an answer to our requests. */
constexpr size_t kMaxNotFound = TxFetcher::kMaxAnnouncements + 16;

size_t LinksOf(const TxOffer& offer)
{
    size_t links = 0;
    for (const TransactionRef& tx : offer.txs) {
        links += (*tx)->inputs.size() + (*tx)->outputs.size();
    }
    return links;
}

/** The form in which Core's log names a package and its senders. */
std::string NameOf(const TxOffer& offer)
{
    const Transaction& parent = *offer.txs[0];
    const Transaction& child = *offer.txs[1];
    return fmt::format("parent {} (wtxid={}, sender={}) + child {} (wtxid={}, sender={})",
                       parent.Id().ToHex(), parent.WitnessId().ToHex(), offer.peer,
                       child.Id().ToHex(), child.WitnessId().ToHex(), offer.peer);
}

} // namespace

void TxRelay::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == TxMessage::kType) return HandleTx(peer, message.payload);
    if (message.type == PackedTxsMessage::kType) return HandleBatch(peer, message.payload);
    if (message.type == NotFoundMessage::kType) return HandleNotFound(peer, message.payload);
    if (message.type == MempoolMessage::kType) return HandleMempool(peer);
    HandleFeeFilter(peer, message.payload);
}

void TxRelay::Describe(const Peer& peer, PeerInfo& info) const
{
    info.last_transaction = m_states[peer].last_tx;
}

// Messages.

bool TxRelay::DropUnlessMaySend(Peer& peer)
{
    if (m_peers.MaySendTxs(peer)) return false;
    m_peers.Drop(peer, "transaction sent in violation of protocol");
    return true;
}

void TxRelay::HandleTx(Peer& peer, ByteSpan payload)
{
    if (DropUnlessMaySend(peer)) return;
    if (m_at.chain.IsInitialBlockDownload()) return;
    auto message = m_peers.Read<TxMessage>(payload);
    if (!message || !Pool()) return;
    const Transaction& tx = *message->tx;
    m_announcer.NoteKnown(peer, peer.wtxid_relay ? tx.WitnessId() : tx.Id());
    m_private.TakeBack(peer, tx);
    Enqueue(peer, {.peer = peer.Id(), .txs = {std::move(message->tx)}});
}

/** After a failure of this machine the transactions are unknown: their requests time out. */
void TxRelay::HandleBatch(Peer& peer, ByteSpan batch)
{
    if (!m_packing.IsAgreed(peer)) return m_peers.LogUnknown(peer, PackedTxsMessage::kType);
    if (DropUnlessMaySend(peer) || !Pool() || m_at.chain.IsInitialBlockDownload()) return;
    auto txs = UnpackTxs(batch);
    if (IsBadData(txs)) return m_peers.Drop(peer, txs.Message(), true);
    if (!txs) return m_at.log.Warning("{}", txs.Message());
    m_states[peer].unpacked.assign(std::move_iterator(txs->begin()),
                                   std::move_iterator(txs->end()));
    Serve(peer);
}

void TxRelay::HandleNotFound(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<NotFoundMessage>(payload);
    if (message && message->list.Count() <= kMaxNotFound) m_fetcher.NotFound(peer, message->list);
}

void TxRelay::HandleMempool(Peer& peer)
{
    const char* problem = nullptr;
    if (peer.Permits(kPermitMempool)) {
    } else if (!(peer.our_services & kNodeBloom)) {
        problem = "mempool request with bloom filters disabled";
    } else if (!m_at.link.MayUpload()) {
        problem = "mempool request with bandwidth limit reached";
    }
    if (!problem) return m_announcer.RequestPool(peer);
    if (!peer.Permits(kPermitNoBan)) m_peers.Drop(peer, problem);
}

void TxRelay::HandleFeeFilter(Peer& peer, ByteSpan payload)
{
    const auto filter = m_peers.Read<FeeFilterMessage>(payload);
    if (!filter || !MoneyRange(filter->rate)) return;
    m_announcer.SetFeeFilter(peer, filter->rate);
    m_at.log.Debug(LogCategory::kNet, "received: feefilter of {} BTC/kvB from peer={}",
                   FormatAmount(filter->rate), peer.Id());
}

bool TxRelay::TakeInv(Peer& peer, const InventoryItem& item)
{
    if (!m_peers.MaySendTxs(peer)) {
        m_peers.Drop(peer, fmt::format("transaction ({}) inv sent in violation of protocol",
                                       item.hash.ToHex()));
        return false;
    }
    m_announcer.NoteKnown(peer, item.hash);
    if (!Pool() || m_at.chain.IsInitialBlockDownload()) return true;
    const bool have = m_fetcher.Announced(peer, {item.hash, item.type == kInvWtx});
    // A message may have 50,000, so texts are made only if the log shows them.
    if (m_at.log.Wants(LogLevel::kDebug, LogCategory::kNet)) {
        m_at.log.Debug(LogCategory::kNet, "got inv: {} {} peer={}", item.ToString(),
                       have ? "have" : "new", peer.Id());
    }
    return true;
}

void TxRelay::Maintain(Peer& peer)
{
    if (!Pool()) return;
    const auto busy = [this](const Uint256& hash) { return m_busy.contains(hash); };
    GetDataMessage message;
    auto& items = message.list.items;
    for (const TxKey& key : m_fetcher.ToRequest(peer, busy)) {
        const uint32_t by_txid = peer.OffersWitnesses() ? kInvWitnessTx : kInvTx;
        items.push_back({key.is_wtxid ? kInvWtx : by_txid, key.hash});
        if (items.size() < kMostOfRequest) continue;
        m_peers.Send(peer, message);
        items.clear();
    }
    if (!items.empty()) m_peers.Send(peer, message);
}

// The way to the pool.

void TxRelay::Enqueue(Peer& peer, TxOffer offer)
{
    State& state = m_states[peer];
    CHECK(!state.waiting && !state.is_checked);
    state.waiting = std::move(offer);
    m_line.push_back(peer.Id());
    MoveLine();
}

void TxRelay::MoveLine()
{
    std::erase_if(m_line, [this](PeerId id) {
        Peer* const peer = m_peers.Find(id);
        return !peer || peer->closing || TryOffer(*peer);
    });
}

/** False: it has to wait. */
bool TxRelay::TryOffer(Peer& peer)
{
    State& state = m_states[peer];
    TxOffer& offer = *state.waiting;
    if (!Pool()->HasRoom(offer.Bytes())) return false;
    const bool is_new = offer.txs.size() == 1 && !offer.is_orphan;
    // Waits for the verdict on the same transaction from another peer.
    if (is_new && m_busy.contains(offer.txs[0]->WitnessId())) return false;
    if (is_new && !Examine(peer, offer)) {
        state.waiting.reset();
        return true;
    }
    if (!Pool()->HasRoom(offer.Bytes())) return false; // it became a package
    SetBusy(offer, true);
    state.is_checked = true;
    Pool()->Offer(std::move(offer));
    state.waiting.reset();
    return true;
}

/** Whether a transaction needs a check. May replace it by a package. */
bool TxRelay::Examine(Peer& peer, TxOffer& offer)
{
    const TransactionRef tx = offer.txs[0];
    TxFetcher::Arrival arrival = m_fetcher.Arrived(peer.Id(), tx);
    if (arrival.check) return true;
    if (peer.Permits(kPermitForceRelay)) ForceRelay(peer, *tx);
    if (arrival.package.empty()) return false;
    offer.txs = std::move(arrival.package);
    return true;
}

/** For nodes that are connected only through this one: transactions that we already have are
 *  announced again. */
void TxRelay::ForceRelay(const Peer& peer, const Transaction& tx)
{
    if (Pool()->Has({tx.Id(), false})) {
        m_at.log.Info("Force relaying tx {} (wtxid={}) from peer={}", tx.Id().ToHex(),
                      tx.WitnessId().ToHex(), peer.Id());
        return m_announcer.Announce(tx);
    }
    m_at.log.Info("Not relaying non-mempool transaction {} (wtxid={}) from forcerelay peer={}",
                  tx.Id().ToHex(), tx.WitnessId().ToHex(), peer.Id());
}

void TxRelay::SetBusy(const TxOffer& offer, bool busy)
{
    for (const TransactionRef& tx : offer.txs) {
        for (const Uint256* const id : {&tx->Id(), &tx->WitnessId()}) {
            if (busy) {
                m_busy.insert(*id);
            } else {
                m_busy.erase(m_busy.find(*id));
            }
        }
    }
}

void TxRelay::Serve(Peer& peer)
{
    State& state = m_states[peer];
    if (!Pool() || !peer.established || peer.closing || state.waiting || state.is_checked) return;
    if (TransactionRef orphan = m_fetcher.NextOrphan(peer)) {
        return Enqueue(peer, {.peer = peer.Id(), .txs = {std::move(orphan)}, .is_orphan = true});
    }
    if (state.unpacked.empty()) return;
    const Bytes tx = std::move(state.unpacked.front());
    state.unpacked.pop_front();
    HandleTx(peer, tx);
}

PeerTopic::Unserved TxRelay::UnservedOf(const Peer& peer) const
{
    const State& state = m_states[peer];
    const bool waits = state.waiting || state.is_checked || m_fetcher.HasOrphanFor(peer);
    if (waits) return Unserved::kWaiting;
    return state.unpacked.empty() ? Unserved::kNone : Unserved::kReady;
}

// Verdicts.

void TxRelay::StartRound()
{
    if (!Pool()) return;
    for (TxAnswer& answer : Pool()->TakeAnswers()) m_answers.push_back(std::move(answer));
    for (size_t links = 0; !m_answers.empty() && links < kLinksOfRound;) {
        const TxAnswer answer = std::move(m_answers.front());
        m_answers.pop_front();
        links += LinksOf(answer.offer);
        Take(answer);
    }
    MoveLine();
}

void TxRelay::Take(const TxAnswer& answer)
{
    if (answer.offer.is_test) return m_private.TakeVerdict(answer);
    SetBusy(answer.offer, false);
    Peer* const peer = m_peers.Find(answer.offer.peer);
    if (peer) m_states[*peer].is_checked = false;
    if (answer.offer.txs.size() > 1) return TakePackage(answer);
    if (!answer.txs[0]) return; // the node is about to stop
    if (answer.offer.is_orphan) return TakeOrphan(answer);
    TakeSingle(peer, answer);
}

void TxRelay::TakeSingle(Peer* peer, const TxAnswer& answer)
{
    const TransactionRef& tx = answer.offer.txs[0];
    const TxAnswer::Verdict& verdict = *answer.txs[0];
    if (!verdict.violation) {
        Accept(answer.offer.peer, tx, verdict);
        if (peer) m_states[*peer].last_tx = m_peers.NowSeconds();
        return;
    }
    TxFetcher::Package package = Refuse(answer.offer.peer, tx, *verdict.violation, /*again=*/false);
    if (package.empty() || !peer || peer->closing) return;
    Enqueue(*peer, {.peer = peer->Id(), .txs = std::move(package)});
}

/** An orphan that still lacks parents is kept. */
void TxRelay::TakeOrphan(const TxAnswer& answer)
{
    const TransactionRef& tx = answer.offer.txs[0];
    const TxAnswer::Verdict& verdict = *answer.txs[0];
    if (!verdict.violation) {
        m_at.log.Debug(LogCategory::kTxPackages, "   accepted orphan tx {} (wtxid={})",
                       tx->Id().ToHex(), tx->WitnessId().ToHex());
        return Accept(answer.offer.peer, tx, verdict);
    }
    if (verdict.violation->kind == RuleViolation::Kind::kMissingInputs) return;
    m_at.log.Debug(LogCategory::kTxPackages, "   invalid orphan tx {} (wtxid={}) from peer={}. {}",
                   tx->Id().ToHex(), tx->WitnessId().ToHex(), answer.offer.peer,
                   verdict.violation->ToString());
    (void)Refuse(answer.offer.peer, tx, *verdict.violation, /*again=*/true);
}

/** The child first, so that it is no longer an orphan when its parent is handled. */
void TxRelay::TakePackage(const TxAnswer& answer)
{
    m_at.log.Debug(LogCategory::kTxPackages, "package evaluation for {}: {}", NameOf(answer.offer),
                   answer.violation ? "package rejected" : "package accepted");
    if (answer.violation) m_fetcher.PackageRefused(answer.offer.txs);
    for (size_t i = answer.txs.size(); i-- > 0;) {
        if (!answer.txs[i]) continue;
        const TransactionRef& tx = answer.offer.txs[i];
        const TxAnswer::Verdict& verdict = *answer.txs[i];
        if (verdict.violation) {
            (void)Refuse(answer.offer.peer, tx, *verdict.violation, /*again=*/true);
        } else {
            Accept(answer.offer.peer, tx, verdict);
        }
    }
}

void TxRelay::Accept(PeerId peer, const TransactionRef& tx, const TxAnswer::Verdict& verdict)
{
    m_fetcher.Accepted(*tx);
    m_at.log.Debug(LogCategory::kMempool,
                   "AcceptToMemoryPool: peer={}: accepted {} (wtxid={}) (poolsz {} txn, {} kB)",
                   peer, tx->Id().ToHex(), tx->WitnessId().ToHex(), verdict.pool_size,
                   verdict.pool_bytes / 1'000);
    m_announcer.Announce(*tx);
    for (const TransactionRef& replaced : verdict.replaced) m_extra.Add(replaced);
}

/** Returns a package that may be accepted instead. */
TxFetcher::Package TxRelay::Refuse(PeerId peer, const TransactionRef& tx, const RuleViolation& why,
                                   bool again)
{
    m_at.log.Debug(LogCategory::kMempoolRej, "{} (wtxid={}) from peer={} was not accepted: {}",
                   tx->Id().ToHex(), tx->WitnessId().ToHex(), peer, why.ToString());
    TxFetcher::Refusal refusal = m_fetcher.Refused(peer, tx, why, again);
    if (refusal.keep_extra && tx->View().raw.size() < kMaxExtraBytes) m_extra.Add(tx);
    if (Peer* const sender = m_peers.Find(peer)) {
        // It has the parents, as it has the child.
        for (const Txid& parent : refusal.missing_parents) m_announcer.NoteKnown(*sender, parent);
    }
    return std::move(refusal.package);
}

// The chain.

void TxRelay::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    const HeaderNode* const before = std::exchange(m_tip, &tip);
    if (Pool()) Pool()->ResumeChecks();
    if (!Pool() || m_at.chain.IsInitialBlockDownload()) return;
    m_fetcher.TipChanged();
    if (before && before != &fork) m_fetcher.BlockDisconnected();
    BlocksConnected(tip, fork);
}

/** The last ones, as far as their transactions are remembered. */
void TxRelay::BlocksConnected(const HeaderNode& tip, const HeaderNode& fork)
{
    size_t left = TxFetcher::kRememberedConfirmed;
    for (const HeaderNode* node = &tip; node != &fork; node = node->prev) {
        const BlockView* const block = m_forms.Load(*node);
        if (!block) return;
        const std::vector<Wtxid>& ids = m_forms.WitnessIds();
        if (node == &tip) m_recent.Set(tip, *block, ids);
        m_fetcher.BlockConnected(*block, ids);
        if (ids.size() >= left) return;
        left -= ids.size();
    }
}

} // namespace ibd

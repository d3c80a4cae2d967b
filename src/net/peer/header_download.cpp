// See header_download.h.
#include "net/peer/header_download.h"

#include "consensus/pow.h"
#include "net/wire/message_table.h"

namespace ibd {

namespace {

constexpr int64_t kDay = 24 * 60 * 60;
/** Blocks below the tip within which a branch may start without presync. */
constexpr uint32_t kNearTip = 144;
constexpr int64_t kPresyncLogInterval = kSecond / 4;
/** Wait for the answer to a getheaders before the next is sent. */
constexpr int64_t kResponseTime = 120 * kSecond;
constexpr int64_t kTimeoutBase = 15 * 60 * kSecond;
constexpr int64_t kTimeoutPerHeader = kSecond / 1000;
constexpr int64_t kChainCheckSeconds = 20 * 60;
constexpr int kMaxProtectedPeers = 4; //!< from replacement because of an old chain

} // namespace

void HeaderDownload::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == InvMessage::kType) return HandleInv(peer, message.payload);
    HandleHeaders(peer, message.payload);
}

void HeaderDownload::Describe(const Peer& peer, PeerInfo& info) const
{
    const HeaderSync* const sync = m_states[peer].sync.get();
    if (sync && sync->CurrentPhase() == HeaderSync::Phase::kPresync) {
        info.presynced_headers = sync->PresyncHeight();
    }
    if (const HeaderNode* const best = m_chains.BestOf(peer)) info.synced_headers = best->height;
}

void HeaderDownload::HandleInv(Peer& peer, ByteSpan payload)
{
    auto message = m_peers.Read<InvMessage>(payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return m_peers.Misbehaving(peer,
                                   fmt::format("inv message size = {}", message->list.Count()));
    }
    const std::vector<InventoryItem>& items = message->list.items;
    m_states[peer].announced.assign(items.begin(), items.end());
    TakeAnnounced(peer);
}

/** Handles as many as a turn allows. The others wait, and so does the peer's next message. */
void HeaderDownload::TakeAnnounced(Peer& peer)
{
    State& state = m_states[peer];
    if (state.announced.empty()) return;
    const int64_t end = m_at.env.MonotonicMicros() + kTurn;
    while (!state.announced.empty()) {
        const InventoryItem item = state.announced.front();
        state.announced.pop_front();
        if (!Take(peer, item)) return state.announced.clear();
        if (m_at.env.MonotonicMicros() >= end) break;
    }
    if (!state.announced.empty()) return;
    if (const auto unknown = std::exchange(state.unknown_block, {})) {
        AskForHeadersOf(peer, *unknown);
    }
}

/** False: the peer was disconnected for it. */
bool HeaderDownload::Take(Peer& peer, const InventoryItem& item)
{
    // A peer announces transactions in one way.
    if (item.type == (peer.wtxid_relay ? kInvTx : kInvWtx)) return true;
    if (item.IsTx()) return m_txs.TakeInv(peer, item);
    if (item.type != kInvBlock) {
        m_at.log.Debug(LogCategory::kNet, "Unknown inv type \"{}\" received from peer={}",
                       item.ToString(), peer.Id());
        return true;
    }
    const bool have = m_at.chain.Find(item.hash) != nullptr;
    m_at.log.Debug(LogCategory::kNet, "got inv: {} {} peer={}", item.ToString(),
                   have ? "have" : "new", peer.Id());
    m_chains.NoteAnnounced(peer, item.hash);
    if (!have && !m_at.chain.IsImporting()) m_states[peer].unknown_block = BlockHash(item.hash);
    return true;
}

/** The last block of an inv is the highest. While headers come from a single peer, each new block
 *  adds one more peer to ask. */
void HeaderDownload::AskForHeadersOf(Peer& peer, const BlockHash& block)
{
    State& state = m_states[peer];
    if (!state.sync_started && (state.inv_asked || block == m_last_inv_sync)) return;
    const HeaderNode& best = m_at.chain.BestHeader();
    if (Request(peer, BlockLocator(&best))) {
        m_at.log.Debug(LogCategory::kNet, "getheaders ({}) {} to peer={}", best.height,
                       block.ToHex(), peer.Id());
    }
    if (state.sync_started) return;
    state.inv_asked = true;
    m_last_inv_sync = block;
}

void HeaderDownload::HandleHeaders(Peer& peer, ByteSpan payload)
{
    if (m_at.chain.IsImporting()) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected headers message received from peer {}",
                       peer.Id());
        return;
    }
    auto message = m_peers.Read<HeadersMessage>(payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return m_peers.Misbehaving(peer,
                                   fmt::format("headers message size = {}", message->list.Count()));
    }
    Process(peer, std::move(message->list.items));
}

void HeaderDownload::Process(Peer& peer, std::vector<BlockHeader> headers)
{
    State& state = m_states[peer];
    if (headers.empty()) {
        // It cannot be an announcement, so it is the answer to our request: there are no more.
        state.sync.reset();
        state.request_sent = 0;
        state.complete = true;
        return;
    }
    const auto hashes = HashHeaders(headers);
    if (!Check(peer, headers, hashes)) return;
    const bool full = headers.size() == kMaxHeaders;
    if (state.request_sent != 0 || full) state.complete = !full;
    const BlockHash last_hash = hashes.back();
    const bool from_sync = ContinueSync(peer, headers, hashes);
    if (headers.empty()) return;
    const bool syncing = state.sync != nullptr;

    const HeaderNode* const start = m_at.chain.Find(headers[0].prev_hash);
    if (!start) {
        AskForPrevious(peer, headers[0]);
        return m_chains.NoteAnnounced(peer, last_hash);
    }
    state.request_sent = 0;
    const HeaderNode* const known = m_at.chain.Find(from_sync ? headers.back().Hash() : last_hash);
    const bool trusted = from_sync || IsOnBestOrActive(known) || peer.Permits(kPermitNoBan);
    if (!trusted && StartPresync(peer, *start, headers, hashes)) return;
    Store(peer, headers, known == nullptr, full, syncing);
}

void HeaderDownload::AskForPrevious(Peer& peer, const BlockHeader& first)
{
    const HeaderNode& best = m_at.chain.BestHeader();
    if (!Request(peer, BlockLocator(&best))) return;
    m_at.log.Debug(LogCategory::kNet,
                   "received header {}: missing prev block {}, sending getheaders ({}) to end "
                   "(peer={})",
                   first.Hash().ToHex(), first.prev_hash.ToHex(), best.height, peer.Id());
}

bool HeaderDownload::Check(Peer& peer, const std::vector<BlockHeader>& headers,
                           const std::vector<BlockHash>& hashes)
{
    if (!HaveProofOfWork(headers, hashes, m_at.params.consensus)) {
        m_peers.Misbehaving(peer, "header with invalid proof of work");
        return false;
    }
    if (!AreContinuous(headers, hashes)) {
        m_peers.Misbehaving(peer, "non-continuous headers sequence");
        return false;
    }
    return true;
}

void HeaderDownload::LogPresync(const HeaderSync& sync)
{
    const bool due = m_peers.Now() >= m_presync_logged + kPresyncLogInterval;
    if (!due || !m_at.chain.IsInitialBlockDownload()) return;
    m_presync_logged = m_peers.Now();
    const int64_t left = std::max<int64_t>(0, m_peers.NowSeconds() - int64_t{sync.PresyncTime()}) /
                         m_at.params.consensus.pow_target_spacing;
    const auto height = static_cast<double>(sync.PresyncHeight());
    m_at.log.Info("Pre-synchronizing blockheaders, height: {} (~{:.2f}%)", sync.PresyncHeight(),
                  100 * height / (height + static_cast<double>(left)));
}

/** Passes the headers to a running sync. Returns whether the sync took them; then `headers` becomes
 *  the list of those to store. */
bool HeaderDownload::ContinueSync(Peer& peer, std::vector<BlockHeader>& headers,
                                  const std::vector<BlockHash>& hashes)
{
    State& state = m_states[peer];
    if (!state.sync) return false;
    HeaderSync& sync = *state.sync;
    auto outcome = sync.Process(headers, hashes, headers.size() == kMaxHeaders);
    if (outcome.ok) state.request_sent = 0;
    if (sync.CurrentPhase() == HeaderSync::Phase::kPresync) LogPresync(sync);
    if (outcome.request_more) {
        const auto locator = sync.NextLocator();
        CHECK(Request(peer, locator));
        m_at.log.Debug(LogCategory::kNet, "more getheaders (from {}) to peer={}",
                       locator.front().ToHex(), peer.Id());
    }
    if (sync.CurrentPhase() == HeaderSync::Phase::kFinal) state.sync.reset();
    if (outcome.ok) headers = std::move(outcome.ready);
    return outcome.ok;
}

/** Whether the chain, as far as known, has too little work to be stored. If it may continue, starts
 *  a sync to find out. */
bool HeaderDownload::StartPresync(Peer& peer, const HeaderNode& start,
                                  std::vector<BlockHeader>& headers,
                                  const std::vector<BlockHash>& hashes)
{
    const Arith256 threshold = WorkThreshold();
    if (start.chain_work + ClaimedWork(headers) >= threshold) return false;
    if (headers.size() == kMaxHeaders) {
        m_states[peer].sync = std::make_unique<HeaderSync>(
            m_at.params, start, threshold, m_peers.NowSeconds(),
            RandomHeaderSyncSecrets(m_at.env, m_at.params), peer.Id(), m_at.log);
        ContinueSync(peer, headers, hashes);
    } else {
        m_at.log.Debug(LogCategory::kNet, "Ignoring low-work chain (height={}) from peer={}",
                       size_t(start.height) + headers.size(), peer.Id());
    }
    return true;
}

void HeaderDownload::Store(Peer& peer, const std::vector<BlockHeader>& headers, bool is_new,
                           bool may_have_more, bool syncing)
{
    const HeaderNode* last = nullptr;
    if (const RuleResult violation = m_at.headers.AcceptHeaders(headers, &last)) {
        return Punish(peer, *violation);
    }
    CHECK(last);
    if (is_new && last->chain_work > m_at.chain.Tip().chain_work) {
        m_states[peer].last_announcement = m_peers.NowSeconds();
    }
    if (is_new) LogNew(peer, *last, false);
    if (may_have_more && !syncing && Request(peer, BlockLocator(last))) {
        m_at.log.Debug(LogCategory::kNet, "more getheaders ({}) to end to peer={}", last->height,
                       peer.Id());
    }
    Stored(peer, *last, may_have_more);
    if (!peer.closing) m_listener->HeadersTaken(peer, *last);
}

void HeaderDownload::LogNew(const Peer& peer, const HeaderNode& node, bool via_compact) const
{
    const std::string text =
        fmt::format("Saw new {}header hash={} height={} {}", via_compact ? "cmpctblock " : "",
                    node.hash.ToHex(), node.height, m_peers.NameOf(peer));
    if (m_at.chain.IsInitialBlockDownload()) {
        m_at.log.Debug(LogCategory::kValidation, "{}", text);
    } else {
        m_at.log.Info("{}", text);
    }
}

/** A peer that announces by compact blocks need not have validated the block, only its parent. */
void HeaderDownload::Punish(Peer& peer, const RuleViolation& why, bool via_compact)
{
    const char* const text =
        via_compact ? "invalid header via cmpctblock" : "invalid header received";
    using Kind = RuleViolation::Kind;
    switch (why.kind) {
    case Kind::kCachedInvalid:
        if (peer.IsInbound() || via_compact) break;
        m_at.log.Warning("{} (received from peer={}). If this happens with all peers, consider "
                         "database corruption (that -reindex may fix) or a potential consensus "
                         "incompatibility.",
                         why.detail, peer.Id());
        return m_peers.Misbehaving(peer, text);
    case Kind::kHeaderLowWork:
    case Kind::kTimeFuture: break;
    default: return m_peers.Misbehaving(peer, text);
    }
    m_at.log.Debug(LogCategory::kNet, "peer={}: {}", peer.Id(), text);
}

void HeaderDownload::Stored(Peer& peer, const HeaderNode& last, bool may_have_more)
{
    m_chains.NoteAnnounced(peer, last.hash);
    m_listener->HeadersAdded();
    const HeaderNode* const best = m_chains.BestOf(peer);
    const bool downloading = m_at.chain.IsInitialBlockDownload();
    if (downloading && !may_have_more && best && peer.IsReplaceable() &&
        best->chain_work < m_options.minimum_work) {
        return m_peers.Drop(peer, "outbound peer headers chain has insufficient work", true);
    }
    if (best && best->chain_work >= m_at.chain.Tip().chain_work) Protect(peer);
}

/** A few outbound peers with a good chain stay even if theirs becomes older than ours. */
void HeaderDownload::Protect(Peer& peer)
{
    if (!peer.Is(ConnectionKind::kOutboundFullRelay) || IsProtected(peer)) return;
    const auto is_protected = [&](const auto& entry) { return IsProtected(*entry.second); };
    const auto& all = m_peers.All();
    if (std::count_if(all.begin(), all.end(), is_protected) >= kMaxProtectedPeers) return;
    m_at.log.Debug(LogCategory::kNet, "Protecting outbound peer={} from eviction", peer.Id());
    m_states[peer].check.is_protected = true;
}

/** Sends a getheaders, unless one is pending. */
bool HeaderDownload::Request(Peer& peer, const std::vector<BlockHash>& locator)
{
    State& state = m_states[peer];
    if (state.request_sent != 0 && m_peers.Now() <= state.request_sent + kResponseTime) {
        return false;
    }
    GetHeadersMessage message;
    message.locator.items = locator;
    m_peers.Send(peer, message);
    state.request_sent = m_peers.Now();
    return true;
}

HeaderAnswers HeaderDownload::AskForLastHeaders()
{
    HeaderAnswers out;
    const auto is_complete = [&](const auto& entry) { return m_states[*entry.second].complete; };
    if (m_at.chain.IsImporting()) return out;
    const bool ask = std::any_of(m_peers.All().begin(), m_peers.All().end(), is_complete);
    for (const auto& [id, peer] : m_peers.All()) {
        if (!peer->established || peer->closing || !peer->OffersBlocks()) continue;
        const State& state = m_states[*peer];
        ++out.peers;
        out.complete += state.complete;
        if (!ask || state.complete || state.sync) continue;
        const HeaderNode& best = m_at.chain.BestHeader();
        Request(*peer, BlockLocator(best.prev ? best.prev : &best));
    }
    return out;
}

void HeaderDownload::Maintain(Peer& peer)
{
    m_chains.ResolveUnknown(peer);
    State& state = m_states[peer];
    const HeaderNode* const best = m_chains.BestOf(peer);
    if (!state.sendheaders_sent && peer.common_version >= kSendHeadersVersion && best &&
        best->chain_work > m_options.minimum_work) {
        // Only after the headers are synced: announcements would interfere.
        m_peers.Send(peer, SendHeadersMessage{});
        state.sendheaders_sent = true;
    }
    if (!state.sync_started && peer.OffersBlocks() && !m_at.chain.IsImporting()) StartSync(peer);
    if (!state.sync_started && !best) AskForBest(peer);
    if (state.sync_started && state.sync_timeout < kNever) CheckTimeout(peer);
    if (!peer.closing) CheckChain(peer);
}

/** Syncs headers from one peer at a time, until the best header is recent. */
void HeaderDownload::StartSync(Peer& peer)
{
    if (!MayStartSync(peer)) return;
    const HeaderNode& best = m_at.chain.BestHeader();
    // From the block before the best, so that a peer with the same tip has an answer.
    const HeaderNode* const start = best.prev ? best.prev : &best;
    if (!Request(peer, BlockLocator(start))) return;
    m_at.log.Debug(LogCategory::kNet, "initial getheaders ({}) to peer={}", start->height,
                   peer.Id());
    const int64_t behind = m_peers.NowSeconds() - int64_t{best.time};
    State& state = m_states[peer];
    state.sync_started = true;
    state.sync_timeout = m_peers.Now() + kTimeoutBase +
                         kTimeoutPerHeader * behind / m_at.params.consensus.pow_target_spacing;
}

/** Headers come from another peer, which may be slow. If blocks of known headers are missing, this
 *  peer is asked whether it has the best of these headers, to fetch the blocks from it meanwhile.
 *  The answer is this header alone, and does not count as all headers of the peer. */
void HeaderDownload::AskForBest(Peer& peer)
{
    State& state = m_states[peer];
    if (state.asked_for_best || !peer.OffersBlocks() || m_at.chain.IsImporting()) return;
    const HeaderNode& best = m_at.chain.BestHeader();
    // Below the minimum no block is requested, and its answer alone would drop the peer.
    if (best.chain_work < m_options.minimum_work) return;
    if (!best.prev || !m_listener->IsAnyMissing()) return;
    state.asked_for_best = true;
    GetHeadersMessage message;
    message.locator.items = BlockLocator(best.prev);
    message.stop = best.hash;
    m_peers.Send(peer, message);
    m_at.log.Debug(LogCategory::kNet, "getheaders for the best header ({}) to peer={}", best.height,
                   peer.Id());
}

bool HeaderDownload::MayStartSync(const Peer& peer) const
{
    if (m_peers.NowSeconds() - int64_t{m_at.chain.BestHeader().time} < kDay) return true;
    const auto& all = m_peers.All();
    const auto started = [&](const auto& entry) { return m_states[*entry.second].sync_started; };
    const auto preferred = [](const auto& entry) { return entry.second->IsPreferredSource(); };
    if (std::any_of(all.begin(), all.end(), started)) return false;
    return peer.IsPreferredSource() || (!peer.Is(ConnectionKind::kAddrFetch) &&
                                        std::none_of(all.begin(), all.end(), preferred));
}

/** Replaces a peer that sends headers too slowly, if there is another one. */
void HeaderDownload::CheckTimeout(Peer& peer)
{
    State& state = m_states[peer];
    if (int64_t{m_at.chain.BestHeader().time} > m_peers.NowSeconds() - kDay) {
        state.sync_timeout = kNever;
        return;
    }
    if (m_peers.Now() <= state.sync_timeout) return;
    int syncing = 0;
    bool other_preferred = false;
    for (const auto& [id, other] : m_peers.All()) {
        syncing += m_states[*other].sync_started;
        other_preferred |= other.get() != &peer && other->IsPreferredSource();
    }
    if (syncing != 1 || !other_preferred) return;
    if (!peer.Permits(kPermitNoBan)) return m_peers.Drop(peer, "Timeout downloading headers", true);
    m_at.log.Info("Timeout downloading headers from noban peer, not disconnecting {}",
                  m_peers.NameOf(peer));
    state.sync_started = false;
    state.sync_timeout = 0;
}

/** An automatic outbound peer must show a chain as good as ours, or is replaced. */
void HeaderDownload::CheckChain(Peer& peer)
{
    ChainCheck& check = m_states[peer].check;
    if (check.is_protected || !peer.IsReplaceable() || !m_states[peer].sync_started) return;
    const HeaderNode& tip = m_at.chain.Tip();
    const HeaderNode* const theirs = m_chains.BestOf(peer);
    if (theirs && theirs->chain_work >= tip.chain_work) {
        check = {};
    } else if (check.timeout == 0 ||
               (check.benchmark && theirs && theirs->chain_work >= check.benchmark->chain_work)) {
        check = {m_peers.NowSeconds() + kChainCheckSeconds, &tip, false, false};
    } else if (m_peers.NowSeconds() > check.timeout) {
        const std::string best = theirs ? theirs->hash.ToHex() : "<none>";
        if (check.asked) {
            return m_peers.Drop(peer, "Outbound peer has old chain, best known block = " + best,
                                true);
        }
        const HeaderNode* const before = check.benchmark->prev;
        Request(peer, BlockLocator(before ? before : check.benchmark));
        m_at.log.Debug(LogCategory::kNet,
                       "sending getheaders to outbound peer={} to verify chain work (current best "
                       "known block:{}, benchmark blockhash: {})",
                       peer.Id(), best, check.benchmark->hash.ToHex());
        check.asked = true;
        check.timeout = m_peers.NowSeconds() + kResponseTime / kSecond;
    }
}

const HeaderNode* HeaderDownload::AcceptOfBlock(Peer& peer, const BlockHeader& header, ByteSpan raw)
{
    // As in Core, a message that cannot be decoded is ignored, so its header is not judged.
    BlockView block;
    if (!block.Parse(raw)) {
        m_peers.LogRefused(BlockMessage::kType, raw.size(), block.Fault());
        return nullptr;
    }
    const HeaderNode* const before = m_at.chain.Find(header.prev_hash);
    if (!before) {
        m_at.log.Error("ProcessNewBlock: AcceptBlock FAILED (prev-blk-not-found)");
        m_peers.Misbehaving(peer, "prev-blk-not-found");
        return nullptr;
    }
    // The header of an unrequested block must pass the same anti-DoS work check as other headers.
    if (before->chain_work + ClaimedWork({&header, 1}) < WorkThreshold()) {
        m_at.log.Debug(LogCategory::kValidation,
                       "AcceptBlockHeader: not adding new block header {}, missing anti-dos "
                       "proof-of-work validation",
                       header.Hash().ToHex());
        return nullptr;
    }
    const HeaderNode* node = nullptr;
    if (const RuleResult violation = m_at.headers.AcceptHeaders({&header, 1}, &node)) {
        Punish(peer, *violation);
        return nullptr;
    }
    // Not an announcement: it neither shows the peer's other blocks nor causes a request.
    m_listener->HeadersAdded();
    return node;
}

const HeaderNode* HeaderDownload::AcceptOfCompact(Peer& peer, const BlockHeader& header)
{
    const HeaderNode* const before = m_at.chain.Find(header.prev_hash);
    if (!before) {
        if (!m_at.chain.IsInitialBlockDownload()) {
            Request(peer, BlockLocator(&m_at.chain.BestHeader()));
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
        Punish(peer, *violation, true);
        return nullptr;
    }
    if (is_new) {
        LogNew(peer, *node, true);
        m_listener->HeadersAdded();
    }
    m_chains.NoteAnnounced(peer, node->hash);
    if (is_new && node->chain_work > m_at.chain.Tip().chain_work) {
        m_states[peer].last_announcement = m_peers.NowSeconds();
    }
    return node;
}

/** Minimum work of a chain to be stored. */
Arith256 HeaderDownload::WorkThreshold() const
{
    const HeaderNode& tip = m_at.chain.Tip();
    const Arith256 margin = BlockWork(tip.bits) * Arith256(kNearTip);
    const Arith256 near = margin < tip.chain_work ? tip.chain_work - margin : Arith256(0);
    return std::max(near, m_options.minimum_work);
}

bool HeaderDownload::IsOnBestOrActive(const HeaderNode* node) const
{
    return node && (IsAncestor(*node, m_at.chain.BestHeader()) || m_peers.IsActive(*node));
}

} // namespace ibd

// See peer_manager.h: headers in both directions, and peers with old chains.
#include "net/peer/peer_manager.h"

#include "consensus/pow.h"

namespace ibd {

namespace {

constexpr int64_t kDay = 24 * 60 * 60;
/** Blocks below the tip within which a branch may start without presync. */
constexpr uint32_t kNearTip = 144;
constexpr int64_t kPresyncLogInterval = kSecond / 4;

} // namespace

void PeerManager::HandleHeaders(Peer& peer, ByteSpan payload)
{
    if (m_at.chain.IsImporting()) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected headers message received from peer {}",
                       peer.Id());
        return;
    }
    auto message = Read<HeadersMessage>(peer, payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return Misbehaving(peer, fmt::format("headers message size = {}", message->list.Count()));
    }
    ProcessHeaders(peer, std::move(message->list.items));
}

void PeerManager::ProcessHeaders(Peer& peer, std::vector<BlockHeader> headers)
{
    if (headers.empty()) {
        // It cannot be an announcement, so it is the answer to our request: there are no more.
        peer.header_sync.reset();
        peer.getheaders_sent = 0;
        peer.headers_told = true;
        return;
    }
    const auto hashes = HashHeaders(headers);
    if (!CheckHeaders(peer, headers, hashes)) return;
    const bool full = headers.size() == kMaxHeaders;
    if (peer.getheaders_sent != 0 || full) peer.headers_told = !full;
    const BlockHash last_hash = hashes.back();
    const bool from_sync = ContinueHeaderSync(peer, headers, hashes);
    if (headers.empty()) return;
    const bool syncing = peer.header_sync != nullptr;

    const HeaderNode* const start = m_at.chain.Find(headers[0].prev_hash);
    if (!start) {
        const HeaderNode& best = m_at.chain.BestHeader();
        if (RequestHeaders(peer, BlockLocator(&best))) {
            m_at.log.Debug(LogCategory::kNet,
                           "received header {}: missing prev block {}, sending getheaders ({}) to "
                           "end (peer={})",
                           headers[0].Hash().ToHex(), headers[0].prev_hash.ToHex(), best.height,
                           peer.Id());
        }
        return NoteAnnounced(peer, last_hash);
    }
    peer.getheaders_sent = 0;
    const HeaderNode* const known = m_at.chain.Find(from_sync ? headers.back().Hash() : last_hash);
    const bool trusted = from_sync || IsOnBestOrActive(known) || peer.Permits(kPermitNoBan);
    if (!trusted && StartHeaderSync(peer, *start, headers, hashes)) return;
    StoreHeaders(peer, headers, known == nullptr, full, syncing);
}

bool PeerManager::CheckHeaders(Peer& peer, const std::vector<BlockHeader>& headers,
                               const std::vector<BlockHash>& hashes)
{
    if (!HaveProofOfWork(headers, hashes, m_at.params.consensus)) {
        Misbehaving(peer, "header with invalid proof of work");
        return false;
    }
    if (!AreContinuous(headers, hashes)) {
        Misbehaving(peer, "non-continuous headers sequence");
        return false;
    }
    return true;
}

void PeerManager::LogPresync(const HeaderSync& sync)
{
    const bool due = Now() >= m_presync_told + kPresyncLogInterval;
    if (!due || !m_at.chain.IsInitialBlockDownload()) return;
    m_presync_told = Now();
    const int64_t left = std::max<int64_t>(0, NowSeconds() - int64_t{sync.PresyncTime()}) /
                         m_at.params.consensus.pow_target_spacing;
    const auto height = static_cast<double>(sync.PresyncHeight());
    m_at.log.Info("Pre-synchronizing blockheaders, height: {} (~{:.2f}%)", sync.PresyncHeight(),
                  100 * height / (height + static_cast<double>(left)));
}

/** Passes the headers to a running sync. Returns whether it took them; `headers` are then those
 *  that may be stored. */
bool PeerManager::ContinueHeaderSync(Peer& peer, std::vector<BlockHeader>& headers,
                                     const std::vector<BlockHash>& hashes)
{
    if (!peer.header_sync) return false;
    HeaderSync& sync = *peer.header_sync;
    auto outcome = sync.Process(headers, hashes, headers.size() == kMaxHeaders);
    if (outcome.ok) peer.getheaders_sent = 0;
    if (sync.CurrentPhase() == HeaderSync::Phase::kPresync) LogPresync(sync);
    if (outcome.request_more) {
        const auto locator = sync.NextLocator();
        CHECK(RequestHeaders(peer, locator));
        m_at.log.Debug(LogCategory::kNet, "more getheaders (from {}) to peer={}",
                       locator.front().ToHex(), peer.Id());
    }
    if (sync.CurrentPhase() == HeaderSync::Phase::kFinal) peer.header_sync.reset();
    if (outcome.ok) headers = std::move(outcome.ready);
    return outcome.ok;
}

/** Whether the chain, as far as known, has too little work to be stored. If it may continue, starts
 *  a sync to find out. */
bool PeerManager::StartHeaderSync(Peer& peer, const HeaderNode& start,
                                  std::vector<BlockHeader>& headers,
                                  const std::vector<BlockHash>& hashes)
{
    const Arith256 threshold = WorkThreshold();
    if (start.chain_work + ClaimedWork(headers) >= threshold) return false;
    if (headers.size() == kMaxHeaders) {
        peer.header_sync = std::make_unique<HeaderSync>(
            m_at.params, start, threshold, NowSeconds(),
            RandomHeaderSyncSecrets(m_at.env, m_at.params), peer.Id(), m_at.log);
        ContinueHeaderSync(peer, headers, hashes);
    } else {
        m_at.log.Debug(LogCategory::kNet, "Ignoring low-work chain (height={}) from peer={}",
                       size_t(start.height) + headers.size(), peer.Id());
    }
    return true;
}

void PeerManager::StoreHeaders(Peer& peer, const std::vector<BlockHeader>& headers, bool is_new,
                               bool may_have_more, bool syncing)
{
    const HeaderNode* last = nullptr;
    if (const RuleResult violation = m_at.headers.AcceptHeaders(headers, &last)) {
        return PunishForHeader(peer, *violation);
    }
    CHECK(last);
    if (is_new && last->chain_work > m_at.chain.Tip().chain_work) {
        peer.last_announcement = NowSeconds();
    }
    if (is_new) LogNewHeader(peer, *last, false);
    if (may_have_more && !syncing && RequestHeaders(peer, BlockLocator(last))) {
        m_at.log.Debug(LogCategory::kNet, "more getheaders ({}) to end to peer={}", last->height,
                       peer.Id());
    }
    HeadersStored(peer, *last, may_have_more);
    if (!peer.closing) FetchDirectly(peer, *last);
}

void PeerManager::LogNewHeader(const Peer& peer, const HeaderNode& node, bool via_compact) const
{
    const std::string text =
        fmt::format("Saw new {}header hash={} height={} {}", via_compact ? "cmpctblock " : "",
                    node.hash.ToHex(), node.height, NameOf(peer));
    if (m_at.chain.IsInitialBlockDownload()) {
        m_at.log.Debug(LogCategory::kValidation, "{}", text);
    } else {
        m_at.log.Info("{}", text);
    }
}

/** An announcer by compact blocks need not know whether a block is valid, only its parent. */
void PeerManager::PunishForHeader(Peer& peer, const RuleViolation& why, bool via_compact)
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
        return Misbehaving(peer, text);
    case Kind::kHeaderLowWork:
    case Kind::kTimeFuture: break;
    default: return Misbehaving(peer, text);
    }
    m_at.log.Debug(LogCategory::kNet, "peer={}: {}", peer.Id(), text);
}

void PeerManager::HeadersStored(Peer& peer, const HeaderNode& last, bool may_have_more)
{
    NoteAnnounced(peer, last.hash);
    if (m_downloader) m_downloader->GoalChanged();
    const bool downloading = m_at.chain.IsInitialBlockDownload();
    if (downloading && !may_have_more && peer.best_known && peer.IsReplaceable() &&
        peer.best_known->chain_work < m_options.minimum_work) {
        return Drop(peer, "outbound peer headers chain has insufficient work", true);
    }
    if (!peer.Is(ConnectionKind::kOutboundFullRelay) || !peer.best_known) return;
    if (peer.chain_check.is_protected ||
        peer.best_known->chain_work < m_at.chain.Tip().chain_work) {
        return;
    }
    const auto is_protected = [](const auto& entry) {
        return entry.second->chain_check.is_protected;
    };
    if (std::count_if(m_peers.begin(), m_peers.end(), is_protected) >= kMaxProtectedPeers) return;
    m_at.log.Debug(LogCategory::kNet, "Protecting outbound peer={} from eviction", peer.Id());
    peer.chain_check.is_protected = true;
}

/** Sends a getheaders, unless one is pending. */
bool PeerManager::RequestHeaders(Peer& peer, const std::vector<BlockHash>& locator)
{
    if (peer.getheaders_sent != 0 && Now() <= peer.getheaders_sent + kHeadersResponseTime) {
        return false;
    }
    GetHeadersMessage message;
    message.locator.items = locator;
    Send(peer, message);
    peer.getheaders_sent = Now();
    return true;
}

/** Headers come from one peer at a time. After it has sent all, the others are asked, so that no
 *  single peer determines the end of the chain. */
HeadersTold PeerManager::AskForLastHeaders()
{
    HeadersTold out;
    const auto has_told = [](const auto& entry) { return entry.second->headers_told; };
    if (m_at.chain.IsImporting()) return out;
    const bool ask = std::any_of(m_peers.begin(), m_peers.end(), has_told);
    for (const auto& [id, peer] : m_peers) {
        if (!peer->established || peer->closing || !peer->OffersBlocks()) continue;
        ++out.peers;
        out.told += peer->headers_told;
        if (!ask || peer->headers_told || peer->header_sync) continue;
        const HeaderNode& best = m_at.chain.BestHeader();
        RequestHeaders(*peer, BlockLocator(best.prev ? best.prev : &best));
    }
    return out;
}

void PeerManager::MaintainHeaders(Peer& peer)
{
    ResolveUnknown(peer);
    if (!peer.sendheaders_sent && peer.common_version >= kSendHeadersVersion && peer.best_known &&
        peer.best_known->chain_work > m_options.minimum_work) {
        // Only after the headers are synced: announcements would interfere.
        Send(peer, SendHeadersMessage{});
        peer.sendheaders_sent = true;
    }
    if (!peer.sync_started && peer.OffersBlocks() && !m_at.chain.IsImporting()) StartSync(peer);
    if (!peer.sync_started && !peer.best_known) AskForBestHeader(peer);
    if (peer.sync_started && peer.headers_timeout < kNever) CheckHeadersTimeout(peer);
    if (!peer.closing) CheckChain(peer);
}

/** Syncs headers from one peer at a time, until the best header is recent. */
void PeerManager::StartSync(Peer& peer)
{
    const HeaderNode& best = m_at.chain.BestHeader();
    const int64_t behind = NowSeconds() - int64_t{best.time};
    if (behind >= kDay) {
        const auto started = [](const auto& entry) { return entry.second->sync_started; };
        const auto preferred = [](const auto& entry) { return entry.second->preferred_download; };
        if (std::any_of(m_peers.begin(), m_peers.end(), started)) return;
        if (!peer.preferred_download && (peer.Is(ConnectionKind::kAddrFetch) ||
                                         std::any_of(m_peers.begin(), m_peers.end(), preferred))) {
            return;
        }
    }
    // From the block before the best, so that a peer with the same tip has an answer.
    const HeaderNode* const start = best.prev ? best.prev : &best;
    if (!RequestHeaders(peer, BlockLocator(start))) return;
    m_at.log.Debug(LogCategory::kNet, "initial getheaders ({}) to peer={}", start->height,
                   peer.Id());
    peer.sync_started = true;
    peer.headers_timeout =
        Now() + kHeadersTimeoutBase +
        kHeadersTimeoutPerHeader * behind / m_at.params.consensus.pow_target_spacing;
}

/** Headers come from another peer, which may be slow. If blocks of known headers are missing, this
 *  peer is asked whether it has the best of these headers, to fetch the blocks from it meanwhile.
 *  The answer is this header alone, and does not count as all headers of the peer. */
void PeerManager::AskForBestHeader(Peer& peer)
{
    if (peer.asked_for_best || !m_sink || !peer.OffersBlocks() || m_at.chain.IsImporting()) return;
    const HeaderNode& best = m_at.chain.BestHeader();
    if (!best.prev || !m_downloader->AnyMissing()) return;
    peer.asked_for_best = true;
    GetHeadersMessage message;
    message.locator.items = BlockLocator(best.prev);
    message.stop = best.hash;
    Send(peer, message);
    m_at.log.Debug(LogCategory::kNet, "getheaders for the best header ({}) to peer={}", best.height,
                   peer.Id());
}

/** Replaces a peer that sends headers too slowly, if there is another one. */
void PeerManager::CheckHeadersTimeout(Peer& peer)
{
    if (int64_t{m_at.chain.BestHeader().time} > NowSeconds() - kDay) {
        peer.headers_timeout = kNever;
        return;
    }
    if (Now() <= peer.headers_timeout) return;
    int syncing = 0;
    bool other_preferred = false;
    for (const auto& [id, other] : m_peers) {
        syncing += other->sync_started;
        other_preferred |= other.get() != &peer && other->preferred_download;
    }
    if (syncing != 1 || !other_preferred) return;
    if (!peer.Permits(kPermitNoBan)) return Drop(peer, "Timeout downloading headers", true);
    m_at.log.Info("Timeout downloading headers from noban peer, not disconnecting {}",
                  NameOf(peer));
    peer.sync_started = false;
    peer.headers_timeout = 0;
}

/** An automatic outbound peer must show a chain as good as ours, or is replaced. */
void PeerManager::CheckChain(Peer& peer)
{
    Peer::ChainCheck& check = peer.chain_check;
    if (check.is_protected || !peer.IsReplaceable() || !peer.sync_started) return;
    const HeaderNode& tip = m_at.chain.Tip();
    const HeaderNode* const theirs = peer.best_known;
    if (theirs && theirs->chain_work >= tip.chain_work) {
        check = {};
    } else if (check.timeout == 0 ||
               (check.benchmark && theirs && theirs->chain_work >= check.benchmark->chain_work)) {
        check = {NowSeconds() + kChainCheckSeconds, &tip, false, false};
    } else if (NowSeconds() > check.timeout) {
        const std::string best = theirs ? theirs->hash.ToHex() : "<none>";
        if (check.asked) {
            return Drop(peer, "Outbound peer has old chain, best known block = " + best, true);
        }
        const HeaderNode* const before = check.benchmark->prev;
        RequestHeaders(peer, BlockLocator(before ? before : check.benchmark));
        m_at.log.Debug(LogCategory::kNet,
                       "sending getheaders to outbound peer={} to verify chain work (current best "
                       "known block:{}, benchmark blockhash: {})",
                       peer.Id(), best, check.benchmark->hash.ToHex());
        check.asked = true;
        check.timeout = NowSeconds() + kHeadersResponseTime / kSecond;
    }
}

void PeerManager::HandleGetHeaders(Peer& peer, ByteSpan payload)
{
    const auto message = Read<GetHeadersMessage>(peer, payload);
    if (!message) return;
    if (message->locator.TooMany()) {
        return Drop(peer, fmt::format("getheaders locator size {} > {}", message->locator.Count(),
                                      kMaxLocator));
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
        return Send(peer, HeadersMessage{});
    }
    HeadersMessage out;
    const HeaderNode* node = nullptr;
    if (message->locator.items.empty()) {
        node = m_at.chain.Find(message->stop);
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
        node = &ForkWithActive(message->locator.items);
    }
    m_at.log.Debug(LogCategory::kNet, "getheaders {} to {} from peer={}", node->height,
                   message->stop.IsNull() ? "end" : message->stop.ToHex(), peer.Id());
    // On the active chain: the blocks after the fork, or the single requested header.
    if (IsActive(*node) && !(out.list.items.size() == 1 && node->hash == message->stop)) {
        const int end = std::min<int>(tip.height, node->height + int{kMaxHeaders});
        for (int height = node->height + 1; height <= end; ++height) {
            node = tip.Ancestor(height);
            out.list.items.push_back(node->Header());
            if (node->hash == message->stop) break;
        }
    }
    // Reset, not raised: a requesting peer has not used our announcements.
    peer.best_sent = out.list.items.empty() ? &tip : node;
    Send(peer, out);
}

/** Records that the peer has this block. */
void PeerManager::NoteAnnounced(Peer& peer, const BlockHash& hash)
{
    ResolveUnknown(peer);
    const HeaderNode* const node = m_at.chain.Find(hash);
    if (!node) {
        peer.last_unknown = hash;
    } else if (!peer.best_known || node->chain_work >= peer.best_known->chain_work) {
        peer.best_known = node;
    }
}

void PeerManager::ResolveUnknown(Peer& peer)
{
    if (peer.last_unknown.IsNull()) return;
    const HeaderNode* const node = m_at.chain.Find(peer.last_unknown);
    if (!node) return;
    if (!peer.best_known || node->chain_work >= peer.best_known->chain_work) {
        peer.best_known = node;
    }
    peer.last_unknown = {};
}

/** Least work of a chain to be stored. */
Arith256 PeerManager::WorkThreshold() const
{
    const HeaderNode& tip = m_at.chain.Tip();
    const Arith256 margin = BlockWork(tip.bits) * Arith256(kNearTip);
    const Arith256 near = margin < tip.chain_work ? tip.chain_work - margin : Arith256(0);
    return std::max(near, m_options.minimum_work);
}

bool PeerManager::IsOnBestOrActive(const HeaderNode* node) const
{
    return node && (IsAncestor(*node, m_at.chain.BestHeader()) || IsActive(*node));
}

} // namespace ibd

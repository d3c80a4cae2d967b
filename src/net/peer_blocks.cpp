// See peer_manager.h: blocks from peers. What they send goes to the BlockSink as it is: nothing is
// parsed or hashed here but the header, which says which block it wants to be.
#include "net/peer_manager.h"

#include "consensus/block_check.h"
#include "consensus/script_flags.h"

namespace ibd {

namespace {

constexpr int64_t kRecentBlocks = 20; //!< the tip is within the time of so many: caught up

} // namespace

void PeerManager::DownloadInto(DownloadGoal& goal, BlockSink& sink)
{
    if (m_downloader) {
        m_downloader->SetGoal(goal);
    } else {
        m_downloader.emplace(goal, m_at.params.consensus.pow_target_spacing);
    }
    m_sink = &sink;
}

void PeerManager::StopDownload()
{
    m_downloader.reset();
    m_sink = nullptr;
}

/** Whether a message must wait: a block for which the sink has no room, and what comes behind a
 *  block that the sink is at work on. Blocks do not wait for one another. */
bool PeerManager::MustWait(const Peer& peer, const ReceivedMessage& message) const
{
    if (!m_sink) return false;
    if (message.type == kBlockType) return !m_sink->HasRoom(message.payload.size());
    return peer.awaits_verdict;
}

void PeerManager::HandleBlock(Peer& peer, Bytes raw)
{
    if (m_at.chain.IsImporting() || !m_sink) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected block message received from peer {}",
                       peer.Id());
        return;
    }
    if (raw.size() < BlockHeader::kSize) {
        return LogRefused(kBlockType, raw.size(), Reader::kEndOfData);
    }
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    const BlockHash hash = header.Hash();
    m_at.log.Debug(LogCategory::kNet, "received block {} peer={}", hash.ToHex(), peer.Id());
    const HeaderNode* node = m_at.chain.Find(hash);
    if (!node) {
        // No announcement: it says nothing of what else the peer has, and asks for nothing.
        if (!MayAddHeader(peer, header, raw)) return;
        if (const RuleResult violation = m_at.headers.AcceptHeaders({&header, 1}, &node)) {
            return PunishForHeader(peer, *violation);
        }
        m_downloader->GoalChanged();
    }
    const bool asked = m_downloader->Received(peer.Id(), *node, Now());
    if (!asked && !IsWorthTaking(*node)) return CheckUnwanted(peer, *node, raw);
    Deliver(peer, {node, peer.Id(), std::move(raw)});
}

void PeerManager::Deliver(Peer& peer, PeerBlock block)
{
    const HeaderNode& node = *block.node;
    if (!m_sink->Put(std::move(block))) return m_downloader->Refused(node, Now());
    peer.last_block = NowSeconds();
    peer.awaits_verdict = true;
}

Result<> PeerManager::FetchBlock(PeerId id, const HeaderNode& node)
{
    Peer* const peer = Find(id);
    if (m_at.chain.IsImporting() || !m_downloader) return BadData("Loading blocks ...");
    if (!peer || peer->closing) return BadData("Peer does not exist");
    if (!peer->OffersWitnesses()) return BadData("Pre-SegWit peer");
    if (peer->spoilt->IsFull()) return BadData("Peer sent something else for too many blocks");
    if (peer->spoilt->Contains(node)) return BadData("Peer sent something else for this block");
    if (!m_downloader->Demand(id, node, Now())) {
        return BadData("Already requested from this peer");
    }
    m_at.log.Debug(LogCategory::kNet, "Requesting block {} from peer={}", node.hash.ToHex(), id);
    GetDataMessage message;
    message.list.items.push_back({kInvWitnessBlock, node.hash});
    Send(*peer, message);
    return {};
}

/** Of a block that was not asked for, whose header nobody told us: that has to pass as others. */
bool PeerManager::MayAddHeader(Peer& peer, const BlockHeader& header, ByteSpan raw)
{
    const HeaderNode* const before = m_at.chain.Find(header.prev_hash);
    if (!before) {
        BlockView block;
        if (!block.Parse(raw)) {
            LogRefused(kBlockType, raw.size(), block.Fault());
            return false;
        }
        m_at.log.Error("ProcessNewBlock: AcceptBlock FAILED (prev-blk-not-found)");
        Misbehaving(peer, "prev-blk-not-found");
        return false;
    }
    if (before->chain_work + ClaimedWork({&header, 1}) >= WorkThreshold()) return true;
    m_at.log.Debug(LogCategory::kValidation,
                   "AcceptBlockHeader: not adding new block header {}, missing anti-dos "
                   "proof-of-work validation",
                   header.Hash().ToHex());
    return false;
}

/** Of no use; but whoever sends other bytes than the block's has to go, as with any block. */
void PeerManager::CheckUnwanted(Peer& peer, const HeaderNode& node, ByteSpan raw)
{
    BlockView block;
    if (!block.Parse(raw)) {
        return LogRefused(kBlockType, raw.size(), block.Fault());
    }
    const bool segwit =
        BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit);
    if (!IsBlockMutated(block, segwit)) return;
    if (!m_at.chain.Facts(node).have_data) NoteSpoilt(peer.Id(), node, "is not that block");
    m_at.log.Debug(LogCategory::kNet, "Received mutated block from peer={}", peer.Id());
    Misbehaving(peer, "mutated block");
}

/** Of a block that was not asked for: it is new, may become the tip, and is not far above it. */
bool PeerManager::IsWorthTaking(const HeaderNode& node) const
{
    const HeaderNode& tip = m_at.chain.Tip();
    return !m_at.chain.Facts(node).have_data && node.chain_work >= tip.chain_work &&
           node.chain_work >= m_options.minimum_work && node.height <= tip.height + kLimitedBlocks;
}

/** Sends away who holds the download up, and asks for more. */
void PeerManager::MaintainBlocks(Peer& peer)
{
    if (!m_downloader) return;
    if (!m_sink->HasRoom(kMaxPayload)) m_downloader->Excuse(peer.Id(), Now());
    const int64_t before = m_downloader->CurrentStallTimeout();
    switch (m_downloader->Judge(peer.Id(), Now())) {
    case BlockDownloader::Verdict::kFine: break;
    case BlockDownloader::Verdict::kStalling:
        if (m_downloader->CurrentStallTimeout() != before) {
            LogStallTimeout("Increased stalling timeout temporarily");
        }
        return Drop(peer, "Peer is stalling block download", true);
    case BlockDownloader::Verdict::kTimeout:
        return Drop(peer, "Timeout downloading block " + FirstInFlight(peer), true);
    }
    if (!MayAskForBlocks(peer)) return;
    peer.was_compared = true;
    const bool elsewhere = !IsAncestor(*peer.best_known, m_at.chain.BestHeader());
    BlockDownloader::Source source{peer.Id(), peer.best_known, peer.IsLimited(), elsewhere,
                                   peer.spoilt.get()};
    if (m_hints && m_hints->IsAsked(peer.Id())) source.most = kBlocksBesideHints;
    AskForBlocks(peer, m_downloader->Ask(source, m_at.chain.Tip(), Now()));
    if (const PeerId staller = m_downloader->TakeNewStaller(); staller >= 0) {
        m_at.log.Debug(LogCategory::kNet, "Stall started peer={}", staller);
    }
}

/** Core's line for each step. */
void PeerManager::ShortenStallTimeout(int32_t blocks_connected)
{
    for (; blocks_connected > 0 && m_downloader->ShortenStallTimeout(); --blocks_connected) {
        LogStallTimeout("Decreased stalling timeout");
    }
}

void PeerManager::LogStallTimeout(const char* what) const
{
    m_at.log.Debug(LogCategory::kNet, "{} to {} seconds", what,
                   m_downloader->CurrentStallTimeout() / kSecond);
}

/** Who tells of a new block is asked for it at once, when we have almost caught up. */
void PeerManager::FetchDirectly(Peer& peer, const HeaderNode& last)
{
    const HeaderNode& tip = m_at.chain.Tip();
    if (!m_downloader || m_at.chain.IsImporting() || !m_sink->HasRoom(kMaxPayload)) return;
    if (!peer.OffersWitnesses() || last.chain_work < tip.chain_work) return;
    if (!IsCaughtUp() || m_at.chain.Facts(last).failed) return;
    const auto nodes =
        m_downloader->AskTowards({peer.Id(), &last, false, false, peer.spoilt.get()}, tip, Now());
    // One block on a chain that holds is soonest here without what we know already.
    const bool alone = nodes.size() == 1 && m_downloader->BlocksAsked() == 1;
    const bool compact =
        alone && MaySendCompact(peer) && last.prev && m_at.chain.Facts(*last.prev).fully_validated;
    AskForBlocks(peer, nodes, compact ? kInvCompactBlock : kInvWitnessBlock);
    if (nodes.size() > 1) {
        m_at.log.Debug(LogCategory::kNet,
                       "Downloading blocks toward {} ({}) via headers direct fetch",
                       last.hash.ToHex(), last.height);
    }
}

bool PeerManager::IsCaughtUp() const
{
    const int64_t recent = kRecentBlocks * m_at.params.consensus.pow_target_spacing;
    return int64_t{m_at.chain.Tip().time} > NowSeconds() - recent;
}

void PeerManager::AskForBlocks(Peer& peer, const std::vector<const HeaderNode*>& nodes,
                               InventoryType type)
{
    if (nodes.empty()) return;
    GetDataMessage message;
    for (const HeaderNode* node : nodes) {
        m_at.log.Debug(LogCategory::kNet, "Requesting block {} ({}) peer={}", node->hash.ToHex(),
                       node->height, peer.Id());
        message.list.items.push_back({type, node->hash});
    }
    Send(peer, message);
}

/** The hash of the block that was asked for first. */
std::string PeerManager::FirstInFlight(const Peer& peer) const
{
    const int32_t height = m_downloader->InFlight(peer.Id()).front();
    const HeaderNode* const node = peer.best_known ? peer.best_known->Ancestor(height) : nullptr;
    return node ? node->hash.ToHex() : "";
}

/** Of strangers that came to us only if there is nobody else, as long as much is missing. */
bool PeerManager::MayAskForBlocks(const Peer& peer) const
{
    if (!peer.OffersBlocks() || !peer.OffersWitnesses() || !peer.best_known) return false;
    if (m_at.chain.IsImporting() || !m_sink->HasRoom(kMaxPayload)) return false;
    if (peer.spoilt->IsFull()) return false;
    const Arith256& work = peer.best_known->chain_work;
    if (work < m_options.minimum_work || work < m_at.chain.Tip().chain_work) return false;
    if (!m_at.chain.IsInitialBlockDownload()) return true;
    if (peer.preferred_download) return !peer.IsLimited();
    const auto preferred = [](const auto& entry) { return entry.second->preferred_download; };
    return !peer.IsLimited() && !peer.Is(ConnectionKind::kAddrFetch) &&
           (m_downloader->Idle() || std::none_of(m_peers.begin(), m_peers.end(), preferred));
}

/** What came of the blocks that the sink was given. */
void PeerManager::HandleVerdicts()
{
    if (!m_sink) return;
    // First who may go on, then what was said of them: so nobody goes on before that is heard.
    for (const auto& [id, peer] : m_peers) {
        if (peer->awaits_verdict) peer->awaits_verdict = m_sink->IsBusyWith(id);
    }
    for (const RefusedBlock& refused : m_sink->TakeRefused()) HandleRefused(refused);
    for (const TakenBlock& taken : m_sink->TakeTaken()) {
        if (taken.connected) {
            BroughtBlock(taken.peer);
        } else {
            m_downloader->Stored(*taken.node, Now());
            AnnounceEarly(*taken.node);
        }
    }
}

/** A peer that the user named may come again: what it spoilt before counts. */
void PeerManager::ShareSpoilt(Peer& peer)
{
    if (!peer.Is(ConnectionKind::kManual)) return;
    const std::string address = peer.connection.address.ToString();
    const auto known = m_spoilt_by_named.find(address);
    if (known != m_spoilt_by_named.end()) {
        peer.spoilt = known->second;
    } else if (m_spoilt_by_named.size() < kMaxNamedAddresses) {
        m_spoilt_by_named.emplace(address, peer.spoilt);
    }
}

/** What a peer sent last may be judged when it has left. */
void PeerManager::KeepSpoilt(const Peer& peer)
{
    if (!peer.Is(ConnectionKind::kManual)) return;
    m_spoilt_of_departed.emplace_back(peer.Id(), peer.spoilt);
    if (m_spoilt_of_departed.size() > kMaxDeparted) m_spoilt_of_departed.pop_front();
}

SpoiltBlocks* PeerManager::FindSpoilt(PeerId id)
{
    if (const Peer* const peer = Find(id)) return peer->spoilt.get();
    const auto found = std::find_if(m_spoilt_of_departed.begin(), m_spoilt_of_departed.end(),
                                    [id](const auto& entry) { return entry.first == id; });
    return found == m_spoilt_of_departed.end() ? nullptr : found->second.get();
}

/** The peer is not asked for this block again. The user hears of peers that he named; others are
 *  sent away. */
void PeerManager::NoteSpoilt(PeerId id, const HeaderNode& node, const char* how)
{
    SpoiltBlocks* const spoilt = FindSpoilt(id);
    if (!spoilt || !spoilt->Add(node)) return;
    const Peer* const peer = Find(id);
    if (peer && !peer->Is(ConnectionKind::kManual)) return;
    m_at.log.Warning("What {} sent for block {} ({}) {}: another peer has to send it{}",
                     peer ? NameOf(*peer) : fmt::format("peer={}", id), node.hash.ToHex(),
                     node.height, how,
                     spoilt->IsFull() ? ", and this one is asked for no more blocks" : "");
}

/** As with any message that cannot be decoded the peer stays, until it could be of no use. */
void PeerManager::PunishUndecodable(Peer& peer)
{
    if (!peer.spoilt->IsFull() || peer.Is(ConnectionKind::kManual)) return;
    Drop(peer, "Too many of its blocks cannot be decoded");
}

/** It is asked for again; who sent it may have to go. */
void PeerManager::HandleRefused(const RefusedBlock& refused)
{
    m_downloader->Refused(*refused.node, Now());
    using Kind = RuleViolation::Kind;
    const bool undecodable = refused.why.kind == Kind::kUndecodable;
    if (undecodable) LogRefused(kBlockType, refused.bytes, refused.why.reason);
    if (refused.why.IsOfDataAlone()) {
        NoteSpoilt(refused.peer, *refused.node,
                   undecodable ? "cannot be decoded" : "is not that block");
    }
    Peer* const peer = Find(refused.peer);
    if (!peer || peer->closing) return;
    switch (refused.why.kind) {
    case Kind::kUndecodable: return PunishUndecodable(*peer);
    case Kind::kHeaderLowWork:
    case Kind::kTimeFuture: return;
    case Kind::kCachedInvalid:
        if (!peer->IsInbound() && !refused.via_compact) Misbehaving(*peer, refused.why.reason);
        return;
    case Kind::kConsensus:
        if (!refused.via_compact) Misbehaving(*peer, refused.why.reason);
        return;
    case Kind::kMutated:
        m_at.log.Debug(LogCategory::kValidation, "Block mutated: {}", refused.why.ToString());
        m_at.log.Debug(LogCategory::kNet, "Received mutated block from peer={}", peer->Id());
        return Misbehaving(*peer, "mutated block");
    default: return Misbehaving(*peer, refused.why.reason);
    }
}

} // namespace ibd

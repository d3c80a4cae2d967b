// See peer_manager.h: blocks from peers. Their bytes go to the BlockSink unchanged: only the header
// is parsed and hashed here, to identify the block.
#include "net/peer/peer_manager.h"

#include "consensus/block_check.h"
#include "consensus/script_flags.h"

namespace ibd {

namespace {

constexpr int64_t kRecentBlocks = 20; //!< a tip younger than this many block intervals has caught
                                      //!< up

/** The goal between two downloads. */
class NothingMissing final : public DownloadGoal {
public:
    const HeaderNode* NextMissing(int32_t) const override { return nullptr; }
    bool Have(const HeaderNode&) const override { return false; } // requests under way are kept
    int32_t WindowEnd() const override { return kNoWindow; }
};

DownloadGoal& NoGoal()
{
    static NothingMissing none;
    return none;
}

} // namespace

void PeerManager::DownloadInto(DownloadGoal& goal, BlockSink& sink)
{
    if (m_downloader) {
        m_downloader->SetGoal(goal, Now());
    } else {
        m_downloader.emplace(goal, m_at.params.consensus.pow_target_spacing);
    }
    m_sink = &sink;
}

/** Keeps the requests under way: if the next download begins before they are answered, it takes
 *  the blocks instead of requesting them again. */
void PeerManager::StopDownload()
{
    if (m_downloader) m_downloader->SetGoal(NoGoal(), Now());
    m_sink = nullptr;
}

/** Whether a message must wait: a block for which the sink has no room, and any message after a
 *  block that the sink is processing. Blocks do not wait for one another. */
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
        return EndRequest(peer, raw);
    }
    if (raw.size() < BlockHeader::kSize) {
        return LogRefused(kBlockType, raw.size(), Reader::kEndOfData);
    }
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    const BlockHash hash = header.Hash();
    m_at.log.Debug(LogCategory::kNet, "received block {} peer={}", hash.ToHex(), peer.Id());
    const HeaderNode* node = m_at.chain.Find(hash);
    if (!node) {
        // Not an announcement: it neither shows the peer's other blocks nor causes a request.
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

/** Between two downloads a block is dropped. The next download may request it again. */
void PeerManager::EndRequest(const Peer& peer, ByteSpan raw)
{
    if (!m_downloader || raw.size() < BlockHeader::kSize) return;
    const HeaderNode* const node = m_at.chain.Find(BlockHeader::FromBytes(raw.data()).Hash());
    if (node && m_downloader->IsAskedOf(peer.Id(), *node)) {
        m_downloader->GiveUp(peer.Id(), *node, Now());
    }
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
    if (m_at.chain.IsImporting() || !m_sink) return BadData("Loading blocks ...");
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

/** The header of an unrequested block must pass the same anti-DoS work check as other headers. */
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

/** The block is useless, but a peer that sends wrong bytes is punished as for any block. */
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

/** Whether an unrequested block is new, may become the tip, and is not far above it. */
bool PeerManager::IsWorthTaking(const HeaderNode& node) const
{
    const HeaderNode& tip = m_at.chain.Tip();
    return !m_at.chain.Facts(node).have_data && node.chain_work >= tip.chain_work &&
           node.chain_work >= m_options.minimum_work && node.height <= tip.height + kLimitedBlocks;
}

/** Disconnects a peer that delays the download, and requests more blocks. */
void PeerManager::MaintainBlocks(Peer& peer)
{
    if (!m_sink) return;
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

/** Logs Core's line for each step. */
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

/** Requests an announced block from its announcer at once, when we have almost caught up. */
void PeerManager::FetchDirectly(Peer& peer, const HeaderNode& last)
{
    const HeaderNode& tip = m_at.chain.Tip();
    if (!m_sink || m_at.chain.IsImporting() || !m_sink->HasRoom(kMaxPayload)) return;
    if (!peer.OffersWitnesses() || last.chain_work < tip.chain_work) return;
    if (!IsCaughtUp() || m_at.chain.Facts(last).failed) return;
    const auto nodes =
        m_downloader->AskTowards({peer.Id(), &last, false, false, peer.spoilt.get()}, tip, Now());
    // A single block on the active chain arrives fastest without the transactions that we have.
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

/** The hash of the first requested block. */
std::string PeerManager::FirstInFlight(const Peer& peer) const
{
    const int32_t height = m_downloader->InFlight(peer.Id()).front();
    const HeaderNode* const node = peer.best_known ? peer.best_known->Ancestor(height) : nullptr;
    return node ? node->hash.ToHex() : "";
}

/** While much is missing, inbound peers are asked only if there are no others. */
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

/** Handles the sink's results. */
void PeerManager::HandleVerdicts()
{
    if (!m_sink) return;
    // Determines first which peers may continue, then handles results: so no peer continues before
    // its results are handled.
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

/** A peer named by the user may reconnect: blocks that it spoilt before count. */
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

/** Keeps the record: a verdict on the peer's last blocks may come after it has left. */
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

/** The block is never requested from this peer again. Warns about peers named by the user; others
 *  are disconnected. */
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

/** The peer stays, as after any undecodable message, until no block would be requested from it. */
void PeerManager::PunishUndecodable(Peer& peer)
{
    if (!peer.spoilt->IsFull() || peer.Is(ConnectionKind::kManual)) return;
    Drop(peer, "Too many of its blocks cannot be decoded");
}

/** The block is requested again; its sender may be disconnected. */
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

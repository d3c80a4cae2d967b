// See block_relay.h.
#include "net/peer/block_relay.h"

#include "consensus/block_check.h"
#include "consensus/script_flags.h"
#include "net/wire/message_table.h"

namespace ibd {

namespace {

/** The goal between two downloads. */
class NothingMissing final : public DownloadGoal {
public:
    const HeaderNode* NextMissing(int32_t) const override { return nullptr; }
    bool Have(const HeaderNode&) const override { return false; } // open requests are kept
    int32_t WindowEnd() const override { return kNoWindow; }
};

const char* HowSpoilt(RuleViolation::Kind kind)
{
    using Kind = RuleViolation::Kind;
    if (kind == Kind::kUndecodable) return "cannot be decoded";
    return kind == Kind::kSpentCoins ? "came with bad spent coins" : "is not that block";
}

DownloadGoal& NoGoal()
{
    static NothingMissing none;
    return none;
}

} // namespace

BlockRelay::BlockRelay(PeerSet& peers, KnownChains& chains, HeaderDownload& headers,
                       BlockAnnouncing& announcing, const HintsExchange& hints,
                       const PackingFeature& packing, const SpentCoinsFeature& spent_coins)
    : m_peers(peers), m_chains(chains), m_headers(headers), m_announcing(announcing),
      m_hints(hints), m_packed(peers, packing), m_coins(peers, spent_coins)
{
    m_headers.SetListener(*this);
}

void BlockRelay::DownloadInto(DownloadGoal& goal, BlockSink& sink)
{
    if (m_downloader) {
        m_downloader->SetGoal(goal, m_peers.Now());
    } else {
        m_downloader.emplace(goal, m_at.params.consensus.pow_target_spacing);
    }
    m_sink = &sink;
}

/** Keeps the open requests: if the next download begins before they are answered, it uses their
 *  blocks instead of requesting them again. */
void BlockRelay::StopDownload()
{
    for (const auto& [id, peer] : m_peers.All()) {
        const HeaderNode* const held = m_coins.DropHeld(*peer);
        if (held) m_downloader->GiveUp(id, *held, m_peers.Now());
    }
    if (m_downloader) m_downloader->SetGoal(NoGoal(), m_peers.Now());
    m_sink = nullptr;
}

bool BlockRelay::MustWait(const Peer& peer, const ReceivedMessage& message) const
{
    if (!m_sink) return false;
    if (message.type == BlockMessage::kType) {
        return !m_sink->HasRoom(message.payload.size()) || !m_coins.HasRoom(message.payload.size());
    }
    if (message.type == PackedMessage::kType) return !m_sink->HasRoom(BatchBytes(message.payload));
    if (message.type == SpentCoinsMessage::kType) {
        return !m_sink->HasRoom(m_coins.HeldBytes(peer) + message.payload.size());
    }
    return m_states[peer].awaits_verdict;
}

void BlockRelay::Disconnected(Peer& peer)
{
    Closed(peer);
    m_spoilt.Disconnected(peer);
}

void BlockRelay::Closed(Peer& peer)
{
    if (const HeaderNode* const held = m_coins.DropHeld(peer)) m_downloader->Postpone(*held);
    if (m_downloader) m_downloader->Disconnected(peer.Id());
}

void BlockRelay::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    HeadersAdded();
    if (m_downloader) ShortenStallTimeout(tip.height - fork.height);
}

void BlockRelay::HeadersAdded()
{
    if (m_downloader) m_downloader->GoalChanged();
}

bool BlockRelay::IsAnyMissing() const { return m_sink && m_downloader->AnyMissing(); }

void BlockRelay::Describe(const Peer& peer, PeerInfo& info) const
{
    const State& state = m_states[peer];
    const HeaderNode* const best = m_chains.BestOf(peer);
    if (best && state.was_compared) {
        info.synced_blocks = LastCommonAncestor(best, &m_at.chain.Tip())->height;
    }
    info.in_flight = InFlight(peer);
    info.last_block = state.last_block;
}

std::vector<int32_t> BlockRelay::InFlight(const Peer& peer) const
{
    return m_downloader ? m_downloader->Requests().HeightsOf(peer.Id()) : std::vector<int32_t>();
}

void BlockRelay::Handle(Peer& peer, ReceivedMessage& message)
{
    m_packed.Arrived(peer, message.payload.size());
    if (message.type == PackedMessage::kType) return TakePacked(peer, message.payload);
    if (message.type == SpentCoinsMessage::kType) {
        return TakeSpentCoins(peer, std::move(message.payload));
    }
    TakeBlock(peer, std::move(message.payload));
}

/** After a failure of this machine the blocks of the batch are unknown, so all blocks that are
 *  awaited from the peer are requested again. */
void BlockRelay::TakePacked(Peer& peer, ByteSpan batch)
{
    auto blocks = m_packed.Unpack(peer, batch);
    if (!blocks) {
        m_at.log.Warning("{}", blocks.Message());
        for (const HeaderNode* node : m_packed.Awaited(peer)) {
            if (!m_downloader || !m_downloader->Requests().IsAskedOf(peer.Id(), *node)) continue;
            m_downloader->GiveUp(peer.Id(), *node, m_peers.Now());
        }
        return;
    }
    for (Bytes& raw : *blocks) {
        if (!peer.closing) TakeBlock(peer, std::move(raw));
    }
}

void BlockRelay::TakeBlock(Peer& peer, Bytes raw)
{
    if (m_at.chain.IsImporting() || !m_sink) {
        m_at.log.Debug(LogCategory::kNet, "Unexpected block message received from peer {}",
                       peer.Id());
        return EndRequest(peer, raw);
    }
    if (raw.size() < BlockHeader::kSize) {
        return m_peers.LogRefused(BlockMessage::kType, raw.size(), Reader::kEndOfData);
    }
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    const BlockHash hash = header.Hash();
    m_at.log.Debug(LogCategory::kNet, "received block {} peer={}", hash.ToHex(), peer.Id());
    const HeaderNode* node = m_at.chain.Find(hash);
    if (!node) node = m_headers.AcceptOfBlock(peer, header, raw);
    if (!node) return;
    m_packed.Came(peer, *node);
    PeerBlock block{.node = node, .peer = peer.Id(), .raw = std::move(raw)};
    if (!m_coins.Hold(peer, block)) TakeAnswer(peer, std::move(block));
}

/** All that belongs to the block has come. */
void BlockRelay::TakeAnswer(Peer& peer, PeerBlock block)
{
    const HeaderNode& node = *block.node;
    const bool asked = m_downloader->Received(peer.Id(), node, m_peers.Now());
    if (!asked && !IsWorthTaking(node)) return CheckUnwanted(peer, node, block.raw);
    Deliver(peer, std::move(block));
}

/** The block came before; both answer the request. */
void BlockRelay::TakeSpentCoins(Peer& peer, Bytes coins)
{
    std::optional<PeerBlock> block = m_coins.Complete(peer, std::move(coins));
    if (!block) return;
    if (!m_sink) return m_downloader->GiveUp(peer.Id(), *block->node, m_peers.Now());
    TakeAnswer(peer, std::move(*block));
}

/** Between two downloads a block is dropped. The next download may request it again. */
void BlockRelay::EndRequest(Peer& peer, ByteSpan raw)
{
    if (!m_downloader || raw.size() < BlockHeader::kSize) return;
    const HeaderNode* const node = m_at.chain.Find(BlockHeader::FromBytes(raw.data()).Hash());
    if (node) m_packed.Came(peer, *node);
    if (node) m_coins.Forget(peer, *node);
    if (node && m_downloader->Requests().IsAskedOf(peer.Id(), *node)) {
        m_downloader->GiveUp(peer.Id(), *node, m_peers.Now());
    }
}

void BlockRelay::Deliver(Peer& peer, PeerBlock block)
{
    const HeaderNode& node = *block.node;
    // Requested before its coins were wanted, or not at all.
    const bool lacks_coins = m_downloader->WantsSpentCoins() && block.spent_coins.empty();
    if (lacks_coins) return m_downloader->Refused(node, m_peers.Now());
    if (!m_sink->Put(std::move(block))) return m_downloader->Refused(node, m_peers.Now());
    m_states[peer].last_block = m_peers.NowSeconds();
    m_states[peer].awaits_verdict = true;
}

Result<> BlockRelay::FetchBlock(PeerId id, const HeaderNode& node)
{
    Peer* const peer = m_peers.Find(id);
    if (m_at.chain.IsImporting() || !m_sink) return BadData("Loading blocks ...");
    // A private peer sends only a pong (PrivateRelay).
    if (!peer || peer->closing || peer->IsPrivate()) return BadData("Peer does not exist");
    if (!peer->OffersWitnesses()) return BadData("Pre-SegWit peer");
    const SpoiltBlocks& spoilt = m_spoilt.Of(*peer);
    if (spoilt.IsFull()) return BadData("Peer sent something else for too many blocks");
    if (spoilt.Contains(node)) return BadData("Peer sent something else for this block");
    if (!m_downloader->Demand(id, node, m_peers.Now())) {
        return BadData("Already requested from this peer");
    }
    m_at.log.Debug(LogCategory::kNet, "Requesting block {} from peer={}", node.hash.ToHex(), id);
    GetDataMessage message;
    message.list.items.push_back({kInvWitnessBlock, node.hash});
    m_peers.Send(*peer, message);
    return {};
}

/** The block is useless, but a peer that sends wrong bytes is punished as for any block. */
void BlockRelay::CheckUnwanted(Peer& peer, const HeaderNode& node, ByteSpan raw)
{
    BlockView block;
    if (!block.Parse(raw)) {
        return m_peers.LogRefused(BlockMessage::kType, raw.size(), block.Fault());
    }
    const bool segwit = BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit);
    if (!IsBlockMutated(block, segwit)) return;
    if (!m_at.chain.Facts(node).have_data) m_spoilt.Note(peer.Id(), node, "is not that block");
    m_at.log.Debug(LogCategory::kNet, "Received mutated block from peer={}", peer.Id());
    m_peers.Misbehaving(peer, "mutated block");
}

/** Whether an unrequested block is new, may become the tip, and is not far above it. */
bool BlockRelay::IsWorthTaking(const HeaderNode& node) const
{
    const HeaderNode& tip = m_at.chain.Tip();
    return !m_at.chain.Facts(node).have_data && node.chain_work >= tip.chain_work &&
           node.chain_work >= m_options.minimum_work && node.height <= tip.height + kLimitedBlocks;
}

void BlockRelay::Maintain(Peer& peer)
{
    if (!m_sink || DropIfSlow(peer) || !MayAskForBlocks(peer)) return;
    m_states[peer].was_compared = true;
    const bool with_coins = m_downloader->WantsSpentCoins();
    const HeaderNode* const best = m_chains.BestOf(peer);
    const bool elsewhere = !IsAncestor(*best, m_at.chain.BestHeader());
    BlockDownloader::Source source{peer.Id(), best, peer.IsLimited(), elsewhere,
                                   &m_spoilt.Of(peer, with_coins)};
    if (m_hints.IsAsked(peer)) source.most = kBlocksBesideHints;
    source.bunched = !with_coins && m_packed.IsDue(peer);
    source.hurried = m_at.chain.IsInitialBlockDownload();
    const bool was_idle = !IsAsked(peer);
    const auto nodes = m_downloader->Ask(source, m_at.chain.Tip(), m_peers.Now());
    if (was_idle) m_packed.Skip(peer);
    if (with_coins) {
        m_coins.Ask(peer, nodes);
    } else if (source.bunched) {
        m_packed.Ask(peer, nodes);
    } else {
        AskForBlocks(peer, nodes);
    }
    if (const PeerId staller = m_downloader->TakeNewStaller(); staller >= 0) {
        m_at.log.Debug(LogCategory::kNet, "Stall started peer={}", staller);
    }
}

/** Disconnects a peer that delays the download. */
bool BlockRelay::DropIfSlow(Peer& peer)
{
    // The node does not read from the peer, unless that is the peer's own block without coins.
    const size_t own = m_coins.HeldBytes(peer);
    if (!m_sink->HasRoom(own + kMaxPayload) || (own == 0 && !m_coins.HasRoom(kMaxPayload))) {
        m_downloader->Excuse(peer.Id(), m_peers.Now());
        m_packed.Skip(peer);
    }
    const int64_t before = m_downloader->CurrentStallTimeout();
    const uint64_t received = m_at.link.Traffic(peer.Id()).bytes_received;
    switch (m_downloader->Judge(peer.Id(), m_peers.Now(), received)) {
    case BlockDownloader::Verdict::kFine: return false;
    case BlockDownloader::Verdict::kStalling:
        if (m_downloader->CurrentStallTimeout() != before) {
            LogStallTimeout("Increased stalling timeout temporarily");
        }
        m_peers.Drop(peer, "Peer is stalling block download", true);
        return true;
    case BlockDownloader::Verdict::kTimeout:
        m_peers.Drop(peer, "Timeout downloading block " + FirstInFlight(peer), true);
        return true;
    }
    return false;
}

/** Logs Core's line for each step. */
void BlockRelay::ShortenStallTimeout(int32_t blocks_connected)
{
    for (; blocks_connected > 0 && m_downloader->ShortenStallTimeout(); --blocks_connected) {
        LogStallTimeout("Decreased stalling timeout");
    }
}

void BlockRelay::LogStallTimeout(const char* what) const
{
    m_at.log.Debug(LogCategory::kNet, "{} to {} seconds", what,
                   m_downloader->CurrentStallTimeout() / kSecond);
}

/** Requests an announced block from its announcer at once, when we have almost caught up. */
void BlockRelay::HeadersTaken(Peer& peer, const HeaderNode& last)
{
    const HeaderNode& tip = m_at.chain.Tip();
    if (!m_sink || m_at.chain.IsImporting() || !m_sink->HasRoom(kMaxPayload)) return;
    if (!peer.OffersWitnesses() || last.chain_work < tip.chain_work) return;
    if (!m_chains.IsCaughtUp() || m_at.chain.Facts(last).failed) return;
    const auto nodes = m_downloader->AskTowards(
        {peer.Id(), &last, false, false, &m_spoilt.Of(peer)}, tip, m_peers.Now());
    // A single block on the active chain arrives fastest without the transactions that we have.
    const bool alone = nodes.size() == 1 && m_downloader->Requests().Blocks().size() == 1;
    const bool compact = alone && m_announcing.MaySendCompact(peer) && last.prev &&
                         m_at.chain.Facts(*last.prev).fully_validated;
    AskForBlocks(peer, nodes, compact ? kInvCompactBlock : kInvWitnessBlock);
    if (nodes.size() > 1) {
        m_at.log.Debug(LogCategory::kNet,
                       "Downloading blocks toward {} ({}) via headers direct fetch",
                       last.hash.ToHex(), last.height);
    }
}

void BlockRelay::AskForBlocks(Peer& peer, const std::vector<const HeaderNode*>& nodes,
                              InventoryType type)
{
    if (nodes.empty()) return;
    GetDataMessage message;
    for (const HeaderNode* node : nodes) {
        m_at.log.Debug(LogCategory::kNet, "Requesting block {} ({}) peer={}", node->hash.ToHex(),
                       node->height, peer.Id());
        message.list.items.push_back({type, node->hash});
    }
    m_peers.Send(peer, message);
}

/** The hash of the first requested block. */
std::string BlockRelay::FirstInFlight(const Peer& peer) const
{
    const int32_t height = m_downloader->Requests().HeightsOf(peer.Id()).front();
    const HeaderNode* const best = m_chains.BestOf(peer);
    const HeaderNode* const node = best ? best->Ancestor(height) : nullptr;
    return node ? node->hash.ToHex() : "";
}

/** While much is missing, inbound peers are asked only if there are no others. */
bool BlockRelay::MayAskForBlocks(const Peer& peer) const
{
    const HeaderNode* const best = m_chains.BestOf(peer);
    if (!peer.OffersBlocks() || !peer.OffersWitnesses() || !best) return false;
    if (m_at.chain.IsImporting() || !m_sink->HasRoom(kMaxPayload)) return false;
    const bool with_coins = m_downloader->WantsSpentCoins();
    if (m_spoilt.Of(peer, with_coins).IsFull() || !m_coins.MayAsk(peer, with_coins)) return false;
    const Arith256& work = best->chain_work;
    if (work < m_options.minimum_work || work < m_at.chain.Tip().chain_work) return false;
    if (!m_at.chain.IsInitialBlockDownload()) return true;
    if (peer.IsPreferredSource()) return !peer.IsLimited();
    const auto preferred = [&](const auto& entry) {
        return entry.second->IsPreferredSource() && m_coins.MayAsk(*entry.second, with_coins);
    };
    return !peer.IsLimited() && !peer.Is(ConnectionKind::kAddrFetch) &&
           (m_downloader->Requests().Empty() ||
            std::none_of(m_peers.All().begin(), m_peers.All().end(), preferred));
}

/** Handles the sink's results. */
void BlockRelay::StartRound()
{
    if (!m_sink) return;
    // First determines the peers that may continue, then handles results: so no peer continues
    // before its results are handled.
    for (const auto& [id, peer] : m_peers.All()) {
        bool& awaits = m_states[*peer].awaits_verdict;
        if (awaits) awaits = m_sink->IsBusyWith(id);
    }
    for (const RefusedBlock& refused : m_sink->TakeRefused()) HandleRefused(refused);
    for (const TakenBlock& taken : m_sink->TakeTaken()) HandleTaken(taken);
}

void BlockRelay::HandleTaken(const TakenBlock& taken)
{
    if (!taken.connected) {
        m_downloader->Stored(*taken.node, m_peers.Now());
        return m_announcing.AnnounceEarly(*taken.node);
    }
    // Without other pending requests the block was new.
    Peer* const peer = m_peers.Find(taken.peer);
    if (!peer || peer->closing || !m_announcing.MaySendCompact(*peer)) return;
    if (m_at.chain.IsInitialBlockDownload() || !m_downloader->Requests().Empty()) return;
    m_announcing.ChooseAnnouncer(*peer);
}

/** The peer is kept, as after any undecodable message, until it has spoilt so many blocks that none
 *  is requested from it. */
void BlockRelay::PunishUndecodable(Peer& peer)
{
    const SpoiltBlocks& spoilt = m_spoilt.Of(peer, m_downloader->WantsSpentCoins());
    if (!spoilt.IsFull() || peer.Is(ConnectionKind::kManual)) return;
    m_peers.Drop(peer, "Too many of its blocks cannot be decoded");
}

/** The block is requested again; its sender may be disconnected. */
void BlockRelay::HandleRefused(const RefusedBlock& refused)
{
    m_downloader->Refused(*refused.node, m_peers.Now());
    using Kind = RuleViolation::Kind;
    const bool undecodable = refused.why.kind == Kind::kUndecodable;
    if (undecodable) m_peers.LogRefused(BlockMessage::kType, refused.bytes, refused.why.reason);
    if (refused.why.IsOfDataAlone()) {
        m_spoilt.Note(refused.peer, *refused.node, HowSpoilt(refused.why.kind),
                      m_downloader->WantsSpentCoins());
        if (refused.why.kind == Kind::kSpentCoins) m_downloader->Postpone(*refused.node);
    }
    Peer* const peer = m_peers.Find(refused.peer);
    if (peer && !peer->closing) PunishSender(*peer, refused);
}

void BlockRelay::PunishSender(Peer& peer, const RefusedBlock& refused)
{
    using Kind = RuleViolation::Kind;
    switch (refused.why.kind) {
    case Kind::kUndecodable: return PunishUndecodable(peer);
    case Kind::kHeaderLowWork:
    case Kind::kTimeFuture: return;
    case Kind::kCachedInvalid:
        if (!peer.IsInbound() && !refused.via_compact)
            m_peers.Misbehaving(peer, refused.why.reason);
        return;
    case Kind::kConsensus:
        if (!refused.via_compact) m_peers.Misbehaving(peer, refused.why.reason);
        return;
    case Kind::kMutated:
        m_at.log.Debug(LogCategory::kValidation, "Block mutated: {}", refused.why.ToString());
        m_at.log.Debug(LogCategory::kNet, "Received mutated block from peer={}", peer.Id());
        return m_peers.Misbehaving(peer, "mutated block");
    default: return m_peers.Misbehaving(peer, refused.why.reason);
    }
}

} // namespace ibd

// See node_network.h.
#include "node/node_network.h"

#include "net/peer/peer_set.h"
#include "rpc/ban_list_file.h"

namespace ibd {

NodeNetwork::NodeNetwork(NodeNetworkParts parts, PeerNetworkOptions options)
    : m_parts(std::move(parts)), m_options(std::move(options))
{
}

int64_t NodeNetwork::Now() const
{
    const int64_t mock = m_parts.mock_time ? m_parts.mock_time->load() : 0;
    return mock != 0 ? mock * kSecond : m_parts.env.UnixMicros();
}

void NodeNetwork::SaveBans(const Bans& bans)
{
    const Result<> written = WriteBans(m_parts.env, m_options.folder, bans);
    if (!written) m_parts.log.Error("{}", written.Message());
}

Result<> NodeNetwork::Load()
{
    m_parts.set_status("Loading P2P addresses…");
    PeerNetworkOptions options = m_options;
    IBD_ASSIGN_OR_RETURN(const auto bans, ReadBans(m_parts.env, m_options.folder,
                                                   m_options.cjdns_reachable, m_parts.log));
    if (bans) options.bans = *bans;
    m_peers = std::make_unique<PeerNetwork>(
        PeerNetworkSurroundings{m_parts.env, m_parts.log, m_parts.params, m_view, m_view, m_view,
                                [this] { return Now(); },
                                [this](const Bans& changed) { SaveBans(changed); },
                                m_parts.warnings, m_parts.hints, &m_parts.pool, &m_parts.filters},
        std::move(options));
    m_open_peers = m_peers.get();
    IBD_RETURN_IF_ERROR(m_peers->LoadAddresses());
    m_parts.set_status("Loading banlist…");
    if (bans) return {};
    m_parts.log.Info("Recreating the banlist database");
    SaveBans({});
    return {};
}

Result<> NodeNetwork::Start(ChainManager& chain)
{
    if (m_chain) return {};
    m_view.Attach(chain);
    m_parts.set_status("Starting network threads…");
    IBD_RETURN_IF_ERROR(m_peers->Start());
    m_last_tip = &m_view.Tip();
    m_chain = &chain;
    return {};
}

BlockFetcher* NodeNetwork::StartFetcher(ChainManager& chain)
{
    if (!m_options.MayHavePeers() || !Start(chain)) return nullptr;
    return this;
}

void NodeNetwork::Fetch(DownloadGoal& goal, BlockSink& sink)
{
    if (m_download) { // the tip has priority
        m_download->SetHistory(&goal, &sink);
        return Wake();
    }
    m_peers->Blocks().SetExtraPeers(m_parts.extra_booster_peers);
    m_peers->Blocks().DownloadInto(goal, sink);
}

void NodeNetwork::StopFetching()
{
    if (m_download) return m_download->SetHistory(nullptr, nullptr);
    m_peers->Blocks().StopDownload();
    m_peers->Blocks().SetExtraPeers(0);
}

size_t NodeNetwork::PeerCount() const
{
    const PeerCounts counts = m_peers->Info().Counts();
    return counts.in + counts.out;
}

void NodeNetwork::Follow(ChainThread& thread)
{
    m_intake = std::make_unique<BlockIntake>(*m_chain, thread, m_parts.fatal, [this] { Wake(); });
    m_open_intake = m_intake.get();
    m_download = std::make_unique<TipDownload>(*m_chain, *m_intake);
    m_peers->Blocks().DownloadInto(*m_download, *m_download);
}

void NodeNetwork::Interrupt()
{
    if (PeerNetwork* const peers = m_open_peers) peers->Interrupt();
}

void NodeNetwork::Stop()
{
    if (m_peers) m_peers->Stop();
    if (m_intake) m_intake->Stop();
}

void NodeNetwork::Wake()
{
    if (PeerNetwork* const peers = m_open_peers) peers->Wake();
}

void NodeNetwork::Checked(const BlockHash& hash, const RuleResult& verdict)
{
    if (BlockIntake* const intake = m_open_intake) intake->Checked(hash, verdict);
}

// A queued tip may have been disconnected meanwhile: only the last one counts.
void NodeNetwork::Take(const Event& event)
{
    if (const auto* const change = std::get_if<TipChanged>(&event)) TellPeers(*change);
}

void NodeNetwork::Missed(const MissedEvents& missed)
{
    if (missed.tip) TellPeers(*missed.tip);
}

void NodeNetwork::TellPeers(const TipChanged& change)
{
    if (!m_chain) return;
    const HeaderNode* const tip = m_view.Find(change.tip.hash);
    m_peers->TipChanged(*tip, *LastCommonAncestor(tip, m_last_tip));
    m_last_tip = tip;
}

} // namespace ibd

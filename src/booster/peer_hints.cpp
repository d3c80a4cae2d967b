// See peer_hints.h.
#include "booster/peer_hints.h"

namespace ibd {

void PeerHints::Prepare(ChainManager& chain)
{
    if (!m_options.wanted || m_goal) return;
    HintsFetchOptions options = m_options.fetch;
    options.last_headers = [this] { return m_headers->AskForLastHeaders(); };
    options.detail = [this] {
        const auto prefetch = Prefetch();
        return prefetch ? prefetch->Detail() : std::string();
    };
    {
        const Lock lock(m_mutex);
        m_file = std::make_unique<HintsFromPeers>(m_env, m_log, chain, std::move(options));
        m_goal = m_file.get();
        if (m_interrupted) m_goal->Interrupt();
    }
    m_peers->Fetch(*m_goal, m_options.wait_micros);
}

Found<Path> PeerHints::Fetch(ChainManager& chain, BlockFetcher* fetcher)
{
    if (!fetcher) {
        m_peers->Stop();
        return std::optional<Path>();
    }
    StartPrefetch(chain, *fetcher);
    auto file = std::exchange(m_asked, true) ? FetchNext("they were refused") : WaitForFile();
    IBD_RETURN_IF_ERROR(EndPrefetch());
    return file;
}

/** Without -prune, blocks are fetched while the node waits for hints. */
void PeerHints::StartPrefetch(ChainManager& chain, BlockFetcher& fetcher)
{
    if (chain.IsPruneMode()) return;
    BlockPrefetchOptions options = m_options.prefetch;
    options.has_headers = [goal = m_goal] { return goal->HasHeaders(); };
    options.failed = [goal = m_goal] { goal->Interrupt(); };
    auto prefetch =
        std::make_shared<BlockPrefetch>(m_env, m_log, chain, fetcher, std::move(options));
    const Lock lock(m_mutex);
    m_prefetch = std::move(prefetch);
}

Result<> PeerHints::EndPrefetch()
{
    std::shared_ptr<BlockPrefetch> prefetch;
    {
        const Lock lock(m_mutex);
        prefetch = std::move(m_prefetch);
    }
    return prefetch ? prefetch->Stop() : Result<>();
}

/** Do not call its functions under the lock: they wait for the peers' thread. */
std::shared_ptr<BlockPrefetch> PeerHints::Prefetch() const
{
    const Lock lock(m_mutex);
    return m_prefetch;
}

std::optional<DownloadProgress> PeerHints::Prefetching() const
{
    const auto prefetch = Prefetch();
    return prefetch ? prefetch->Progress() : std::nullopt;
}

/** Until peers have sent a file with the hash they announced, or have no more. */
Found<Path> PeerHints::WaitForFile()
{
    auto file = m_goal->Wait();
    if (file && !*file && m_goal->WasFalse()) {
        m_peers->Punish(m_goal->Id());
        return FetchNext("the file has another hash than its offer");
    }
    if (!file || !*file) m_peers->Stop();
    return file;
}

Found<Path> PeerHints::FetchNext(const std::string& why)
{
    m_goal->Again();
    m_peers->Next(why);
    return WaitForFile();
}

void PeerHints::Ended(VerdictKind end, const BoosterSession& session, const ChainManager& chain)
{
    if (end == VerdictKind::kInterrupted) return;
    const Hints* const hints = session.GivenHints();
    if (!hints) return m_peers->Stop();
    const HintsInfo& info = hints->Info();
    const bool fetched = info.path.parent_path() == m_options.fetch.folder &&
                         info.path.filename().string().starts_with(kFetchedHints);
    if (fetched && session.HintsWereWrong()) {
        m_peers->Punish(info.id);
        m_log.Info("IBD Booster: removing the hints that peers gave");
        (void)m_env.Remove(info.path);
    }
    if (end == VerdictKind::kSerial) return; // others may follow
    m_peers->Stop();
    const HeaderNode* const best = chain.Read().Tree().BestHeader();
    const HeaderNode* const terminal = best->Ancestor(static_cast<int>(info.terminal_height));
    if (end == VerdictKind::kDone && terminal) Keep(*hints, terminal->hash);
}

void PeerHints::Keep(const Hints& hints, const BlockHash& terminal)
{
    if (!m_options.serve) return;
    const Result<> kept = m_library.Keep(hints, terminal);
    if (!kept) m_log.Warning("Hints are not kept for peers: {}", kept.Message());
}

void PeerHints::Interrupt()
{
    const Lock lock(m_mutex);
    m_interrupted = true;
    if (m_file) m_file->Interrupt();
}

} // namespace ibd

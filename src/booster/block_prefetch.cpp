// See block_prefetch.h.
#include "booster/block_prefetch.h"

#include "booster/hints_gate.h"
#include "crypto/random_key.h"
#include "swiftsync/block_taker.h"

namespace ibd {

namespace {

/** Interval of checks for new headers. */
constexpr auto kHeaderLook = std::chrono::milliseconds(200);

} // namespace

BlockPrefetch::BlockPrefetch(Env& env, Logger& log, ChainManager& chain, BlockFetcher& fetcher,
                             BlockPrefetchOptions options)
    : m_env(env), m_log(log), m_chain(chain), m_fetcher(fetcher), m_options(std::move(options)),
      m_keeper(chain), m_thread("prefetch", [this] { Work(); })
{
}

Result<> BlockPrefetch::Stop()
{
    bool began = false;
    {
        const Lock lock(m_mutex);
        if (std::exchange(m_stop, true)) return m_status;
        m_stopped.notify_all();
        began = m_supply != nullptr;
    }
    if (began) {
        m_fetcher.StopFetching();
        const Lock lock(m_mutex);
        m_supply->Finish();
    }
    m_thread.Join();
    return m_status;
}

std::optional<DownloadProgress> BlockPrefetch::Progress() const
{
    const Lock lock(m_mutex);
    return m_supply ? std::optional(m_supply->Progress()) : std::nullopt;
}

std::string BlockPrefetch::Detail() const
{
    const Lock lock(m_mutex);
    return m_supply ? m_supply->Detail() : std::string();
}

void BlockPrefetch::Work()
{
    const HeaderNode* const terminal = WaitForTerminal();
    if (!terminal || !Begin(*terminal)) return;
    if (m_status) m_status = StoreAll();
    if (m_status) return;
    Abandon();
    m_options.failed();
}

/** A full queue without a reader would delay all messages of peers, hints too. */
void BlockPrefetch::Abandon()
{
    const Lock lock(m_mutex);
    m_supply->Stop();
}

/** Null: there is nothing to fetch, or Stop() was called. */
const HeaderNode* BlockPrefetch::WaitForTerminal()
{
    while (!m_options.has_headers()) {
        const Lock lock(m_mutex);
        if (!m_stop) m_stopped.wait_for(m_mutex, kHeaderLook);
        if (m_stop) return nullptr;
    }
    return FindTerminal();
}

/** Both given and own hints end there or below. */
const HeaderNode* BlockPrefetch::FindTerminal() const
{
    const int64_t now = m_env.UnixTime();
    const ChainReader reader = m_chain.Read();
    return FindOwnTerminal(reader.Tree(), m_chain.Options(), m_options.full_validation, now,
                           nullptr)
        .terminal;
}

/** False: Stop() was called. Else m_status has the result. */
bool BlockPrefetch::Begin(const HeaderNode& terminal)
{
    std::vector<bool> stored(static_cast<size_t>(terminal.height) + 1);
    {
        const ChainReader reader = m_chain.Read();
        for (const HeaderNode* node = &terminal; node; node = node->prev) {
            stored[static_cast<size_t>(node->height)] = node->HasData();
        }
    }
    const Lock lock(m_mutex);
    if (m_stop) return false;
    m_supply =
        std::make_unique<PeerBlockSupply>(m_env, m_chain.Blocks(), terminal, m_keeper, m_fetcher);
    // Stored blocks count as folded: they need no work here.
    m_status = m_supply->Begin([&](int32_t height) { return stored[static_cast<size_t>(height)]; });
    m_synced_at = m_env.MonotonicMicros();
    const size_t missing = m_supply->BlocksToFold();
    if (missing > 0) {
        m_log.Info("IBD Booster: fetching {} blocks up to height {} meanwhile", missing,
                   terminal.height);
    }
    return true;
}

/** Ends at a block that breaks a rule; the later user of the block handles that. */
Result<> BlockPrefetch::StoreAll()
{
    std::unique_ptr<BlockSource> source;
    {
        const Lock lock(m_mutex);
        source = m_supply->MakeSource();
    }
    BlockTaker taker(m_chain.Params(), Random64(m_env));
    SuppliedBlock block;
    while (true) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more) break;
        bool kept = false;
        if (const auto failure = taker.Take(*source, block, kept)) {
            if (failure->kind == FoldFailure::Kind::kMachine) return failure->error;
            m_log.Info("IBD Booster: fetches no more blocks meanwhile: {}", failure->error.message);
            Abandon();
            break;
        }
        if (kept) IBD_RETURN_IF_ERROR(SyncIfDue(*source, block.bytes.size()));
    }
    return m_unsynced > 0 ? source->Sync() : Result<>();
}

Result<> BlockPrefetch::SyncIfDue(BlockSource& source, size_t bytes)
{
    m_unsynced += bytes;
    const int64_t now = m_env.MonotonicMicros();
    const bool due = now - m_synced_at >= m_options.sync_seconds * 1'000'000;
    if (m_unsynced < m_options.sync_bytes && !due) return {};
    IBD_RETURN_IF_ERROR(source.Sync());
    m_unsynced = 0;
    m_synced_at = now;
    return {};
}

} // namespace ibd

// See indexes.h.
#include "index/indexes.h"

#include "storage/data_dir.h"
#include "util/found.h"

namespace ibd {

namespace {

constexpr size_t kCoinStatsCache = 4 << 20; //!< bytes; its records are seldom read

} // namespace

Result<std::unique_ptr<KvStore>> Indexes::OpenDb(const char* option, const Path& folder,
                                                 size_t cache, bool wipe)
{
    KvOptions options;
    options.directory = folder;
    options.cache_bytes = cache;
    options.wipe = wipe;
    auto db = KvStore::Open(m_parts.env, m_parts.log, std::move(options));
    if (db) return db;
    std::string text = fmt::format("{}: {}", option, db.Message());
    if (IsBadData(db)) text += ". " + IndexRemedy(folder, option);
    return Error{std::move(text), db.GetError().kind};
}

// In the order of getindexinfo.
Result<> Indexes::OpenAll(bool wipe)
{
    const IndexOptions& options = m_parts.options;
    const Path& folder = m_parts.folder;
    if (options.tx) {
        IBD_ASSIGN_OR_RETURN(auto db,
                             OpenDb("-txindex", folder / "txindex", options.tx_cache, wipe));
        m_tx = std::make_unique<TxIndex>(std::move(db));
        m_entries.push_back({m_tx.get(), nullptr});
    }
    if (options.coin_stats) {
        IBD_ASSIGN_OR_RETURN(auto db, OpenDb("-coinstatsindex", folder / "coinstatsindex" / "db",
                                             kCoinStatsCache, wipe));
        m_coin_stats = std::make_unique<CoinStatsIndex>(m_parts.consensus, std::move(db));
        m_entries.push_back({m_coin_stats.get(), nullptr});
    }
    if (options.spenders) {
        IBD_ASSIGN_OR_RETURN(auto db, OpenDb("-txospenderindex", folder / "txospenderindex" / "db",
                                             options.spender_cache, wipe));
        m_spenders = std::make_unique<SpenderIndex>(m_parts.env, std::move(db));
        m_entries.push_back({m_spenders.get(), nullptr});
    }
    if (options.filters) {
        const Path basic = folder / "blockfilter" / "basic";
        IBD_ASSIGN_OR_RETURN(auto db,
                             OpenDb("-blockfilterindex", basic / "db", options.filter_cache, wipe));
        m_filters = std::make_unique<FilterIndex>(m_parts.env, basic, std::move(db));
        m_entries.push_back({m_filters.get(), nullptr});
    }
    return {};
}

Result<> Indexes::Open(const IndexChain& chain, bool wipe)
{
    CHECK(!m_open);
    IBD_RETURN_IF_ERROR(OpenAll(wipe));
    for (Entry& entry : m_entries) {
        entry.follower = std::make_unique<IndexFollower>(*entry.index, chain, m_parts.env,
                                                         m_parts.log, m_parts.failed);
        IBD_RETURN_IF_ERROR(entry.follower->Open());
    }
    m_open = true;
    return {};
}

// Core's texts; of several left behind, the one furthest behind is named, of equal ones the last.
Result<> Indexes::CheckBlocks() const
{
    const IndexFollower* worst = nullptr;
    int32_t least = 0;
    for (const Entry& entry : m_entries) {
        const HeaderNode* const from = entry.follower->LeftBehind();
        if (!from || (worst && from->height > least)) continue;
        worst = entry.follower.get();
        least = from->height;
    }
    if (!worst) return {};
    return BadData("{} best block of the index goes beyond pruned data (including undo data). "
                   "Please disable the index or reindex (which will download the whole blockchain "
                   "again)",
                   worst->Summary().name);
}

std::vector<std::string> Indexes::LackOfSpace() const
{
    std::vector<std::string> out;
    const auto free = m_parts.env.SpaceAvailable(m_parts.folder);
    if (!free) return out; // a write tells
    uint64_t all = 0;
    for (const Entry& entry : m_entries) {
        const uint64_t needed = entry.follower->DiskNeeded();
        all += needed;
        if (needed == 0 || *free >= all + kMinDiskSpace) continue;
        constexpr uint64_t kGigabyte = 1'000'000'000;
        out.push_back(fmt::format("Disk space for \"{}\" may not accommodate {}. Approximately {} "
                                  "GB of data will be stored in this directory. Without {} the "
                                  "node does without it",
                                  m_parts.folder.string(), entry.index->Name(),
                                  (needed + kGigabyte - 1) / kGigabyte, entry.index->Option()));
    }
    return out;
}

std::optional<PruneLock> Indexes::NotOpen() const
{
    if (m_open || !m_parts.options.Any()) return std::nullopt;
    return PruneLock{"an index that is not open yet", 0};
}

std::vector<PruneLock> Indexes::Now() const
{
    if (const auto all = NotOpen()) return {*all};
    std::vector<PruneLock> out;
    for (const Entry& entry : m_entries) {
        out.push_back({entry.index->Name(), entry.follower->Height()});
    }
    return out;
}

std::vector<PruneLock> Indexes::Saved()
{
    if (const auto all = NotOpen()) return {*all};
    std::vector<PruneLock> out;
    for (const Entry& entry : m_entries) {
        entry.follower->Settle();
        out.push_back({entry.index->Name(), entry.follower->SavedHeight()});
    }
    return out;
}

void Indexes::Start()
{
    for (const Entry& entry : m_entries) entry.follower->Start();
}

void Indexes::Stop()
{
    for (const Entry& entry : m_entries) entry.follower->Stop();
}

void Indexes::Take(const Event&)
{
    if (!m_open) return;
    for (const Entry& entry : m_entries) entry.follower->Wake();
}

const IndexFollower& Indexes::FollowerOf(const Index& index) const
{
    for (const Entry& entry : m_entries) {
        if (entry.index == &index) return *entry.follower;
    }
    CHECK(false);
}

std::vector<IndexSummary> Indexes::Summaries() const
{
    std::vector<IndexSummary> out;
    for (const Entry& entry : m_entries) out.push_back(entry.follower->Summary());
    return out;
}

void Indexes::WaitForTip() const
{
    for (const Entry& entry : m_entries) (void)entry.follower->WaitForTip();
}

} // namespace ibd

// See indexes.h.
#include "index/indexes.h"

#include "storage/chainstate_builder.h"
#include "storage/data_dir.h"
#include "storage/store_mark.h"
#include "util/found.h"
#include "util/thread_priority.h"

namespace ibd {

namespace {

constexpr size_t kCoinStatsCache = 4 << 20; //!< bytes; its records are seldom read

// The folders in the one of all indexes, as Core names them.
Path TxDb(const Path& indexes) { return indexes / "txindex"; }
Path CoinStatsDb(const Path& indexes) { return indexes / "coinstatsindex" / "db"; }
Path SpenderDb(const Path& indexes) { return indexes / "txospenderindex" / "db"; }
Path FilterFolder(const Path& indexes) { return indexes / "blockfilter" / "basic"; }
Path FilterDb(const Path& indexes) { return FilterFolder(indexes) / "db"; }

Result<> WithOption(const std::string& option, const Result<>& result)
{
    if (result) return {};
    return Error{fmt::format("{}: {}", option, result.Message()), result.GetError().kind};
}

} // namespace

Result<> Indexes::Recover(const std::string& option, const Path& folder)
{
    return WithOption(option, RecoverDb(m_parts.env, m_parts.log, folder));
}

Result<> Indexes::Destroy()
{
    const IndexOptions& options = m_parts.options;
    const Path& folder = m_parts.folder;
    const std::tuple<bool, const char*, Path> databases[] = {
        {options.tx, "-txindex", TxDb(folder)},
        {options.coin_stats, "-coinstatsindex", CoinStatsDb(folder)},
        {options.spenders, "-txospenderindex", SpenderDb(folder)},
        {options.filters, "-blockfilterindex", FilterDb(folder)}};
    for (const auto& [requested, option, database] : databases) {
        if (!requested) continue;
        IBD_RETURN_IF_ERROR(Recover(option, database)); // else Open() could publish an old one
        m_parts.log.Info("Wiping LevelDB in {}", database.string());
        IBD_RETURN_IF_ERROR(WithOption(option, DestroyDb(m_parts.env, database)));
    }
    return FinishStoreMark(m_parts.env, folder);
}

Result<std::unique_ptr<KvStore>> Indexes::OpenDb(const std::string& option, const Path& folder,
                                                 size_t cache)
{
    IBD_RETURN_IF_ERROR(Recover(option, folder));
    KvOptions options;
    options.directory = folder;
    options.cache_bytes = cache;
    auto db = KvStore::Open(m_parts.env, m_parts.log, std::move(options));
    if (db) return db;
    std::string text = fmt::format("{}: {}", option, db.Message());
    if (IsBadData(db)) text += ". " + IndexRemedy(folder, option);
    return Error{std::move(text), db.GetError().kind};
}

// In the order of getindexinfo.
Result<> Indexes::OpenAll()
{
    const IndexOptions& options = m_parts.options;
    const Path& folder = m_parts.folder;
    if (options.tx) {
        IBD_ASSIGN_OR_RETURN(auto db, OpenDb("-txindex", TxDb(folder), options.tx_cache));
        m_tx = std::make_unique<TxIndex>(std::move(db));
        m_entries.push_back({m_tx.get(), options.tx_cache, nullptr});
    }
    if (options.coin_stats) {
        IBD_ASSIGN_OR_RETURN(auto db,
                             OpenDb("-coinstatsindex", CoinStatsDb(folder), kCoinStatsCache));
        m_coin_stats = std::make_unique<CoinStatsIndex>(m_parts.consensus, std::move(db));
        m_entries.push_back({m_coin_stats.get(), kCoinStatsCache, nullptr});
    }
    if (options.spenders) {
        IBD_ASSIGN_OR_RETURN(auto db,
                             OpenDb("-txospenderindex", SpenderDb(folder), options.spender_cache));
        m_spenders = std::make_unique<SpenderIndex>(m_parts.env, std::move(db));
        m_entries.push_back({m_spenders.get(), options.spender_cache, nullptr});
    }
    if (options.filters) {
        IBD_ASSIGN_OR_RETURN(auto db,
                             OpenDb("-blockfilterindex", FilterDb(folder), options.filter_cache));
        m_filters = std::make_unique<FilterIndex>(m_parts.env, FilterFolder(folder), std::move(db));
        m_entries.push_back({m_filters.get(), options.filter_cache, nullptr});
    }
    return {};
}

Result<> Indexes::Open(const IndexChain& chain)
{
    CHECK(!m_open);
    m_chain = &chain;
    IBD_RETURN_IF_ERROR(OpenAll());
    for (Entry& entry : m_entries) {
        entry.follower = std::make_unique<IndexFollower>(*entry.index, chain, m_parts.env,
                                                         m_parts.log, m_parts.failed);
        IBD_RETURN_IF_ERROR(entry.follower->Open());
    }
    m_open = true;
    return {};
}

// Core's texts. Of several indexes that lag, the text names the one furthest behind; of equal ones
// the last.
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
                                  "node keeps no such index",
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

std::vector<PruneLock> Indexes::Current() const
{
    if (const auto all = NotOpen()) return {*all};
    std::vector<PruneLock> out;
    for (const Entry& entry : m_entries) {
        out.push_back({entry.index->Name(), entry.follower->Height()});
    }
    return out;
}

std::vector<PruneLock> Indexes::Save()
{
    if (const auto all = NotOpen()) return {*all};
    std::vector<PruneLock> out;
    for (const Entry& entry : m_entries) {
        entry.follower->Settle();
        out.push_back({entry.index->Name(), entry.follower->SavedHeight()});
    }
    return out;
}

bool Indexes::CanBuild(const Entry& entry, const HeaderNode* tip) const
{
    return entry.index->Traits().sort_bytes_per_tx > 0 && !entry.follower->Best() && tip &&
           tip->height >= m_parts.build.least_blocks;
}

void Indexes::Start()
{
    const HeaderNode* const tip = m_chain->Read().Tip();
    std::vector<Index*> indexes;
    for (Entry& entry : m_entries) {
        if (CanBuild(entry, tip)) {
            m_to_build.push_back(&entry);
            indexes.push_back(entry.index);
        } else {
            entry.follower->Start();
        }
    }
    if (indexes.empty()) return;
    m_build = std::make_unique<IndexBuild>(m_parts.env, m_parts.log, *m_chain, *tip, indexes,
                                           m_parts.build);
    m_building = m_build.get();
    m_builder = NamedThread("idxbuild", [this] { Build(); });
}

/** Empties the databases and builds them. False: stopped. */
Result<bool> Indexes::RunBuild()
{
    for (const Entry* entry : m_to_build) {
        entry->index->CloseDb();
        IBD_RETURN_IF_ERROR(DestroyDb(m_parts.env, entry->index->Directory()));
    }
    return m_build->Run();
}

void Indexes::Build()
{
    LowerThreadPriority();
    const Result<bool> built = RunBuild();
    m_building = nullptr;
    if (built && !*built) return;
    if (!built) {
        m_parts.log.Warning("Index build: {}. The blocks are taken one by one instead, which takes "
                            "longer",
                            built.Message());
    }
    for (Entry* entry : m_to_build) {
        if (const Result<> on = GoOn(*entry, built.Ok()); !on) return m_parts.failed(on.GetError());
    }
}

/** Opens the database of an index, as it was built or else empty, and starts the follower. */
Result<> Indexes::GoOn(Entry& entry, bool built)
{
    Index& index = *entry.index;
    if (!built) IBD_RETURN_IF_ERROR(DestroyDb(m_parts.env, index.Directory()));
    IBD_ASSIGN_OR_RETURN(auto db, OpenDb(index.Option(), index.Directory(), entry.cache));
    index.SetDb(std::move(db));
    IBD_RETURN_IF_ERROR(built ? entry.follower->GoOnFrom(m_build->End()) : entry.follower->Open());
    entry.follower->Start();
    return {};
}

void Indexes::Stop()
{
    if (m_build) m_build->Stop();
    m_builder.Join();
    for (const Entry& entry : m_entries) {
        if (entry.follower) entry.follower->Stop();
    }
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
    const IndexBuild* const build = m_building;
    for (const Entry& entry : m_entries) {
        IndexSummary summary = entry.follower->Summary();
        if (build && build->Builds(*entry.index)) {
            summary.built = build->Done();
            summary.seconds_left = build->SecondsLeft();
        }
        out.push_back(std::move(summary));
    }
    return out;
}

void Indexes::WaitForTip() const
{
    for (const Entry& entry : m_entries) (void)entry.follower->WaitForTip();
}

} // namespace ibd

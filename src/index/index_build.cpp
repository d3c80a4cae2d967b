// See index_build.h.
#include "index/index_build.h"

#include "storage/chainstate_builder.h"
#include "storage/data_dir.h"
#include "swiftsync/file_block_source.h"
#include "swiftsync/read_check.h"
#include "util/found.h"
#include "util/progress.h"
#include "util/thread_priority.h"
#include "util/time_left.h"
#include "util/watched_threads.h"

namespace ibd {

namespace {

constexpr int32_t kNodesUnderLock = 4096; //!< number of blocks for which the headers lock is held
                                          //!< at a time
constexpr int kLogEverySeconds = 30;
/** Weight in the progress: a byte of records takes more time than a byte of blocks. */
constexpr uint64_t kRecordWeight = 4;

uint64_t TxsUpTo(const IndexChain& chain, const HeaderNode& end)
{
    const ChainReader lock = chain.Read();
    return end.chain_tx_count;
}

} // namespace

IndexBuild::IndexBuild(Env& env, Logger& log, const IndexChain& chain, const HeaderNode& end,
                       const std::vector<Index*>& indexes, const IndexBuildOptions& options)
    : m_env(env), m_log(log), m_chain(chain), m_end(end), m_options(options),
      m_threads(options.threads ? options.threads
                                : std::max(1u, std::thread::hardware_concurrency())),
      m_started_micros(env.MonotonicMicros())
{
    for (Index* const index : indexes) {
        m_parts.push_back({index, index->Directory(), nullptr, nullptr, {}});
    }
}

IndexBuild::~IndexBuild() = default;

Result<bool> IndexBuild::Run()
{
    Result<bool> done = RunAll();
    if (done && *done) return true;
    for (Part& part : m_parts) part.sort.reset();
    const Result<> cleared = Clear();
    if (!cleared) m_log.Warning("Index build: {}", cleared.Message());
    return done;
}

Result<bool> IndexBuild::RunAll()
{
    for (const Part& part : m_parts) IBD_RETURN_IF_ERROR(CheckReplaceable(m_env, part.folder));
    IBD_RETURN_IF_ERROR(CheckRoom());
    IBD_RETURN_IF_ERROR(Plan());
    IBD_RETURN_IF_ERROR(MakeParts());
    std::string names;
    for (const Part& part : m_parts) names += (names.empty() ? "" : ", ") + part.index->Name();
    m_log.Info("Index build: {}: reading {} blocks on {} threads", names, m_plan->Blocks(),
               m_threads);
    IBD_RETURN_IF_ERROR(ReadAll());
    if (!m_stop) IBD_RETURN_IF_ERROR(WriteAll());
    if (m_stop) return false;
    IBD_RETURN_IF_ERROR(Publish());
    m_log.Info("Index build: {}: done up to height {} after {:.1f} s", names, m_end.height,
               static_cast<double>(m_env.MonotonicMicros() - m_started_micros) / 1e6);
    return true;
}

/** The tables of each index and its unsorted records are on the disk at the same time. */
Result<> IndexBuild::CheckRoom() const
{
    const uint64_t txs = TxsUpTo(m_chain, m_end);
    uint64_t needed = kMinDiskSpace;
    for (const Part& part : m_parts) {
        const IndexTraits& traits = part.index->Traits();
        needed += txs * (traits.bytes_per_tx + traits.sort_bytes_per_tx);
    }
    // The directory itself may not exist.
    const Path& folder = m_parts.front().folder.parent_path();
    IBD_ASSIGN_OR_RETURN(const uint64_t free, m_env.SpaceAvailable(folder));
    if (free >= needed) return {};
    constexpr uint64_t kMegabyte = 1'000'000;
    return SystemError("'{}' has {} MB left, and sorting the records takes {} MB", folder.string(),
                       free / kMegabyte, needed / kMegabyte);
}

Result<> IndexBuild::Plan()
{
    std::vector<PlannedBlock> blocks;
    m_places.resize(static_cast<size_t>(m_end.height) + 1);
    const HeaderNode* node = &m_end;
    while (node->height > 0) {
        const ChainReader chain = m_chain.Read();
        for (int32_t i = 0; i < kNodesUnderLock && node->height > 0; ++i, node = node->prev) {
            if (!node->HasData()) {
                return BadData("block {} at height {} is not stored", node->hash.ToHex(),
                               node->height);
            }
            blocks.push_back({.node = node, .file = node->file, .offset = node->data_pos});
            m_places[static_cast<size_t>(node->height)] = {node->file, node->data_pos};
        }
    }
    m_plan.emplace(std::move(blocks));
    m_plan->Uncached().LogTo(&m_log);
    return {};
}

/** The number of parts is chosen so that each fits into a thread's share of the memory, and is
 *  sorted fast. */
unsigned IndexBuild::PartBits(uint64_t bytes) const
{
    constexpr unsigned kMostBits = std::bit_width(HeightRanges::kMost) - 1;
    constexpr size_t kGoodBytes = 8 << 20;
    const uint64_t part = std::min(kGoodBytes, m_options.memory_bytes / m_threads);
    return std::min(kMostBits, static_cast<unsigned>(std::bit_width(bytes / part)));
}

Result<> IndexBuild::MakeParts()
{
    IBD_RETURN_IF_ERROR(Clear());
    const uint64_t txs = TxsUpTo(m_chain, m_end);
    for (Part& part : m_parts) {
        const uint64_t bytes = txs * part.index->Traits().sort_bytes_per_tx;
        m_written.total += bytes;
        const WorkFolder work(part.folder);
        IBD_RETURN_IF_ERROR(m_env.CreateDirectories(part.folder.parent_path()));
        IBD_RETURN_IF_ERROR(work.Make(m_env));
        IBD_RETURN_IF_ERROR(m_env.CreateDirectories(work.Sort()));
        PlaceSortOptions options;
        options.folder = work.Sort();
        options.threads = m_threads;
        options.part_bits = PartBits(bytes);
        options.read_memory = m_options.memory_bytes / m_parts.size();
        options.part_memory = m_options.memory_bytes / m_threads;
        part.sort = part.index->MakeSort(m_env, options);
        CHECK(part.sort);
        IBD_ASSIGN_OR_RETURN(part.db, TableDbBuilder::Create(m_env, work.New(), XorKey()));
    }
    return {};
}

Result<> IndexBuild::OnThreads(const char* doing, const Bytewise& progress,
                               const std::function<Result<>(size_t worker)>& body)
{
    ProgressMeter meter(m_env, m_log,
                        {.label = fmt::format("Index build: {}", doing),
                         .unit = "bytes",
                         .total = progress.total,
                         .log_every_seconds = kLogEverySeconds});
    Mutex mutex;
    Result<> status;
    RunWatched(
        "idxbuild", m_threads,
        [&](size_t worker) {
            LowerThreadPriority();
            const Result<> done = body(worker);
            if (done) return;
            m_plan->Stop();
            const Lock lock(mutex);
            if (status) status = done;
        },
        [&] {
            if (m_stop) m_plan->Stop();
            meter.Update(progress.done);
        });
    const Lock lock(mutex);
    return status;
}

Result<> IndexBuild::ReadAll()
{
    m_read.total = m_plan->EstimatedBytes();
    IBD_RETURN_IF_ERROR(
        OnThreads("reading blocks", m_read, [&](size_t worker) { return Read(worker); }));
    if (m_stop) return {};
    for (const Part& part : m_parts) IBD_RETURN_IF_ERROR(part.sort->EndTaking());
    return {};
}

Result<> IndexBuild::Read(size_t worker)
{
    FileBlockSource source(m_env, m_chain.Blocks(), *m_plan);
    BlockView view;
    SuppliedBlock block;
    while (!m_stop) {
        IBD_ASSIGN_OR_RETURN(const bool more, NextSound(source, block, view, /*careful=*/true));
        if (!more) break;
        for (const Part& part : m_parts) {
            const auto height = static_cast<uint32_t>(block.node->height);
            if (!part.sort->Take(worker, view, height)) m_plan->Stop(); // EndTaking() says why
        }
        m_read.done += view.Raw().size();
    }
    return {};
}

Result<> IndexBuild::WriteAll()
{
    std::vector<Task> tasks;
    uint64_t total = 0;
    for (Part& part : m_parts) {
        for (uint32_t i = 0; i < part.sort->Parts(); ++i) {
            tasks.push_back({&part, i});
            total += part.sort->PartBytes(i);
        }
    }
    m_written.total = total; // at once, as Done() reads it on other threads
    std::atomic<size_t> next = 0;
    return OnThreads("writing tables", m_written, [&](size_t) -> Result<> {
        for (size_t i; (i = next++) < tasks.size() && !m_stop;) {
            const Result<> done = Write(tasks[i]);
            if (done) continue;
            next = tasks.size();
            return done.GetError();
        }
        return {};
    });
}

Result<> IndexBuild::Write(const Task& task)
{
    Part& part = *task.part;
    const auto writer = part.db->NewWriter();
    IBD_RETURN_IF_ERROR(part.sort->Write(task.number, m_places, *writer));
    IBD_ASSIGN_OR_RETURN(auto tables, writer->Finish());
    m_written.done += part.sort->PartBytes(task.number);
    const Lock lock(m_mutex);
    AppendTables(part.tables, std::move(tables));
    return {};
}

Result<> IndexBuild::Publish()
{
    for (Part& part : m_parts) {
        part.sort.reset();
        const Lock lock(m_mutex);
        IBD_RETURN_IF_ERROR(part.db->Complete(std::move(part.tables)));
        const Path made = part.db->Directory();
        part.db.reset();
        IBD_RETURN_IF_ERROR(AddOtherRecords(*part.index, made));
        IBD_RETURN_IF_ERROR(ReplaceDb(m_env, part.folder));
    }
    return {};
}

/** Writes the other records in the new directory, so that a database in place has them. */
Result<> IndexBuild::AddOtherRecords(const Index& index, const Path& made)
{
    KvOptions options;
    options.directory = made;
    IBD_ASSIGN_OR_RETURN(const auto db, KvStore::Open(m_env, m_log, std::move(options)));
    KvBatch batch(*db);
    index.PutBuilt(batch);
    return db->Write(batch, true);
}

Result<> IndexBuild::Clear() const
{
    for (const Part& part : m_parts) IBD_RETURN_IF_ERROR(WorkFolder(part.folder).Remove(m_env));
    return {};
}

double IndexBuild::Done() const
{
    const uint64_t total = m_read.total + kRecordWeight * m_written.total;
    if (total == 0) return 0;
    const uint64_t done = m_read.done + kRecordWeight * m_written.done;
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

std::optional<int64_t> IndexBuild::SecondsLeft() const
{
    const double done = Done();
    const double seconds = static_cast<double>(m_env.MonotonicMicros() - m_started_micros) / 1e6;
    return ibd::SecondsLeft(done, 1 - done, seconds);
}

} // namespace ibd

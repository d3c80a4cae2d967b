// See index_follower.h.
#include "index/index_follower.h"

#include "index/best_block.h"
#include "util/found.h"
#include "util/strings.h"
#include "util/thread_log.h"
#include "util/thread_priority.h"
#include "util/time_left.h"

namespace ibd {

std::string IndexRemedy(const Path& folder, std::string_view option)
{
    return fmt::format("Delete the folder '{}' to have the index built again, or restart without "
                       "{}",
                       folder.string(), option);
}

namespace {

// Core's, with space for the hash of the block.
constexpr const char* kNoBlock = "Failed to read block {} from disk";
constexpr const char* kNoUndo = "Failed to read undo block data {} from disk";
constexpr const char* kNotAdded = "Failed to write block {} to index database";

constexpr int64_t kLogEveryMicros = 30'000'000;
/** Interval of checks for block data that is being made or fetched. */
constexpr std::chrono::seconds kLookForData{1};
/** Interval at which callers that wait for the tip check for a stop of the node. */
constexpr std::chrono::milliseconds kLookForStop{100};

} // namespace

Result<> IndexFollower::Open()
{
    m_batch.emplace(m_index.Db());
    const auto best = ReadBestBlock(m_index.Db());
    if (!best) return Explain(best.GetError());
    if (*best) {
        m_best = m_chain.Read().Find(**best);
        if (!m_best) {
            m_log.Error("{} is at block {}, which the block index does not have. Its folder: {}",
                        m_index.Name(), (*best)->ToHex(), m_index.Directory().string());
            return BadData("best block of {} not found. Please rebuild the index.", m_index.Name());
        }
    }
    IBD_RETURN_IF_ERROR(Explained(m_index.Load(m_best)));
    m_saved = m_best;
    m_shown = m_best;
    IBD_RETURN_IF_ERROR(GoBack(LowestMissing()));
    return GoBelowDamage();
}

Result<> IndexFollower::GoOnFrom(const HeaderNode& best)
{
    m_batch.emplace(m_index.Db());
    IBD_RETURN_IF_ERROR(Explained(m_index.Load(&best)));
    m_best = &best;
    return Write(NameBest::kIfNew);
}

Error IndexFollower::Explain(const Error& error) const
{
    const std::string remedy =
        SystemFailed(error)
            ? fmt::format("After a restart the index continues; without {} the node runs without "
                          "it",
                          m_index.Option())
            : IndexRemedy(m_index.Directory(), m_index.Option());
    return {fmt::format("{}: {}. {}", m_index.Name(), error.message, remedy), error.kind};
}

void IndexFollower::Start()
{
    {
        const Lock lock(m_mutex);
        m_started = true;
    }
    m_thread = NamedThread(m_index.Traits().thread, [this] { Run(); });
}

void IndexFollower::Stop()
{
    m_stop = true;
    Wake();
    m_thread.Join();
}

void IndexFollower::Wake()
{
    const Lock lock(m_mutex);
    m_woken = true;
    m_changed.notify_all();
}

void IndexFollower::WaitToBeWoken()
{
    const Lock lock(m_mutex);
    if (m_lacking) {
        if (!m_woken) m_changed.wait_for(m_mutex, kLookForData);
    } else {
        while (!m_woken) m_changed.wait(m_mutex);
    }
    m_woken = false;
}

void IndexFollower::Run()
{
    LowerThreadPriority();
    const ThreadLines lines(m_log, m_index.Traits().thread);
    Result<> done;
    while (done && !m_stop) {
        done = CatchUp();
        if (done && !m_stop) WaitToBeWoken();
    }
    if (done) done = Save();
    if (!done) m_failed(done.GetError());
    const Lock lock(m_mutex);
    m_ended = true;
    m_changed.notify_all();
}

std::optional<IndexFollower::Next> IndexFollower::FindNext() const
{
    const ChainReader chain = m_chain.Read();
    const HeaderNode* const fork = chain.Active().FindFork(m_best);
    const HeaderNode* const node = m_best ? chain.Active().Next(fork) : chain.Active().Genesis();
    if (!node) return std::nullopt;
    return Next{fork, node, StoredBlock(*node), chain.Tip()->height};
}

/** Whether the block or its undo data is still missing because it is being made or fetched. */
bool IndexFollower::Lacks(const StoredBlock& place) const
{
    const bool undo = m_index.Traits().undo_to_connect && place.height > 0;
    if (place.data.IsNull() || (undo && place.undo.IsNull())) return true;
    const auto damaged = m_damaged.find(place.hash);
    return damaged != m_damaged.end() && damaged->second == place.data;
}

/** The lowest indexed block without data: an earlier run found it damaged, and its next copy will
 *  be at another position. Null: none. */
const HeaderNode* IndexFollower::LowestMissing() const
{
    if (!HasPositions() || m_chain.HasPruned()) return nullptr;
    const ChainReader chain = m_chain.Read();
    const HeaderNode* lowest = nullptr;
    for (const HeaderNode* node = m_best; node; node = node->prev) {
        if (!node->HasData()) lowest = node;
    }
    return lowest;
}

/** Below `lowest`, whose position changes; null: nothing changes. The records above are written
 *  again. If the database names a block above, it names the one below from now on. */
Result<> IndexFollower::GoBack(const HeaderNode* lowest)
{
    if (!lowest || !lowest->prev) return {};
    m_log.Warning("{} goes back to height {}: a block above is damaged, and its next copy will be "
                  "at another place",
                  m_index.Name(), lowest->prev->height);
    m_best = lowest->prev;
    m_synced = false;
    const HeaderNode* const saved = m_saved;
    IBD_RETURN_IF_ERROR(WriteBatch(saved && saved->height > m_best->height));
    m_shown = m_best;
    return {};
}

Result<> IndexFollower::GoBelowDamage()
{
    const HeaderNode* lowest = nullptr;
    for (const DamagedBlock& block : m_chain.Damaged(m_damaged.size())) {
        m_damaged.emplace(block.hash, block.data);
        const HeaderNode* const node = m_chain.Read().Find(block.hash);
        const bool indexed = HasPositions() && m_best && m_best->Ancestor(node->height) == node;
        if (indexed && (!lowest || node->height < lowest->height)) lowest = node;
    }
    return GoBack(lowest);
}

Result<> IndexFollower::CatchUp()
{
    Result<> done = Follow();
    m_ahead.reset();
    return done;
}

Result<> IndexFollower::Follow()
{
    IBD_RETURN_IF_ERROR(GoBelowDamage());
    m_start_height = m_best ? m_best->height : -1;
    m_logged_micros = m_env.MonotonicMicros();
    m_started_micros = m_logged_micros;
    while (!m_stop) {
        const auto next = FindNext();
        if (!next) break;
        if (Lacks(next->place)) {
            if (m_lacking != next->node) {
                m_log.Info("{} waits for {} of block {} at height {}", m_index.Name(),
                           next->place.data.IsNull() ? "the data" : "the undo data",
                           next->place.hash.ToHex(), next->place.height);
            }
            m_lacking = next->node;
            m_synced = false; // blocks below the base of a snapshot may never be received
            return Write(NameBest::kIfNew);
        }
        m_lacking = nullptr;
        const bool full = m_batch->ApproximateSize() >= kBatchBytes;
        if (full || m_chain.Flushed() != m_flushed) {
            IBD_RETURN_IF_ERROR(Write(NameBest::kIfNew));
        }
        if (next->fork != m_best) IBD_RETURN_IF_ERROR(Rewind(next->fork));
        IBD_RETURN_IF_ERROR(ConnectNext(*next));
        LogProgress(*next);
    }
    // As in Core, each start writes the best block once, so that a read-only or full disk is
    // noticed at once.
    IBD_RETURN_IF_ERROR(Write(m_synced ? NameBest::kIfNew : NameBest::kAgain));
    if (m_stop || m_synced) return {};
    m_synced = true;
    m_log.Info("{} is enabled at height {}", m_index.Name(), m_best ? m_best->height : 0);
    return {};
}

Result<> IndexFollower::ReadBlock(const StoredBlock& place, BlockData& out) const
{
    IBD_ASSIGN_OR_RETURN(out.raw, BlockArchive(m_chain.Blocks()).Block(place));
    IBD_RETURN_IF_ERROR(out.view.Parse(out.raw));
    out.block.view = &out.view;
    return {};
}

Result<> IndexFollower::ReadUndo(const StoredBlock& place, BlockData& out) const
{
    if (place.height == 0) return {};
    IBD_ASSIGN_OR_RETURN(out.undo, BlockArchive(m_chain.Blocks()).Undo(place));
    if (!out.undo.Fits(out.view)) return BadData("the undo data is not of this block");
    out.block.undo = &out.undo;
    return {};
}

/** Ends the index; the node then stops with Core's text. The cause is logged. */
Error IndexFollower::Failed(std::string words, const Error& cause) const
{
    m_log.Error("{}: {}. Restart without {}, or with -reindex if a block file is damaged",
                m_index.Name(), cause.message, m_index.Option());
    return {std::move(words), cause.kind};
}

Result<> IndexFollower::FailedAt(const char* words, const StoredBlock& place,
                                 const Result<>& result) const
{
    if (result) return {};
    return Failed(fmt::format(fmt::runtime(words), place.hash.ToHex()), result.GetError());
}

Result<> IndexFollower::ConnectNext(const Next& next)
{
    IBD_RETURN_IF_ERROR(m_index.Traits().prepares ? ConnectPrepared(next) : ConnectRead(next));
    m_best = next.node;
    return {};
}

Result<> IndexFollower::ConnectRead(const Next& next)
{
    BlockData data{{next.place}};
    IBD_RETURN_IF_ERROR(FailedAt(kNoBlock, next.place, ReadBlock(next.place, data)));
    return FailedAt(kNotAdded, next.place, m_index.Connect(*m_batch, data.block));
}

Result<> IndexFollower::ConnectPrepared(const Next& next)
{
    const PrepareOutcome outcome = TakePrepared(next);
    IBD_RETURN_IF_ERROR(FailedAt(outcome.failed, next.place, outcome.status));
    IndexedBlock block{next.place};
    block.prepared = outcome.block.get();
    return FailedAt(kNotAdded, next.place, m_index.Connect(*m_batch, block));
}

/** Any thread. */
PrepareOutcome IndexFollower::ReadAndPrepare(const StoredBlock& place) const
{
    BlockData data{{place}};
    if (Result<> read = ReadBlock(place, data); !read) return {std::move(read), kNoBlock, nullptr};
    if (Result<> read = ReadUndo(place, data); !read) return {std::move(read), kNoUndo, nullptr};
    return {{}, nullptr, m_index.Prepare(data.block)};
}

PrepareOutcome IndexFollower::TakePrepared(const Next& next)
{
    if (!m_ahead && next.tip - next.node->height >= kManyBlocks) {
        m_ahead = std::make_unique<PreparedAhead>(
            m_index.Traits().thread, std::max(1u, std::thread::hardware_concurrency()),
            [this](const StoredBlock& place) { return ReadAndPrepare(place); });
    }
    if (m_ahead) PrepareAhead(next);
    if (m_ahead && m_ahead->First() == next.node) return m_ahead->Take();
    return ReadAndPrepare(next.place);
}

/** Adds blocks from `next` on, or above the last one that is already prepared. */
void IndexFollower::PrepareAhead(const Next& next)
{
    if (m_ahead->First() != next.node) m_ahead->Clear();
    if (m_ahead->First() && m_ahead->Room() < m_ahead->Most() / 2) return;
    const ChainReader chain = m_chain.Read();
    const HeaderNode* const last = m_ahead->Last();
    const HeaderNode* node = last ? chain.Active().Next(last) : next.node;
    for (; node && m_ahead->Room() > 0; node = chain.Active().Next(node)) {
        const StoredBlock place(*node);
        if (Lacks(place)) break;
        m_ahead->Add(*node, place);
    }
}

/** Whether the database may name m_best: the coins on disk are at it or above. */
bool IndexFollower::MaySave() const
{
    const HeaderNode* const flushed = m_chain.Flushed();
    return m_best && flushed && flushed->Ancestor(m_best->height) == m_best;
}

/** Writes the batch, with m_best as the block that the database names if `named`. This is durable,
 *  as pruning deletes the blocks below. */
Result<> IndexFollower::WriteBatch(bool named)
{
    if (named) {
        IBD_RETURN_IF_ERROR(Explained(m_index.Save(*m_batch)));
        PutBestBlock(*m_batch, *m_best);
    }
    m_batch->Sort();
    IBD_RETURN_IF_ERROR(Explained(m_index.Db().Write(*m_batch, named)));
    if (named) m_saved = m_best;
    m_batch->Clear();
    return {};
}

Result<> IndexFollower::Write(NameBest name)
{
    m_flushed = m_chain.Flushed();
    const bool wanted = name == NameBest::kAgain || m_saved != m_best;
    IBD_RETURN_IF_ERROR(WriteBatch(wanted && MaySave()));
    const Lock lock(m_mutex);
    m_shown = m_best;
    m_settled = m_flushed;
    m_changed.notify_all();
    return {};
}

Result<> IndexFollower::TakeBack(const StoredBlock& place)
{
    BlockData data{{place}};
    if (m_index.Traits().block_to_disconnect) IBD_RETURN_IF_ERROR(ReadBlock(place, data));
    if (m_index.Traits().undo_to_disconnect) IBD_RETURN_IF_ERROR(ReadUndo(place, data));
    return m_index.Disconnect(*m_batch, data.block);
}

/** Undoes the blocks above `fork`, each in one write. If the database's best block is one of them,
 *  it becomes the block below, because the records were erased. */
Result<> IndexFollower::Rewind(const HeaderNode* fork)
{
    IBD_RETURN_IF_ERROR(Write(NameBest::kIfNew));
    while (m_best != fork) {
        const StoredBlock place = [&] {
            const ChainReader chain = m_chain.Read();
            return StoredBlock(*m_best);
        }();
        if (const Result<> taken = TakeBack(place); !taken) {
            return Failed(
                fmt::format("Failed to rewind {} to a previous chain tip", m_index.Name()),
                taken.GetError());
        }
        const bool named = m_saved == m_best;
        m_best = m_best->prev;
        IBD_RETURN_IF_ERROR(WriteBatch(named));
        m_shown = m_best;
        if (m_index.Traits().allows_prune) {
            m_log.Debug(LogCategory::kPrune, "{} prune lock moved back to {}", m_index.Name(),
                        place.height - 1);
        }
    }
    return {};
}

void IndexFollower::LogProgress(const Next& next)
{
    const int64_t now = m_env.MonotonicMicros();
    if (now - m_logged_micros < kLogEveryMicros) return;
    m_logged_micros = now;
    m_log.Info("Syncing {} with block chain from height {} ({:.1f} %, {} left)", m_index.Name(),
               next.node->height, 100.0 * next.node->height / std::max(next.tip, 1),
               FormatDuration(SecondsLeft(next.node->height, next.tip).value_or(0)));
}

/** At the rate since the start of the current path to the tip. Nothing: no block of it is done. */
std::optional<int64_t> IndexFollower::SecondsLeft(int32_t height, int32_t tip) const
{
    const double seconds = static_cast<double>(m_env.MonotonicMicros() - m_started_micros) / 1e6;
    return ibd::SecondsLeft(height - m_start_height, tip - height, seconds);
}

uint64_t IndexFollower::DiskNeeded() const
{
    const ChainReader chain = m_chain.Read();
    const HeaderNode* const tip = chain.Tip();
    const HeaderNode* const from = chain.Active().FindFork(m_shown);
    if (!tip || from == tip) return 0;
    const IndexTraits& traits = m_index.Traits();
    const auto blocks = static_cast<uint64_t>(tip->height - (from ? from->height : -1));
    // The total number of transactions is not known for every block.
    const uint64_t before = from ? from->chain_tx_count : 0;
    const uint64_t txs = tip->chain_tx_count - std::min(before, tip->chain_tx_count);
    return blocks * traits.bytes_per_block + txs * traits.bytes_per_tx;
}

IndexSummary IndexFollower::Summary() const
{
    const HeaderNode* const best = m_shown;
    const ChainReader chain = m_chain.Read();
    const HeaderNode& shown = best ? *best : *chain.Tree().Genesis();
    IndexSummary out{m_index.Name(), m_synced, shown.height, shown.hash};
    const HeaderNode* const tip = chain.Tip();
    const HeaderNode* const fork = chain.Active().FindFork(best);
    if (!tip || fork == tip) return out;
    out.blocks_left = tip->height - (fork ? fork->height : -1);
    out.seconds_left = SecondsLeft(shown.height, tip->height);
    return out;
}

bool IndexFollower::HasReached(const HeaderNode* tip) const
{
    const HeaderNode* const best = m_shown;
    if (tip && best && best->Ancestor(tip->height) == tip) return true;
    return tip && !m_chain.Read().Active().Contains(tip);
}

int32_t IndexFollower::HeightOf(const HeaderNode* best) const
{
    const HeaderNode* const common = m_chain.Read().Active().FindFork(best);
    return common ? common->height : 0;
}

void IndexFollower::Settle()
{
    const Lock lock(m_mutex);
    m_woken = true;
    m_changed.notify_all();
    while (m_started && !m_ended && m_settled != m_chain.Flushed()) m_changed.wait(m_mutex);
}

const HeaderNode* IndexFollower::LeftBehind() const
{
    if (!m_chain.HasPruned()) return nullptr;
    const ChainReader chain = m_chain.Read();
    const HeaderNode* const fork = chain.Active().FindFork(m_best);
    const HeaderNode* const first = fork ? fork : chain.Active().Genesis();
    const HeaderNode* const tip = chain.Tip();
    if (!tip || tip == m_best) return nullptr;
    const bool undo = m_index.Traits().undo_to_connect;
    for (const HeaderNode* node = tip; node != first->prev; node = node->prev) {
        if (!node->HasData() || (undo && node->prev && !node->HasUndo())) return first;
    }
    return nullptr;
}

bool IndexFollower::WaitForTip() const
{
    if (!m_synced) return false;
    const HeaderNode* const tip = m_chain.Read().Tip(); // a later one could come again and again
    while (m_synced && !HasReached(tip) && !m_chain.Interrupted()) {
        const Lock lock(m_mutex);
        if (m_ended) break;
        m_changed.wait_for(m_mutex, kLookForStop);
    }
    return m_synced;
}

} // namespace ibd

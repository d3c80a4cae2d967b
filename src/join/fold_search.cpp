// See fold_search.h.
#include "join/fold_search.h"

#include "storage/crc32c.h"
#include "swiftsync/checkpoint.h"
#include "util/found.h"

namespace ibd {

namespace {

/** Checks without hashing; the fold will hash the block. */
bool IsThere(const PlainBlock& block, const HeaderNode& node)
{
    return block.Hash() == node.hash && !block.Txs().empty() &&
           block.Txs().front().inputs.size() == 1;
}

} // namespace

/** The results of one worker; only it writes them. */
struct alignas(64) FoldSearch::Share {
    Share(CoinSearch& search, size_t workers) : finder(search, workers, false) {}

    CoinSearch::Finder finder;
    size_t blocks = 0;
    bool changed = false; //!< a last block differs from the bytes whose inputs were collected
};

FoldSearch::FoldSearch(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       uint32_t first, const BlockStore& store, PlaceOf place, JoinOptions options,
                       const std::atomic<bool>& stop, Done done, uint64_t most_deferred)
    : m_job(env, log, params, terminal, std::move(options), stop), m_first(first), m_store(store),
      m_place(std::move(place)), m_done(std::move(done)), m_most_deferred(most_deferred)
{
}

FoldSearch::~FoldSearch() = default;

bool FoldSearch::Begin(size_t workers)
{
    m_done({});
    const Result<bool> ready = Prepare(workers);
    if (ready && *ready) return true;
    if (!ready) {
        m_job.log.Info("Undo: coins that the last blocks spend are not looked for while blocks are "
                       "folded: {}",
                       ready.Message());
    }
    Drop();
    return false;
}

/** False: the search is not needed. */
Result<bool> FoldSearch::Prepare(size_t workers)
{
    const Path& directory = m_job.options.directory;
    IBD_RETURN_IF_ERROR(m_job.env.CreateDirectories(directory));
    IBD_ASSIGN_OR_RETURN(m_lock, LockBooster(m_job.env, directory));
    IBD_ASSIGN_OR_RETURN(const auto kept, LoadJoinState(m_job.env, directory));
    if (kept && kept->SaysWhatIsSpent() && m_job.IsOfSameChain(*kept)) return false;
    m_kept = kept ? kept->AllSpills() : std::vector<SpillInfo>();
    IBD_RETURN_IF_ERROR(RemoveOtherSpills(m_job.env, directory, m_kept)); // left by a process that
                                                                          // was killed
    m_search.emplace(m_job, m_first, kept ? kept->NextSpillNumber() : 0);
    std::vector<PlannedBlock> last;
    const bool stored = PlanLast(last);
    if (stored) IBD_RETURN_IF_ERROR(Collect(last));
    if (m_job.stop) return false;
    for (size_t i = 0; i < workers; ++i) {
        m_shares.push_back(std::make_unique<Share>(*m_search, workers));
    }
    const Lock lock(m_mutex);
    m_stage = stored ? Stage::kSearching : Stage::kWaiting;
    m_deferred.clear();
    m_deferred_bytes = 0;
    m_shown.assign(LastBlocks(), 0);
    m_to_come = LastBlocks();
    m_status = {};
    return true;
}

bool FoldSearch::PlanLast(std::vector<PlannedBlock>& last) const
{
    const HeaderNode* node = &m_job.terminal;
    for (; node->height > 0 && static_cast<uint32_t>(node->height) >= m_first; node = node->prev) {
        const FilePos pos = m_place(*node);
        if (pos.IsNull()) return false;
        last.push_back({.node = node, .file = pos.file, .offset = pos.offset});
    }
    return true;
}

/** Reads the few last blocks twice: with an exact count the table is smaller and all lookups are
 *  faster. */
Result<> FoldSearch::Collect(const std::vector<PlannedBlock>& last)
{
    uint64_t inputs = 0;
    const auto count = [&](const HeaderNode&, const PlainBlock& block) -> Result<> {
        inputs += block.Inputs();
        return {};
    };
    IBD_RETURN_IF_ERROR(ForEachLast(last, count));
    m_search->ResetTable(inputs);
    const auto add = [&](const HeaderNode& node, const PlainBlock& block) -> Result<> {
        const auto height = static_cast<uint32_t>(node.height);
        if (m_search->Add(height, block.Raw(), block.Txs())) return {};
        return SystemError("there are too many for -ibdboostermem");
    };
    IBD_RETURN_IF_ERROR(ForEachLast(last, add));
    m_job.log.Info("Undo: {} coins that the last {} blocks spend are looked for while blocks are "
                   "folded",
                   m_search->Wanted().Size(), last.size());
    return {};
}

Result<> FoldSearch::ForEachLast(const std::vector<PlannedBlock>& last,
                                 const SpanBlocks::Visit& visit) const
{
    BlockPlan plan(last);
    plan.Uncached().LogTo(&m_job.log);
    FileBlockSource source(m_job.env, m_store, plan);
    PlainBlock block;
    SuppliedBlock supplied;
    while (!m_job.stop) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(supplied));
        if (!more) break;
        if (block.Parse(supplied.bytes) && IsThere(block, *supplied.node)) {
            IBD_RETURN_IF_ERROR(visit(*supplied.node, block));
            continue;
        }
        IBD_RETURN_IF_ERROR(source.Reject( // reads it again; returns an error if it still differs
            supplied, Violation(RuleViolation::Kind::kMutated, "another block lies there")));
    }
    return {};
}

void FoldSearch::Folded(size_t worker, const BlockView& block, uint32_t height)
{
    if (height > static_cast<uint32_t>(m_job.terminal.height)) return;
    Share& share = *m_shares[worker];
    ++share.blocks;
    if (m_stage.load(std::memory_order_acquire) == Stage::kWaiting && Defer(block, height)) return;
    if (m_stage.load(std::memory_order_relaxed) != Stage::kSearching) return;
    if (height >= m_first && Crc32c(block.Raw()) != m_search->ChecksumOf(height)) {
        share.changed = true;
    }
    if (share.finder.Written()) share.finder.Find(block.Txs(), height);
}

/** Stores the height while the last blocks are not all folded. False: the search has begun already.
 */
bool FoldSearch::Defer(const BlockView& block, uint32_t height)
{
    const Lock lock(m_mutex);
    if (m_stage != Stage::kWaiting) return false;
    m_deferred.push_back(height);
    if (height >= m_first) {
        m_shown[height - m_first] = Crc32c(block.Raw());
        --m_to_come;
    } else {
        m_deferred_bytes += block.Raw().size();
    }
    if (m_to_come > 0 && m_deferred_bytes <= m_most_deferred) return true;
    m_status = CollectShown();
    m_stage.store(m_status ? Stage::kSearching : Stage::kFailed, std::memory_order_release);
    return true;
}

Result<> FoldSearch::CollectShown()
{
    std::vector<PlannedBlock> last;
    if (m_to_come > 0) return SystemError("they came too late");
    if (!PlanLast(last)) return SystemError("one of them is not stored");
    IBD_RETURN_IF_ERROR(Collect(last));
    for (uint32_t height = m_first; height - m_first < m_shown.size(); ++height) {
        const bool same = m_shown[height - m_first] == m_search->ChecksumOf(height);
        if (!same) return SystemError("a block has changed meanwhile");
    }
    return {};
}

/** The block hashes prove the blocks, and the txids prove the coins found in them, as in a scan. */
Result<> FoldSearch::SearchDeferred()
{
    const Lock lock(m_mutex);
    IBD_RETURN_IF_ERROR(m_status);
    std::vector<PlannedBlock> blocks;
    for (const uint32_t height : m_deferred) {
        const HeaderNode* const node = m_job.terminal.Ancestor(static_cast<int>(height));
        const FilePos pos = m_place(*node);
        if (pos.IsNull()) return SystemError("a block is not stored");
        blocks.push_back({.node = node, .file = pos.file, .offset = pos.offset});
    }
    BlockPlan plan(std::move(blocks));
    plan.Uncached().LogTo(&m_job.log);
    FileBlockSource source(m_job.env, m_store, plan);
    BlockView view;
    SuppliedBlock supplied;
    CoinSearch::Finder& finder = m_shares[0]->finder;
    while (!m_job.stop && finder.Written()) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(supplied));
        if (!more) break;
        if (view.Parse(supplied.bytes) && view.Hash() == supplied.node->hash) {
            finder.Find(view.Txs(), static_cast<uint32_t>(supplied.node->height));
            continue;
        }
        IBD_RETURN_IF_ERROR(source.Reject( // reads it again; returns an error if it still differs
            supplied, Violation(RuleViolation::Kind::kMutated, "another block lies there")));
    }
    return {};
}

void FoldSearch::End()
{
    auto found = Conclude();
    if (!found) {
        m_job.log.Info("Undo: the blocks have to be read once more for the coins that the last "
                       "ones spend: {}",
                       found.Message());
    }
    if (!found || !*found) {
        Drop();
        return;
    }
    m_shares.clear();
    m_search.reset();
    m_lock.reset();
    m_done(FoundCoins{m_first, std::move(**found)});
}

/** Nothing: the fold ended early, or the job was stopped. */
Found<JoinState> FoldSearch::Conclude()
{
    size_t blocks = 0;
    bool changed = false;
    for (const auto& share : m_shares) {
        blocks += share->blocks;
        changed = changed || share->changed;
    }
    if (blocks != static_cast<size_t>(m_job.terminal.height)) return std::optional<JoinState>();
    if (changed) return SystemError("a block has changed meanwhile");
    IBD_RETURN_IF_ERROR(SearchDeferred());
    if (m_job.stop) return std::optional<JoinState>();
    for (const auto& share : m_shares) share->finder.Flush();
    if (m_search->Wanted().Repeated()) return SystemError("an outpoint occurs more than once");
    auto state = m_search->Finish();
    if (!state) return state.GetError();
    if (m_search->Wanted().FirstMissing()) return SystemError("not all were found");
    return std::optional(std::move(*state));
}

/** Abandons the search and removes the files that it has written. */
void FoldSearch::Drop()
{
    m_shares.clear();
    if (m_search) (void)RemoveOtherSpills(m_job.env, m_job.options.directory, m_kept);
    m_search.reset();
    m_lock.reset();
}

} // namespace ibd

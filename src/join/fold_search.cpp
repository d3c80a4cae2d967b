// See fold_search.h.
#include "join/fold_search.h"

#include "storage/crc32c.h"
#include "swiftsync/checkpoint.h"

namespace ibd {

namespace {

/** Nothing was hashed: that it is the whole block will be known when it is folded. */
bool IsThere(const PlainBlock& block, const HeaderNode& node)
{
    return block.Hash() == node.hash && !block.Txs().empty() &&
           block.Txs().front().inputs.size() == 1;
}

} // namespace

/** What a worker has seen; written by it alone. */
struct alignas(64) FoldSearch::Share {
    Share(CoinSearch& search, size_t workers) : finder(search, workers, false) {}

    CoinSearch::Finder finder;
    size_t blocks = 0;
    bool changed = false; //!< one of the last is not what its inputs were taken from
};

FoldSearch::FoldSearch(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& store, std::vector<PlannedBlock> last, JoinOptions options,
                       const std::atomic<bool>& stop, Done done)
    : m_job(env, log, params, terminal, std::move(options), stop), m_store(store),
      m_last(std::move(last)), m_done(std::move(done))
{
}

FoldSearch::~FoldSearch() = default;

bool FoldSearch::Begin(size_t workers)
{
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

/** False: nobody needs it. */
Result<bool> FoldSearch::Prepare(size_t workers)
{
    const Path& directory = m_job.options.directory;
    IBD_RETURN_IF_ERROR(m_job.env.CreateDirectories(directory));
    IBD_ASSIGN_OR_RETURN(m_lock, LockBooster(m_job.env, directory));
    IBD_ASSIGN_OR_RETURN(const auto kept, LoadJoinState(m_job.env, directory));
    if (kept && kept->SaysWhatIsSpent()) return false;
    m_kept = kept ? kept->AllSpills() : std::vector<SpillInfo>();
    IBD_RETURN_IF_ERROR(RemoveOtherSpills(m_job.env, directory, m_kept)); // of one that died
    const auto first = static_cast<uint32_t>(m_job.terminal.height) + 1 - m_last.size();
    m_search.emplace(m_job, static_cast<uint32_t>(first), kept ? kept->NextSpillNumber() : 0);
    IBD_RETURN_IF_ERROR(Collect());
    if (m_job.stop) return false;
    for (size_t i = 0; i < workers; ++i) {
        m_shares.push_back(std::make_unique<Share>(*m_search, workers));
    }
    m_job.log.Info("Undo: {} coins that the last {} blocks spend are looked for while blocks are "
                   "folded",
                   m_search->Sought().Size(), m_last.size());
    return true;
}

/** Reads them twice, as they are few: the smaller the table, the faster all other blocks are. */
Result<> FoldSearch::Collect()
{
    uint64_t inputs = 0;
    IBD_RETURN_IF_ERROR(ForEachLast([&](const HeaderNode&, const PlainBlock& block) -> Result<> {
        inputs += block.Inputs();
        return {};
    }));
    m_search->ResetTable(inputs);
    return ForEachLast([&](const HeaderNode& node, const PlainBlock& block) -> Result<> {
        const auto height = static_cast<uint32_t>(node.height);
        if (m_search->Add(height, block.Raw(), block.Txs())) return {};
        return SystemError("there are too many for -ibdboostermem");
    });
}

Result<> FoldSearch::ForEachLast(const SpanBlocks::Visit& visit) const
{
    BlockPlan plan(m_last);
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
        IBD_RETURN_IF_ERROR(source.Reject( // once more, or it is an error
            supplied, Violation(RuleViolation::Kind::kMutated, "another block lies there")));
    }
    return {};
}

void FoldSearch::Folded(size_t worker, const BlockView& block, uint32_t height)
{
    if (height > static_cast<uint32_t>(m_job.terminal.height)) return;
    Share& share = *m_shares[worker];
    ++share.blocks;
    if (height >= m_search->First() && Crc32c(block.Raw()) != m_search->ChecksumOf(height)) {
        share.changed = true;
    }
    if (share.finder.Written()) share.finder.Find(block.Txs(), height);
}

void FoldSearch::End()
{
    auto found = Conclude();
    if (!found) {
        m_job.log.Info("Undo: the blocks have to be read once more for the coins that the last "
                       "ones spend: {}",
                       found.Message());
    }
    const uint32_t first = m_search->First();
    if (!found || !*found) {
        Drop();
        return;
    }
    m_shares.clear();
    m_search.reset();
    m_lock.reset();
    m_done({first, std::move(**found)});
}

/** Nothing: the fold has ended early. */
Result<std::optional<JoinState>> FoldSearch::Conclude()
{
    size_t blocks = 0;
    bool changed = false;
    for (const auto& share : m_shares) {
        share->finder.Flush();
        blocks += share->blocks;
        changed = changed || share->changed;
    }
    if (blocks != static_cast<size_t>(m_job.terminal.height)) return std::optional<JoinState>();
    if (changed) return SystemError("a block has changed meanwhile");
    if (m_search->Sought().Repeated()) return SystemError("an outpoint occurs more than once");
    auto state = m_search->Finish();
    if (!state) return state.GetError();
    if (m_search->Sought().FirstMissing()) return SystemError("not all were found");
    return std::optional(std::move(*state));
}

/** Nothing that it has written stays behind. */
void FoldSearch::Drop()
{
    m_shares.clear();
    if (m_search) (void)RemoveOtherSpills(m_job.env, m_job.options.directory, m_kept);
    m_search.reset();
    m_lock.reset();
}

} // namespace ibd

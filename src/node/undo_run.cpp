// See undo_run.h.
#include "node/undo_run.h"

#include "join/undo_rebuild.h"
#include "node/own_hints.h"
#include "swiftsync/file_block_source.h"

#include <algorithm>

namespace ibd {

namespace {

const char* PhaseName(JoinProgress::Phase phase)
{
    switch (phase) {
    case JoinProgress::Phase::kIdle: return "starting";
    case JoinProgress::Phase::kReading: return "reading";
    case JoinProgress::Phase::kJoining:
    case JoinProgress::Phase::kWriting: return "joining";
    case JoinProgress::Phase::kFetching: return "fetching";
    case JoinProgress::Phase::kUndo: return "writing";
    }
    return "unknown";
}

} // namespace

/** Appends each record to the file of its block. */
class UndoRun::Keeper final : public UndoConsumer {
public:
    Keeper(UndoRun& run, ChainManager& chain, int64_t seconds, const UndoTask& task)
        : m_run(run), m_chain(chain), m_interval(seconds * 1'000'000), m_task(task),
          m_since(run.m_env.MonotonicMicros())
    {
    }

    Result<> Take(const HeaderNode& node, ByteSpan undo) override
    {
        IBD_RETURN_IF_ERROR(m_chain.PutUndo(node, undo));
        m_run.m_done = node.height;
        m_bytes += undo.size();
        const bool due = m_run.m_env.MonotonicMicros() - m_since >= m_interval;
        return m_bytes < kDurableBytes && !due ? Result<>() : MakeDurable();
    }
    Result<> MakeDurable()
    {
        IBD_RETURN_IF_ERROR(m_chain.FlushIndex());
        m_bytes = 0;
        m_since = m_run.m_env.MonotonicMicros();
        const bool told = m_task.durable && m_run.m_done >= m_task.first;
        return told ? m_task.durable(m_run.m_done) : Result<>();
    }

private:
    UndoRun& m_run;
    ChainManager& m_chain;
    const int64_t m_interval; //!< microseconds
    const UndoTask& m_task;
    uint64_t m_bytes = 0; //!< since the index was written
    int64_t m_since;      //!< when that was, MonotonicMicros
};

UndoRun::Gap UndoRun::FindGap(const ChainManager& chain)
{
    Gap gap;
    const ChainReader reader = chain.Read();
    for (const HeaderNode* node = reader.Tip(); node && node->height > 0; node = node->prev) {
        if (node->HasUndo()) continue;
        gap.first = node->height;
        if (!gap.last) gap.last = node;
    }
    return gap;
}

bool UndoRun::IsNeeded(const ChainManager& chain) { return FindGap(chain).last != nullptr; }

Result<> UndoRun::Run(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options)
{
    const Gap gap = FindGap(chain);
    if (!gap.last) return {};
    m_log.Info("Undo data: making that of blocks {} to {}", gap.first, gap.last->height);
    FileBlockSupply supply(m_env, blocks, *gap.last);
    IBD_ASSIGN_OR_RETURN(const JoinVerdict verdict,
                         Make(chain, blocks, options,
                              {.terminal = *gap.last, .supply = supply, .first = gap.first}));
    if (verdict.kind == JoinVerdict::Kind::kInterrupted) return {};
    if (verdict.kind != JoinVerdict::Kind::kDone) {
        return BadData(
            "Undo data: block at height {} is invalid: {}. The chainstate was built on it "
            "as -assumevalid allows: restart with -reindex-chainstate -ibdbooster=0",
            verdict.height, verdict.reason);
    }
    m_log.Info("Undo data: all blocks up to height {} have it", gap.last->height);
    return m_env.RemoveAll(UndoFolder(options.directory));
}

Result<JoinVerdict> UndoRun::Make(ChainManager& chain, const BlockStore& blocks,
                                  const BoosterOptions& options, const UndoTask& task)
{
    m_done = task.first - 1;
    UndoOptions undo;
    undo.join = JoinOptionsFrom(options, UndoFolder(options.directory));
    undo.join.tty = options.tty;
    undo.checks = task.checks;
    undo.first_height = task.first;
    UndoRebuild rebuild(m_env, m_log, m_params, task.terminal, blocks, task.supply, undo, m_stop);
    {
        const Lock lock(m_mutex);
        m_rebuild = &rebuild;
        m_last = task.terminal.height;
    }
    Keeper keeper(*this, chain, options.checkpoint_seconds, task);
    auto verdict = rebuild.Run(keeper);
    {
        const Lock lock(m_mutex);
        m_rebuild = nullptr;
    }
    // What is there stays, whatever came then.
    IBD_RETURN_IF_ERROR(keeper.MakeDurable());
    return verdict;
}

std::optional<UndoProgress> UndoRun::Progress() const
{
    const Lock lock(m_mutex);
    if (!m_rebuild) return std::nullopt;
    const JoinProgress now = m_rebuild->Progress();
    UndoProgress out;
    out.phase = PhaseName(now.phase);
    out.height = m_done;
    out.terminal_height = m_last;
    out.bytes = now.bytes;
    out.total_bytes = std::max(now.total_bytes, now.bytes);
    out.joined = now.joined;
    out.partitions = now.partitions;
    return out;
}

} // namespace ibd

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
    Keeper(ChainManager& chain, std::atomic<int32_t>& done) : m_chain(chain), m_done(done) {}

    Result<> Take(const HeaderNode& node, ByteSpan undo) override
    {
        IBD_RETURN_IF_ERROR(m_chain.PutUndo(node, undo));
        m_done = node.height;
        m_bytes += undo.size();
        if (m_bytes < kDurableBytes) return {};
        m_bytes = 0;
        return m_chain.FlushIndex();
    }

private:
    ChainManager& m_chain;
    std::atomic<int32_t>& m_done;
    uint64_t m_bytes = 0; //!< since the index was written
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
    m_done = gap.first - 1;
    UndoOptions undo;
    undo.join = JoinOptionsFrom(options, options.directory / "undo");
    undo.join.tty = options.tty;
    undo.first_height = gap.first;
    FileBlockSupply supply(m_env, blocks, *gap.last);
    UndoRebuild rebuild(m_env, m_log, m_params, *gap.last, blocks, supply, undo, m_stop);
    {
        const Lock lock(m_mutex);
        m_rebuild = &rebuild;
        m_last = gap.last->height;
    }
    Keeper keeper(chain, m_done);
    const auto verdict = rebuild.Run(keeper);
    {
        const Lock lock(m_mutex);
        m_rebuild = nullptr;
    }
    IBD_RETURN_IF_ERROR(chain.FlushIndex()); // what is there stays, whatever came then
    if (!verdict) return verdict.GetError();
    if (verdict->kind == JoinVerdict::Kind::kInterrupted) return {};
    if (verdict->kind != JoinVerdict::Kind::kDone) {
        return BadData(
            "Undo data: block at height {} is invalid: {}. The chainstate was built on it "
            "as -assumevalid allows: restart with -reindex-chainstate -ibdbooster=0",
            verdict->height, verdict->reason);
    }
    m_log.Info("Undo data: all blocks up to height {} have it", gap.last->height);
    return m_env.RemoveAll(undo.join.directory);
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

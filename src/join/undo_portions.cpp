// See undo_portions.h.
#include "join/undo_portions.h"

#include "join/spill_series.h"
#include "util/found.h"

namespace ibd {

namespace {

/** Sends coins that are spent in ranges below `near_end` to `near`, the others to `far`. */
class NearAndFar final : public PageSink {
public:
    NearAndFar(PageSink& near, PageSink& far, uint32_t near_end)
        : m_near(near), m_far(far), m_near_end(near_end)
    {
    }
    bool Add(uint32_t range, ByteSpan records) override
    {
        return (range < m_near_end ? m_near : m_far).Add(range, records);
    }

private:
    PageSink& m_near;
    PageSink& m_far;
    const uint32_t m_near_end;
};

} // namespace

UndoPortions::UndoPortions(JoinJob& job, const UndoOptions& options, const BlockStore& store,
                           const BlockPlaces& places, JoinState& state, uint32_t first_spill,
                           UndoConsumer& consumer)
    : m_job(job), m_options(options), m_state(state), m_first_spill(first_spill),
      m_spending(state.SpendingRanges()), m_fetch(job, store, places, state),
      m_records(job, options, store, places, state, consumer),
      m_meter(job,
              {.label = "Undo: writing",
               .unit = "blocks",
               .total = static_cast<uint64_t>(job.terminal.height - options.first_height + 1),
               .step = WorkStep::kWriteUndo},
              [&job] { return uint64_t{job.undo_blocks}; })
{
}

Found<BrokenRule> UndoPortions::Run()
{
    IBD_ASSIGN_OR_RETURN(uint32_t range, Begin());
    m_job.Enter(JoinProgress::Phase::kUndo);
    while (range < m_spending.Count() && !m_job.stop) {
        const RangeSpan ranges{range,
                               std::min(range + m_options.portion_ranges, m_spending.Count())};
        const HeightSpan portion{m_spending.Span(ranges.first).first,
                                 m_spending.Span(ranges.end - 1).end};
        IBD_ASSIGN_OR_RETURN(auto coins, Fetch(portion));
        if (m_job.stop) break;
        coins.insert(coins.end(), m_state.coin_spills.begin(), m_state.coin_spills.end());
        IBD_ASSIGN_OR_RETURN(auto broken, m_records.Run(ranges, coins, m_meter));
        if (broken) return broken;
        range = ranges.end;
    }
    return std::nullopt;
}

/** The first range of the portion with which the rebuild starts. */
Result<uint32_t> UndoPortions::Begin()
{
    const auto first = static_cast<uint32_t>(m_options.first_height);
    const uint32_t range =
        m_spending.Of(first) / m_options.portion_ranges * m_options.portion_ranges;
    const uint32_t begin = m_spending.Span(range).first;
    if (begin < m_state.fetched_for) { // existing undo data was lost
        m_state.coin_spills.clear();
        m_state.fetched_to = 0;
    }
    if (m_state.fetched_to == 0) m_state.fetched_for = begin;
    if (m_state.fetched_to < begin) IBD_RETURN_IF_ERROR(FetchBelow(begin));
    return range;
}

/** Fetches coins that are made below a height and spent there or above. */
Result<> UndoPortions::FetchBelow(uint32_t height)
{
    IBD_ASSIGN_OR_RETURN(auto far, m_fetch.RunAlone({m_state.fetched_to, height},
                                                    {height, m_spending.Top() + 1}, NextSpill(),
                                                    SpillUse::kKept));
    return far ? Keep(std::move(*far), height) : Result<>();
}

/** Fetches coins that the portion's blocks make. Returns spills of coins that its own blocks spend;
 *  keeps the others in the state. Meaningless if the job was stopped. */
Result<std::vector<SpillInfo>> UndoPortions::Fetch(HeightSpan portion)
{
    const Path& directory = m_job.options.directory;
    const SpillOwner owner = m_state.OwnerOf(m_spending.Count());
    const bool keep = portion.end > m_state.fetched_to;
    SpillSeries near(m_job.env, directory, kNearSpills, owner, SpillUse::kPassing);
    SpillSeries far(m_job.env, directory, NextSpill(), owner, SpillUse::kKept);
    NearAndFar coins(near, far, m_spending.Of(portion.end - 1) + 1);
    const HeightSpan spent{portion.first, keep ? m_spending.Top() + 1 : portion.end};
    const FetchTask task{portion, spent, coins, OutlinesOf(m_options), m_options.side_fold};
    IBD_ASSIGN_OR_RETURN(const bool done, m_fetch.Run(task, m_meter));
    if (!done) return std::vector<SpillInfo>();
    IBD_ASSIGN_OR_RETURN(auto near_spills, near.Finish());
    m_coin_bytes += SizeOf(near_spills);
    if (keep) {
        IBD_ASSIGN_OR_RETURN(auto far_spills, far.Finish());
        IBD_RETURN_IF_ERROR(Keep(std::move(far_spills), portion.end));
    }
    return near_spills;
}

Result<> UndoPortions::Keep(std::vector<SpillInfo> far, uint32_t fetched_to)
{
    m_coin_bytes += SizeOf(far);
    m_state.coin_spills.insert(m_state.coin_spills.end(), far.begin(), far.end());
    m_state.fetched_to = fetched_to;
    return SaveJoinState(m_job.env, m_job.options.directory, m_state);
}

} // namespace ibd

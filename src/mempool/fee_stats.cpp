// See fee_stats.h.
#include "mempool/fee_stats.h"

#include "util/check.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ibd {

namespace {

constexpr double kLowestEnd = 100;
constexpr double kHighestEnd = 1e7;
constexpr double kSpacing = 1.05;
constexpr double kBeyondAll = 1e99;
constexpr int32_t kMostBlocks = 1008; //!< a week

void WriteDouble(Writer& out, double value) { out.U64(std::bit_cast<uint64_t>(value)); }

double ReadDouble(Reader& in) { return std::bit_cast<double>(in.U64()); }

void WriteRow(Writer& out, const std::vector<double>& row)
{
    out.CompactSize(row.size());
    for (const double value : row) WriteDouble(out, value);
}

void WriteRows(Writer& out, const std::vector<std::vector<double>>& rows)
{
    out.CompactSize(rows.size());
    for (const auto& row : rows) WriteRow(out, row);
}

/** Counts are finite and not negative; a damaged file may say otherwise. */
bool IsCount(double value) { return value >= 0 && value <= kBeyondAll; }

Result<std::vector<double>> ReadRow(Reader& in, size_t size, const char* mismatch)
{
    std::vector<double> row(in.Count(sizeof(double)));
    for (double& value : row) value = ReadDouble(in);
    if (!in.Ok()) return BadData("{}", in.Fault());
    if (row.size() != size) return BadData("Corrupt estimates file. {}", mismatch);
    if (!std::all_of(row.begin(), row.end(), IsCount)) {
        return BadData("Corrupt estimates file. A count is negative or no number");
    }
    return row;
}

Result<std::vector<std::vector<double>>> ReadRows(Reader& in, size_t size, const char* mismatch)
{
    std::vector<std::vector<double>> rows;
    for (size_t left = in.Count(1); left > 0; --left) {
        IBD_ASSIGN_OR_RETURN(auto row, ReadRow(in, size, mismatch));
        rows.push_back(std::move(row));
    }
    if (!in.Ok()) return BadData("{}", in.Fault());
    return rows;
}

/** Counted down, but never below 0. */
void Decrease(int64_t& count) { count -= count > 0; }

} // namespace

std::vector<double> FeeBucketEnds()
{
    std::vector<double> ends;
    double end = kLowestEnd;
    while (end <= kHighestEnd) {
        ends.push_back(end);
        end *= kSpacing;
    }
    ends.push_back(kBeyondAll);
    return ends;
}

FeeStats::FeeStats(const Shape& shape, const std::vector<double>& ends)
    : m_ends(ends), m_scale(shape.scale), m_decay(shape.decay), m_count(ends.size()),
      m_rates(ends.size()), m_confirmed(shape.steps, Row(ends.size())),
      m_left(shape.steps, Row(ends.size())),
      m_waiting(shape.steps * shape.scale, std::vector<int64_t>(ends.size())), m_old(ends.size())
{
}

void FeeStats::Leave(int32_t height, int32_t best, size_t bucket, bool confirmed)
{
    const int32_t waited = best == 0 ? 0 : best - height; // 0: no block was seen yet
    if (waited < 0) return;
    const bool is_old = static_cast<size_t>(waited) >= m_waiting.size();
    Decrease(is_old ? m_old[bucket] : m_waiting[Slot(height)][bucket]);
    if (confirmed) return;
    const size_t steps = std::min(static_cast<size_t>(waited) / m_scale, m_left.size());
    for (size_t i = 0; i < steps; ++i) ++m_left[i][bucket];
}

void FeeStats::BeginBlock(int32_t height)
{
    std::vector<int64_t>& slot = m_waiting[Slot(height)];
    for (size_t i = 0; i < slot.size(); ++i) m_old[i] += std::exchange(slot[i], 0);
    const auto decay = [this](Row& row) {
        for (double& count : row) count *= m_decay;
    };
    for (Row& row : m_confirmed) decay(row);
    for (Row& row : m_left) decay(row);
    decay(m_rates);
    decay(m_count);
}

void FeeStats::Confirm(int32_t blocks, size_t bucket, double rate)
{
    CHECK(blocks >= 1);
    const size_t steps = (static_cast<size_t>(blocks) + m_scale - 1) / m_scale;
    for (size_t i = steps; i <= m_confirmed.size(); ++i) ++m_confirmed[i - 1][bucket];
    ++m_count[bucket];
    m_rates[bucket] += rate;
}

double FeeStats::WaitingLonger(int32_t target, int32_t best, size_t bucket) const
{
    int64_t sum = m_old[bucket];
    for (int32_t blocks = target; blocks < MostBlocks(); ++blocks) {
        sum += m_waiting[Slot(best - blocks)][bucket];
    }
    return static_cast<double>(sum);
}

FeeRange FeeStats::RangeOf(size_t lowest, size_t highest) const
{
    return {.start = lowest > 0 ? m_ends[lowest - 1] : 0, .end = m_ends[highest]};
}

double FeeStats::MedianOf(size_t lowest, size_t highest) const
{
    double half = 0;
    for (size_t i = lowest; i <= highest; ++i) half += m_count[i];
    if (half == 0) return -1;
    half /= 2;
    for (size_t i = lowest; i <= highest; ++i) {
        if (m_count[i] >= half) return m_rates[i] / m_count[i];
        half -= m_count[i];
    }
    return -1;
}

/** From the highest bucket down: gathers buckets until they are significant, and judges them as one
 *  range; a range that fails is extended by the next buckets. */
class FeeStats::Search {
public:
    Search(const FeeStats& stats, double significant, double success)
        : m_stats(stats), m_significant(significant), m_success(success)
    {
    }

    void Add(size_t bucket, double within, double left, double in_pool)
    {
        if (!m_open) m_range_end = bucket;
        m_open = true;
        m_range_start = bucket;
        m_now.within_target += within;
        m_now.confirmed += m_stats.m_count[bucket];
        m_now.left += left;
        m_now.in_pool += in_pool;
        m_fresh += m_stats.m_count[bucket];
        if (m_fresh < m_significant) return;
        m_fresh = 0;
        Judge();
    }

    FeeEstimate End()
    {
        if (m_passing && m_open) Fail(); // too few data in the lowest buckets
        FeeEstimate out{.pass = m_pass, .fail = m_fail};
        if (m_found) out.rate = m_stats.MedianOf(m_best_start, m_best_end);
        return out;
    }

private:
    void Judge()
    {
        const double all = m_now.confirmed + m_now.left + m_now.in_pool;
        if (m_now.within_target / all < m_success) {
            if (m_passing) Fail();
            m_passing = false;
            return;
        }
        m_fail = FeeRange();
        m_found = m_passing = true;
        m_best_start = m_range_start;
        m_best_end = m_range_end;
        m_pass = Counted();
        m_now = FeeRange();
        m_open = false;
    }

    void Fail() { m_fail = Counted(); }

    FeeRange Counted() const
    {
        FeeRange range = m_stats.RangeOf(m_range_start, m_range_end);
        range.within_target = m_now.within_target;
        range.confirmed = m_now.confirmed;
        range.in_pool = m_now.in_pool;
        range.left = m_now.left;
        return range;
    }

    const FeeStats& m_stats;
    const double m_significant;
    const double m_success;
    bool m_open = false; //!< the range has buckets
    bool m_passing = true;
    bool m_found = false;
    double m_fresh = 0; //!< transactions since the last judgement
    size_t m_range_start = 0;
    size_t m_range_end = 0;
    size_t m_best_start = 0;
    size_t m_best_end = 0;
    FeeRange m_now;
    FeeRange m_pass;
    FeeRange m_fail;
};

FeeEstimate FeeStats::Estimate(int32_t target, double sufficient, double success,
                               int32_t best) const
{
    CHECK(target >= 1 && target <= MostBlocks());
    const size_t step = (static_cast<size_t>(target) + m_scale - 1) / m_scale - 1;
    Search search(*this, sufficient / (1 - m_decay), success);
    for (size_t bucket = m_ends.size(); bucket-- > 0;) {
        search.Add(bucket, m_confirmed[step][bucket], m_left[step][bucket],
                   WaitingLonger(target, best, bucket));
    }
    FeeEstimate out = search.End();
    out.decay = m_decay;
    out.scale = m_scale;
    return out;
}

void FeeStats::Encode(Writer& out) const
{
    WriteDouble(out, m_decay);
    out.U32(m_scale);
    WriteRow(out, m_rates);
    WriteRow(out, m_count);
    WriteRows(out, m_confirmed);
    WriteRows(out, m_left);
}

Result<> FeeStats::Decode(Reader& in)
{
    const size_t size = m_ends.size();
    m_decay = ReadDouble(in);
    m_scale = in.U32();
    if (!in.Ok()) return BadData("{}", in.Fault());
    if (!(m_decay > 0 && m_decay < 1)) {
        return BadData("Corrupt estimates file. Decay must be between 0 and 1 (non-inclusive)");
    }
    if (m_scale == 0) return BadData("Corrupt estimates file. Scale must be non-zero");
    IBD_ASSIGN_OR_RETURN(m_rates, ReadRow(in, size, "Mismatch in feerate average bucket count"));
    IBD_ASSIGN_OR_RETURN(m_count, ReadRow(in, size, "Mismatch in tx count bucket count"));
    IBD_ASSIGN_OR_RETURN(m_confirmed,
                         ReadRows(in, size, "Mismatch in feerate conf average bucket count"));
    const uint64_t most = uint64_t{m_scale} * m_confirmed.size();
    if (most == 0 || most > kMostBlocks) {
        return BadData("Corrupt estimates file. Must maintain estimates for between 1 and {} (one "
                       "week) confirms",
                       kMostBlocks);
    }
    IBD_ASSIGN_OR_RETURN(m_left,
                         ReadRows(in, size, "Mismatch in one of failure average bucket counts"));
    if (m_left.size() != m_confirmed.size()) {
        return BadData("Corrupt estimates file. Mismatch in one of failure average bucket counts");
    }
    m_waiting.assign(most, std::vector<int64_t>(size));
    m_old.assign(size, 0);
    return {};
}

} // namespace ibd

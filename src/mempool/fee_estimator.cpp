// See fee_estimator.h.
#include "mempool/fee_estimator.h"

#include "util/check.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

/** Version of the file, and of the programs that can read it. */
constexpr uint32_t kFileVersion = 309900;
constexpr uint64_t kMostBuckets = 1000;

constexpr FeeStats::Shape kShort{12, 1, .962};
constexpr FeeStats::Shape kMedium{24, 2, .9952};
constexpr FeeStats::Shape kLong{42, 24, .99931};

/** Data of an earlier start are used until the chain has grown by this number of blocks. */
constexpr int32_t kOldestHistory = 6 * kMostFeeTarget;

// Shares of the transactions of a range that must be confirmed within half of the target, the
// target, and twice the target.
constexpr double kSuccessInHalf = .6;
constexpr double kSuccess = .85;
constexpr double kSuccessInDouble = .95;

// Transactions a block that make a range of buckets significant.
constexpr double kSufficient = .1;
constexpr double kSufficientShort = .5; //!< on the short horizon, which has few data

/** Lowers the estimate to this one, if it exists and is lower. */
void TakeLower(double& rate, double other)
{
    if (other > 0 && (rate < 0 || other < rate)) rate = other;
}

Result<std::vector<double>> ReadEnds(Reader& in)
{
    std::vector<double> ends(in.Count(sizeof(double)));
    for (double& end : ends) end = std::bit_cast<double>(in.U64());
    if (!in.Ok()) return BadData("{}", in.Fault());
    if (ends.size() <= 1 || ends.size() > kMostBuckets) {
        return BadData("Corrupt estimates file. Must have between 2 and {} feerate buckets",
                       kMostBuckets);
    }
    // The last end is above every rate, so that each rate has a bucket.
    const double last = FeeBucketEnds().back();
    if (!std::is_sorted(ends.begin(), ends.end()) || !(ends.front() > 0) || ends.back() != last) {
        return BadData("Corrupt estimates file. Feerate buckets do not ascend to {}", last);
    }
    return ends;
}

} // namespace

struct FeeEstimator::Data {
    explicit Data(std::vector<double> bucket_ends) : ends(std::move(bucket_ends)) {}
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    const std::vector<double> ends;
    FeeStats short_term{kShort, ends};
    FeeStats medium_term{kMedium, ends};
    FeeStats long_term{kLong, ends};
    int32_t best = 0;  //!< highest block seen
    int32_t first = 0; //!< first block of this start with a tracked transaction; 0: none
    // Values from the file.
    int32_t file_first = 0;
    int32_t file_last = 0;

    std::array<FeeStats*, 3> All() { return {&medium_term, &short_term, &long_term}; }

    const FeeStats& Of(FeeHorizon horizon) const
    {
        switch (horizon) {
        case FeeHorizon::kShort: return short_term;
        case FeeHorizon::kMedium: return medium_term;
        case FeeHorizon::kLong: return long_term;
        }
        CHECK(false);
    }

    int32_t Span() const { return first == 0 ? 0 : best - first; }
    int32_t FileSpan() const
    {
        if (file_first == 0 || best - file_last > kOldestHistory) return 0;
        return file_last - file_first;
    }
    FeeEstimate Estimate(const FeeStats& stats, int32_t target, double success) const
    {
        const double sufficient = &stats == &short_term ? kSufficientShort : kSufficient;
        return stats.Estimate(target, sufficient, success, best);
    }
    double Rate(const FeeStats& stats, int32_t target, double success) const
    {
        return Estimate(stats, target, success).rate;
    }
};

FeeEstimator::FeeEstimator(SipKey key)
    : m_data(std::make_unique<Data>(FeeBucketEnds())), m_tracked(0, HashHasher(key))
{
}

FeeEstimator::~FeeEstimator() = default;

void FeeEstimator::TxAdded(const PoolTx& tx, uint64_t)
{
    const Lock lock(m_mutex);
    // In other cases the time until a block says nothing about the fee: before the first block of
    // this start, in a reorganisation, and as PoolTx::estimates says.
    if (tx.height != m_data->best || !tx.estimates) return;
    const Amount per_kvb = tx.fee * 1'000 / tx.vsize;
    const auto rate = static_cast<double>(per_kvb);
    const auto end = std::lower_bound(m_data->ends.begin(), m_data->ends.end(), rate);
    const auto bucket = static_cast<size_t>(end - m_data->ends.begin());
    if (!m_tracked.emplace(tx.Id(), Tracked{tx.height, bucket, rate}).second) return;
    for (FeeStats* stats : m_data->All()) stats->Enter(tx.height, bucket);
}

void FeeEstimator::Leave(const Tracked& tx, bool confirmed)
{
    for (FeeStats* stats : m_data->All()) {
        stats->Leave(tx.height, m_data->best, tx.bucket, confirmed);
    }
}

void FeeEstimator::TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t)
{
    if (!tx.estimates) return;
    const Lock lock(m_mutex);
    const auto found = m_tracked.find(tx.Id());
    if (found == m_tracked.end()) return;
    if (reason == RemovalReason::kBlock) {
        m_confirmed.push_back(found->second); // counted by BlockConfirmed()
    } else {
        Leave(found->second, /*confirmed=*/false);
    }
    m_tracked.erase(found);
}

void FeeEstimator::BlockConfirmed(int32_t height)
{
    const Lock lock(m_mutex);
    const std::vector<Tracked> confirmed = std::exchange(m_confirmed, {});
    if (height <= m_data->best) {
        for (const Tracked& tx : confirmed) Leave(tx, /*confirmed=*/true);
        return;
    }
    m_data->best = height;
    for (FeeStats* stats : m_data->All()) stats->BeginBlock(height);
    for (const Tracked& tx : confirmed) {
        Leave(tx, /*confirmed=*/true);
        if (tx.height >= height) continue;
        for (FeeStats* stats : m_data->All()) {
            stats->Confirm(height - tx.height, tx.bucket, tx.rate);
        }
    }
    if (m_data->first == 0 && !confirmed.empty()) m_data->first = height;
}

int32_t FeeEstimator::MostUsable() const
{
    // Half of the observed blocks, so that a failure to confirm could have been observed.
    return std::min(m_data->long_term.MostBlocks(),
                    std::max(m_data->Span(), m_data->FileSpan()) / 2);
}

/** The estimate of the shortest horizon that reaches the target. `shorter`: also uses a lower rate
 *  that a shorter horizon gives for its longest target, because a longer target must not cost more.
 */
double FeeEstimator::Combined(int32_t target, double success, bool shorter) const
{
    const Data& data = *m_data;
    if (target < 1 || target > data.long_term.MostBlocks()) return -1;
    const int32_t short_most = data.short_term.MostBlocks();
    const int32_t medium_most = data.medium_term.MostBlocks();
    const FeeStats& fitting = target <= short_most    ? data.short_term
                              : target <= medium_most ? data.medium_term
                                                      : data.long_term;
    double rate = data.Rate(fitting, target, success);
    if (!shorter) return rate;
    if (target > medium_most) TakeLower(rate, data.Rate(data.medium_term, medium_most, success));
    if (target > short_most) TakeLower(rate, data.Rate(data.short_term, short_most, success));
    return rate;
}

/** The highest rate given by longer horizons than the target needs. */
double FeeEstimator::Conservative(int32_t target) const
{
    const Data& data = *m_data;
    double rate = -1;
    if (target <= data.short_term.MostBlocks()) {
        rate = data.Rate(data.medium_term, target, kSuccessInDouble);
    }
    if (target <= data.medium_term.MostBlocks()) {
        rate = std::max(rate, data.Rate(data.long_term, target, kSuccessInDouble));
    }
    return rate;
}

SmartFee FeeEstimator::Estimate(int32_t target, bool conservative) const
{
    const Lock lock(m_mutex);
    CHECK(target >= 1 && target <= kMostFeeTarget);
    // A transaction for the very next block is not estimated, as some blocks take no new ones.
    SmartFee out{.target = std::min(std::max(target, 2), MostUsable())};
    if (out.target <= 1) return out;
    double rate = Combined(out.target / 2, kSuccessInHalf, true);
    rate = std::max(rate, Combined(out.target, kSuccess, true));
    rate = std::max(rate, Combined(2 * out.target, kSuccessInDouble, !conservative));
    if (conservative || rate < 0) rate = std::max(rate, Conservative(2 * out.target));
    if (rate >= 0) out.rate = std::llround(rate);
    return out;
}

FeeEstimate FeeEstimator::EstimateRaw(int32_t target, double success, FeeHorizon horizon) const
{
    const Lock lock(m_mutex);
    return m_data->Estimate(m_data->Of(horizon), target, success);
}

int32_t FeeEstimator::MostBlocks(FeeHorizon horizon) const
{
    const Lock lock(m_mutex);
    return m_data->Of(horizon).MostBlocks();
}

void FeeEstimator::ForgetWaiting()
{
    const Lock lock(m_mutex);
    for (const auto& [id, tx] : m_tracked) Leave(tx, /*confirmed=*/false);
    m_tracked.clear();
}

Bytes FeeEstimator::Encode() const
{
    const Lock lock(m_mutex);
    Data& data = *m_data;
    Bytes file;
    Writer out(file);
    out.U32(kFileVersion);
    out.U32(static_cast<uint32_t>(data.best));
    const bool fresh = data.Span() > data.FileSpan() / 2; // the data of this start suffice
    out.U32(static_cast<uint32_t>(fresh ? data.first : data.file_first));
    out.U32(static_cast<uint32_t>(fresh ? data.best : data.file_last));
    out.CompactSize(data.ends.size());
    for (const double end : data.ends) out.U64(std::bit_cast<uint64_t>(end));
    for (const FeeStats* stats : data.All()) stats->Encode(out);
    return file;
}

Result<> FeeEstimator::Decode(ByteSpan file)
{
    Reader in(file);
    const uint32_t version = in.U32();
    if (!in.Ok()) return BadData("{}", in.Fault());
    if (version > kFileVersion) return BadData("up-version ({}) fee estimate file", version);
    if (version < kFileVersion) {
        return BadData("Incompatible old fee estimation data (non-fatal). Version: {}", version);
    }
    const uint32_t best = in.U32();
    const uint32_t first = in.U32();
    const uint32_t last = in.U32();
    constexpr auto kHighest = static_cast<uint32_t>(std::numeric_limits<int32_t>::max());
    if (first > last || last > best || best > kHighest) {
        return BadData("Corrupt estimates file. Historical block range for estimates is invalid");
    }
    IBD_ASSIGN_OR_RETURN(auto ends, ReadEnds(in));
    auto data = std::make_unique<Data>(std::move(ends));
    data->best = static_cast<int32_t>(best);
    data->file_first = static_cast<int32_t>(first);
    data->file_last = static_cast<int32_t>(last);
    for (FeeStats* stats : data->All()) IBD_RETURN_IF_ERROR(stats->Decode(in));
    // A target within a horizon is looked up in the longer ones, too.
    const int32_t medium_most = data->medium_term.MostBlocks();
    if (data->short_term.MostBlocks() > medium_most || medium_most > data->long_term.MostBlocks()) {
        return BadData("Corrupt estimates file. A longer horizon has fewer blocks than a shorter");
    }
    const Lock lock(m_mutex);
    m_data = std::move(data);
    m_tracked.clear();
    return {};
}

} // namespace ibd

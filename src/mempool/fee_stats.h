// FeeStats: for each bucket of feerates, how many transactions were confirmed in how many blocks,
// how many left the pool unconfirmed, and how many still wait. Counts of the past decay with each
// block. One FeeStats is one horizon of FeeEstimator, which owns it. Not thread-safe. Memory: fixed
// by its shape, below 1 MB. The method and its constants are those of Core's block policy
// estimator, as the recorded data are shared with it (doc/formats/fee_estimates.md).
#pragma once

#include "primitives/serialize.h"
#include "util/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ibd {

/** The upper ends of the buckets, satoshi per 1,000 virtual bytes, ascending; the last is beyond
 *  every rate. */
std::vector<double> FeeBucketEnds();

/** The counts of a range of neighbouring buckets. They decay, so they are not integers. */
struct FeeRange {
    double start = -1; //!< satoshi per 1,000 virtual bytes, exclusive; -1: no range
    double end = -1;   //!< inclusive
    double within_target = 0;
    double confirmed = 0;
    double in_pool = 0; //!< waiting for longer than the target
    double left = 0;    //!< the pool unconfirmed, after longer than the target

    bool Exists() const { return start >= 0; }
};

struct FeeEstimate {
    double rate = -1; //!< median, satoshi per 1,000 virtual bytes; -1: none
    FeeRange pass;    //!< the cheapest range whose transactions were confirmed in time
    FeeRange fail;    //!< the highest range below `pass` whose transactions were not
    double decay = 0;
    uint32_t scale = 0;
};

class FeeStats {
public:
    /** Times are counted in steps of `scale` blocks, up to `steps` of them. */
    struct Shape {
        size_t steps = 0;
        uint32_t scale = 0;
        double decay = 0; //!< remaining part of a count after a block
    };
    /** `ends` outlives it. */
    FeeStats(const Shape& shape, const std::vector<double>& ends);

    /** The longest time that it knows, blocks. */
    int32_t MostBlocks() const { return static_cast<int32_t>(m_confirmed.size() * m_scale); }

    // A bucket is an index into `ends`.

    /** A transaction entered the pool while the tip was at `height`. */
    void Enter(int32_t height, size_t bucket) { ++m_waiting[Slot(height)][bucket]; }
    /** A transaction that entered at `height` leaves the pool; the tip is at `best`. */
    void Leave(int32_t height, int32_t best, size_t bucket, bool confirmed);
    /** Call it before the transactions of the block at `height` are counted. */
    void BeginBlock(int32_t height);
    /** A transaction was confirmed after `blocks` (1 or more). */
    void Confirm(int32_t blocks, size_t bucket, double rate);

    /** The lowest rate at which at least the share `success` of the transactions was confirmed
     *  within `target` blocks (1 to MostBlocks()). `sufficient`: confirmed transactions a block
     *  that make a range significant. */
    FeeEstimate Estimate(int32_t target, double sufficient, double success, int32_t best) const;

    void Encode(Writer& out) const;
    /** Replaces all counts by saved counts for the same buckets; no transaction waits afterwards.
     *  On failure the object is unusable. */
    Result<> Decode(Reader& in);

private:
    using Row = std::vector<double>;
    class Search;

    /** On a chain shorter than the horizon Estimate() asks for negative heights. They wrap around
     *  as in Core, so that estimates are equal there too. */
    size_t Slot(int32_t height) const { return static_cast<uint32_t>(height) % m_waiting.size(); }
    FeeRange RangeOf(size_t lowest, size_t highest) const;
    double MedianOf(size_t lowest, size_t highest) const;
    double WaitingLonger(int32_t target, int32_t best, size_t bucket) const;

    const std::vector<double>& m_ends;
    uint32_t m_scale;
    double m_decay;
    // By bucket.
    Row m_count;                                 //!< confirmed transactions
    Row m_rates;                                 //!< sum of their rates
    std::vector<Row> m_confirmed;                //!< [i]: those confirmed within i + 1 steps
    std::vector<Row> m_left;                     //!< [i]: left the pool unconfirmed after at least
                                                 //!< i + 1 steps
    std::vector<std::vector<int64_t>> m_waiting; //!< by height of arrival modulo its size
    std::vector<int64_t> m_old;                  //!< waiting for longer
};

} // namespace ibd

// FeeEstimator: the feerate that brings a transaction into a block in time, learnt from the
// transactions that waited in the pool and were confirmed. Owned by the node; any thread; its lock
// is a leaf. It is called under the pool's mutex at each change of the pool, so a change only
// updates a few counters. A block takes a pass over all counts (about 40,000). Memory: an entry for
// each transaction of the pool, and below 2 MB. The method is that of Core's block policy estimator
// (fee_stats.h).
#pragma once

#include "mempool/fee_stats.h"
#include "mempool/pool_events.h"
#include "primitives/outpoint_hasher.h"
#include "util/mutex.h"

#include <memory>
#include <unordered_map>

namespace ibd {

enum class FeeHorizon { kShort, kMedium, kLong };

/** Most blocks for which an estimate is made: a week. */
constexpr int32_t kMostFeeTarget = 1008;

struct SmartFee {
    Amount rate = 0;    //!< satoshi per 1,000 virtual bytes; 0: not enough data
    int32_t target = 0; //!< blocks that the rate is for: at most as many as the data support
};

class FeeEstimator final : public PoolEvents {
public:
    /** `key`: random, for the table of txids. */
    explicit FeeEstimator(SipKey key = {});
    ~FeeEstimator() override;

    void TxAdded(const PoolTx& tx, uint64_t sequence) override IBD_EXCLUDES(m_mutex);
    void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) override
        IBD_EXCLUDES(m_mutex);
    /** Blocks of a reorganisation that are not above all before are ignored. */
    void BlockConfirmed(int32_t height) override IBD_EXCLUDES(m_mutex);

    /** `target`: 1 to kMostFeeTarget. `conservative`: rates that sufficed over a longer time count,
     *  too. */
    SmartFee Estimate(int32_t target, bool conservative) const IBD_EXCLUDES(m_mutex);
    /** `target`: 1 to MostBlocks(horizon); `success`: share of transactions to be confirmed. */
    FeeEstimate EstimateRaw(int32_t target, double success, FeeHorizon horizon) const
        IBD_EXCLUDES(m_mutex);
    int32_t MostBlocks(FeeHorizon horizon) const IBD_EXCLUDES(m_mutex);

    /** Counts waiting transactions as if they had left the pool unconfirmed, because the next start
     *  will not know them. */
    void ForgetWaiting() IBD_EXCLUDES(m_mutex);

    /** The contents of the file; see doc/formats/fee_estimates.md. */
    Bytes Encode() const IBD_EXCLUDES(m_mutex);
    /** Replaces all data; on failure the old data stays. A file of another version is also an
     *  error. */
    Result<> Decode(ByteSpan file) IBD_EXCLUDES(m_mutex);

private:
    struct Tracked {
        int32_t height = 0; //!< of the tip at arrival
        size_t bucket = 0;
        double rate = 0; //!< satoshi per 1,000 virtual bytes
    };
    struct Data;

    void Leave(const Tracked& tx, bool confirmed) IBD_REQUIRES(m_mutex);
    int32_t MostUsable() const IBD_REQUIRES(m_mutex);
    double Combined(int32_t target, double success, bool shorter) const IBD_REQUIRES(m_mutex);
    double Conservative(int32_t target) const IBD_REQUIRES(m_mutex);

    mutable Mutex m_mutex;
    std::unique_ptr<Data> m_data IBD_GUARDED_BY(m_mutex);
    std::unordered_map<Txid, Tracked, HashHasher> m_tracked IBD_GUARDED_BY(m_mutex);
    std::vector<Tracked> m_confirmed IBD_GUARDED_BY(m_mutex); //!< confirmed by the block being
                                                              //!< processed
};

} // namespace ibd

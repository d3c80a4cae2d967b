// See fee_file.h.
#include "mempool/fee_file.h"

#include "util/bounded_file.h"
#include "util/file_time.h"

namespace ibd {

namespace {

/** Bytes; 1,000 buckets on all horizons take 2.3 million. */
constexpr uint64_t kMaxFeeFile = 16 << 20;
constexpr int64_t kSecondsPerHour = 60 * 60;

Result<> Load(FeeEstimator& fees, const Path& path, Env& env)
{
    IBD_ASSIGN_OR_RETURN(const Bytes data, ReadBoundedFile(env, path, kMaxFeeFile));
    return fees.Decode(data);
}

} // namespace

void LoadFees(FeeEstimator& fees, const Path& path, bool accept_old, Env& env, Logger& log)
{
    if (!env.Exists(path)) {
        log.Info("{} is not found. Continue anyway.", path.string());
        return;
    }
    const Result<int64_t> written = ModifiedTime(path);
    const int64_t now = env.UnixMicros() / 1'000'000; // of the same clock
    const int64_t age = written ? now - *written : 0; // reading fails too, and returns the error
    if (age > kMaxFeeFileAge && !accept_old) {
        log.Info("Fee estimation file {} too old (age={} > {} hours) and will not be used to avoid "
                 "serving stale estimates.",
                 path.string(), age / kSecondsPerHour, kMaxFeeFileAge / kSecondsPerHour);
        return;
    }
    const Result<> loaded = Load(fees, path, env);
    if (!loaded) {
        log.Warning("Unable to read policy estimator data (non-fatal): {}: {}", path.string(),
                    loaded.Message());
    }
}

void SaveFees(const FeeEstimator& fees, const Path& path, Env& env, Logger& log)
{
    const Result<> saved = WriteFileAtomically(env, path, fees.Encode());
    if (saved) {
        log.Info("Flushed fee estimates to {}.", path.filename().string());
    } else {
        log.Warning("Failed to write fee estimates to {}: {}. Continuing anyway.", path.string(),
                    saved.Message());
    }
}

} // namespace ibd

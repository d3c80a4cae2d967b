// See pool_config.h.
#include "node/pool_config.h"

#include "node/start_checks.h"
#include "util/config.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

Amount FeeRate(const ArgsManager& args, const char* name, Amount otherwise)
{
    const auto text = args.Get(name);
    return text ? ParseMoney(*text).value_or(otherwise) : otherwise;
}

/** Clamped to 32 bits, so that units can be multiplied; negative values become 0. */
template <typename T>
T Count(const ArgsManager& args, const char* name, T otherwise)
{
    const int64_t value = args.GetInt(name, static_cast<int64_t>(otherwise));
    return static_cast<T>(std::clamp<int64_t>(value, 0, std::numeric_limits<uint32_t>::max()));
}

} // namespace

PolicyOptions ReadPolicy(const ArgsManager& args)
{
    PolicyOptions out;
    out.require_standard = !args.GetBool("-acceptnonstdtxn", false);
    out.incremental_fee = FeeRate(args, "-incrementalrelayfee", out.incremental_fee);
    // If only the increment is set, it is also the minimum rate.
    out.min_relay_fee =
        FeeRate(args, "-minrelaytxfee", std::max(out.min_relay_fee, out.incremental_fee));
    out.dust_fee = FeeRate(args, "-dustrelayfee", out.dust_fee);
    out.max_datacarrier = args.GetBool("-datacarrier", true)
                              ? Count(args, "-datacarriersize", out.max_datacarrier)
                              : 0;
    out.permit_bare_multisig = args.GetBool("-permitbaremultisig", out.permit_bare_multisig);
    out.bytes_per_sigop = Count(args, "-bytespersigop", out.bytes_per_sigop);
    return out;
}

PoolLimits ReadPoolLimits(const ArgsManager& args)
{
    constexpr int64_t kHour = 60 * 60;      // seconds
    constexpr size_t kMegabyte = 1'000'000; // bytes
    constexpr int64_t kKvb = 1'000;
    PoolLimits out;
    out.max_bytes = Count(args, "-maxmempool", out.max_bytes / kMegabyte) * kMegabyte;
    out.expiry = Count(args, "-mempoolexpiry", out.expiry / kHour) * kHour;
    out.cluster_count = Count(args, "-limitclustercount", out.cluster_count);
    out.cluster_vsize = Count(args, "-limitclustersize", out.cluster_vsize / kKvb) * kKvb;
    out.incremental_fee = ReadPolicy(args).incremental_fee;
    return out;
}

} // namespace ibd

// estimatesmartfee, estimaterawfee; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/amount_json.h"
#include "rpc/mempool.h"
#include "util/strings.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr FeeHorizon kHorizons[] = {FeeHorizon::kShort, FeeHorizon::kMedium, FeeHorizon::kLong};
constexpr const char* kNames[] = {"short", "medium", "long"}; //!< of kHorizons

/** Fee estimation requires transactions from peers. */
const FeeEstimator& Estimator(const PoolContext& context)
{
    if (!context.fees) throw RpcError{RpcCode::kInternalError, "Fee estimation disabled"};
    return *context.fees;
}

int Target(const RpcCall& call, const FeeEstimator& fees)
{
    const int most = fees.MostBlocks(FeeHorizon::kLong);
    const int32_t target = call.Int32(0);
    if (target >= 1 && target <= most) return target;
    ThrowRpc(RpcCode::kInvalidParameter, "Invalid conf_target, must be between 1 and {}", most);
}

/** Whether the mode is "conservative"; case-insensitive. */
bool IsConservative(std::string_view text)
{
    const std::string mode = ToLower(text);
    if (mode == "conservative") return true;
    if (mode == "unset" || mode == "economical") return false;
    throw RpcError{RpcCode::kInvalidParameter,
                   "Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", "
                   "\"conservative\""};
}

UniValue ErrorList(const char* text)
{
    UniValue errors(UniValue::VARR);
    errors.push_back(text);
    return errors;
}

UniValue RangeJson(const FeeRange& range)
{
    constexpr double kHundredths = 100;
    const auto count = [](double value) { return std::round(value * kHundredths) / kHundredths; };
    UniValue out(UniValue::VOBJ);
    out.pushKV("startrange", std::round(range.start));
    out.pushKV("endrange", std::round(range.end));
    out.pushKV("withintarget", count(range.within_target));
    out.pushKV("totalconfirmed", count(range.confirmed));
    out.pushKV("inmempool", count(range.in_pool));
    out.pushKV("leftmempool", count(range.left));
    return out;
}

UniValue HorizonJson(const FeeEstimate& estimate)
{
    UniValue out(UniValue::VOBJ);
    const Amount rate = estimate.rate > 0 ? std::llround(estimate.rate) : 0;
    if (rate != 0) out.pushKV("feerate", AmountJson(rate));
    out.pushKV("decay", estimate.decay);
    out.pushKV("scale", static_cast<uint64_t>(estimate.scale));
    if (rate != 0) out.pushKV("pass", RangeJson(estimate.pass));
    if (estimate.fail.Exists()) out.pushKV("fail", RangeJson(estimate.fail));
    if (rate == 0) {
        out.pushKV("errors",
                   ErrorList("Insufficient data or no feerate found which meets threshold"));
    }
    return out;
}

UniValue RawFee(const RpcCall& call, const PoolContext& context)
{
    const FeeEstimator& fees = Estimator(context);
    const int target = Target(call, fees);
    const double threshold = call.Has(1) ? call.At(1).get_real() : 0.95;
    if (threshold < 0 || threshold > 1) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid threshold"};
    }
    UniValue out(UniValue::VOBJ);
    for (size_t i = 0; i < std::size(kHorizons); ++i) {
        if (target > fees.MostBlocks(kHorizons[i])) continue;
        out.pushKV(kNames[i], HorizonJson(fees.EstimateRaw(target, threshold, kHorizons[i])));
    }
    return out;
}

UniValue SmartFeeJson(const RpcCall& call, PoolContext& context)
{
    const FeeEstimator& fees = Estimator(context);
    const int target = Target(call, fees);
    const SmartFee fee = fees.Estimate(target, IsConservative(call.String(1, "economical")));
    UniValue out(UniValue::VOBJ);
    if (fee.rate != 0) {
        const Lock lock(context.pool.mutex);
        const Amount least = context.pool.MinFeeRate(context.chain.env.UnixTime());
        const Amount relay = context.acceptance.Policy().min_relay_fee;
        out.pushKV("feerate", AmountJson(std::max({fee.rate, least, relay})));
    } else {
        out.pushKV("errors", ErrorList("Insufficient data or no feerate found"));
    }
    out.pushKV("blocks", fee.target);
    return out;
}

} // namespace

void AddFeeMethods(RpcTable& table, PoolContext& context)
{
    const RpcArg target{"conf_target", RpcType::kNumber, true, "",
                        "Blocks in which the transaction is to be confirmed, 1 to 1008"};
    table.Add(
        {"util",
         "estimatesmartfee",
         "Estimates the fee rate at which a transaction is confirmed in time, from earlier "
         "transactions in the pool and their confirmation.",
         {target,
          {"estimate_mode", RpcType::kString, false, "\"economical\"",
           "unset, economical or conservative"}},
         "{\n  \"feerate\": n,           (numeric, optional) Bitcoin for 1,000 virtual bytes\n"
         "  \"errors\": [ \"str\" ],    (json array, optional) Why there is no estimate\n"
         "  \"blocks\": n             (numeric) The target that an estimate is for\n}",
         "6",
         [&context](const RpcCall& call) { return SmartFeeJson(call, context); }});
    table.Add({"hidden",
               "estimaterawfee",
               "Shows the data of fee estimation, for each horizon for which transactions are "
               "tracked.",
               {target,
                {"threshold", RpcType::kNumber, false, "0.95",
                 "Share of the transactions of a fee rate that must have been confirmed in time, 0 "
                 "to 1"}},
               "{\n  \"short\", \"medium\", \"long\": {    (json object) Where it reaches the "
               "target\n"
               "    \"feerate\": n, \"decay\": n, \"scale\": n,\n"
               "    \"pass\", \"fail\": { \"startrange\", \"endrange\", \"withintarget\",\n"
               "              \"totalconfirmed\", \"inmempool\", \"leftmempool\" },\n"
               "    \"errors\": [ \"str\" ]\n  }\n}",
               "6 0.9",
               [&context](const RpcCall& call) { return RawFee(call, context); }});
    table.AnswerEarly({"estimatesmartfee", "estimaterawfee"});
}

} // namespace ibd

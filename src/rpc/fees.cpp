// estimatesmartfee, estimaterawfee; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/mempool.h"

#include <algorithm>
#include <cctype>

namespace ibd {

namespace {

/** Time for which a waiting transaction still counts, in steps of blocks. */
struct Horizon {
    const char* name;
    double decay; //!< remaining part of a count after a block
    int blocks_per_step;
    int steps;
    int MostBlocks() const { return blocks_per_step * steps; }
};

constexpr Horizon kHorizons[] = {
    {"short", .962, 1, 12}, {"medium", .9952, 2, 24}, {"long", .99931, 24, 42}};
constexpr double kNoUpperFee = 1e99; //!< end of the highest bucket

/** Fee estimation requires transactions from peers. */
void RequireEstimates(bool enabled)
{
    if (!enabled) throw RpcError{RpcCode::kInternalError, "Fee estimation disabled"};
}

int Target(const RpcCall& call)
{
    const int most = std::end(kHorizons)[-1].MostBlocks();
    const int32_t target = call.Int32(0);
    if (target >= 1 && target <= most) return target;
    ThrowRpc(RpcCode::kInvalidParameter, "Invalid conf_target, must be between 1 and {}", most);
}

/** Case-insensitive. */
void CheckMode(std::string mode)
{
    std::transform(mode.begin(), mode.end(), mode.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* known : {"unset", "economical", "conservative"}) {
        if (mode == known) return;
    }
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

/** No data: no transaction was observed before its block. */
UniValue EmptyBucket()
{
    UniValue bucket(UniValue::VOBJ);
    bucket.pushKV("startrange", 0);
    bucket.pushKV("endrange", kNoUpperFee);
    for (const char* count : {"withintarget", "totalconfirmed", "inmempool", "leftmempool"}) {
        bucket.pushKV(count, 0);
    }
    return bucket;
}

UniValue RawFee(const RpcCall& call)
{
    const int target = Target(call);
    const double threshold = call.Has(1) ? call.At(1).get_real() : 0.95;
    if (threshold < 0 || threshold > 1) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid threshold"};
    }
    UniValue out(UniValue::VOBJ);
    for (const Horizon& horizon : kHorizons) {
        if (target > horizon.MostBlocks()) continue;
        UniValue result(UniValue::VOBJ);
        result.pushKV("decay", horizon.decay);
        result.pushKV("scale", horizon.blocks_per_step);
        result.pushKV("fail", EmptyBucket());
        result.pushKV("errors",
                      ErrorList("Insufficient data or no feerate found which meets threshold"));
        out.pushKV(horizon.name, result);
    }
    return out;
}

UniValue SmartFee(const RpcCall& call)
{
    (void)Target(call);
    CheckMode(call.String(1, "economical"));
    UniValue out(UniValue::VOBJ);
    out.pushKV("errors", ErrorList("Insufficient data or no feerate found"));
    out.pushKV("blocks", 0); // the longest target that the data supports
    return out;
}

} // namespace

void AddFeeMethods(RpcTable& table, bool enabled)
{
    const RpcArg target{"conf_target", RpcType::kNumber, true, "",
                        "Blocks in which the transaction is to be confirmed, 1 to 1008"};
    table.Add({"util",
               "estimatesmartfee",
               "The fee for a thousand virtual bytes that brings a transaction into a block in "
               "time. This version collects no data for it and says so, as a node that has just "
               "started does.",
               {target,
                {"estimate_mode", RpcType::kString, false, "\"economical\"",
                 "unset, economical or conservative"}},
               "{\n  \"errors\": [ \"str\" ],    (json array) Why there is no estimate\n"
               "  \"blocks\": n             (numeric) The target that an estimate is for\n}",
               "6",
               [enabled](const RpcCall& call) {
                   RequireEstimates(enabled);
                   return SmartFee(call);
               }});
    table.Add({"hidden",
               "estimaterawfee",
               "The data of fee estimation, by the time for which transactions are tracked.",
               {target,
                {"threshold", RpcType::kNumber, false, "0.95",
                 "The share of transactions at a fee that is to be confirmed in time, 0 to 1"}},
               "{\n  \"short\", \"medium\", \"long\": {    (json object) Where it reaches the "
               "target\n"
               "    \"decay\": n, \"scale\": n,\n"
               "    \"fail\": { \"startrange\", \"endrange\", \"withintarget\",\n"
               "              \"totalconfirmed\", \"inmempool\", \"leftmempool\" },\n"
               "    \"errors\": [ \"str\" ]\n  }\n}",
               "6 0.9",
               [enabled](const RpcCall& call) {
                   RequireEstimates(enabled);
                   return RawFee(call);
               }});
}

} // namespace ibd

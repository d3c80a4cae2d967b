// getmininginfo and getnetworkhashps; see blockchain.h.
#include "consensus/limits.h"
#include "consensus/pow.h"
#include "rpc/blockchain.h"
#include "rpc/json.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int kBlocksOfEstimate = 120;
constexpr Amount kBlockMinTxFee = 1; //!< per 1,000 virtual bytes; -blockmintxfee's default

/** Hashes per second that the work of the `blocks` blocks up to `last` took. */
double HashRate(const HeaderNode& last, int blocks)
{
    const HeaderNode* first = &last;
    uint32_t earliest = last.time, latest = last.time; // blocks may go back in time
    for (int i = 0; i < blocks && first->prev; ++i) {
        first = first->prev;
        earliest = std::min(earliest, first->time);
        latest = std::max(latest, first->time);
    }
    if (earliest == latest) return 0;
    return (last.chain_work - first->chain_work).ToDouble() / (latest - earliest);
}

/** Target of a block that is made now. */
uint32_t NextBits(const HeaderNode& tip, const ConsensusParams& params, int64_t now)
{
    int64_t least = tip.MedianTimePast() + 1;
    if ((tip.height + 1) % params.DifficultyAdjustmentInterval() == 0) {
        least = std::max(least, int64_t{tip.time} - kMaxTimewarp);
    }
    const auto time = static_cast<uint32_t>(std::max(least, now));
    return GetNextWorkRequired(NodeAncestry(&tip), time, params);
}

void AddTarget(UniValue& out, uint32_t bits)
{
    out.pushKV("bits", fmt::format("{:08x}", bits));
    out.pushKV("difficulty", Difficulty(bits));
    out.pushKV("target", Arith256::FromCompact(bits).ToHex());
}

UniValue MiningInfo(const ChainContext& context)
{
    ChainManager& chain = context.Chain();
    const auto lock = chain.Lock();
    const HeaderNode& tip = *chain.Tip();
    const ConsensusParams& params = chain.Params().consensus;
    UniValue out(UniValue::VOBJ);
    out.pushKV("blocks", Num(tip.height));
    AddTarget(out, tip.bits);
    out.pushKV("networkhashps", HashRate(tip, kBlocksOfEstimate));
    out.pushKV("pooledtx", 0);
    out.pushKV("blockmintxfee", AmountJson(kBlockMinTxFee));
    out.pushKV("chain", chain.Params().name);
    UniValue next(UniValue::VOBJ);
    next.pushKV("height", Num(tip.height + 1));
    AddTarget(next, NextBits(tip, params, context.env.UnixTime()));
    out.pushKV("next", next);
    if (params.signet_blocks) out.pushKV("signet_challenge", ToHex(params.signet_challenge));
    out.pushKV("warnings", context.Warnings());
    return out;
}

UniValue NetworkHashRate(const ChainContext& context, const RpcCall& call)
{
    int blocks = call.Int32(0, kBlocksOfEstimate);
    const int height = call.Int32(1, -1);
    if (blocks < -1 || blocks == 0) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Invalid nblocks. Must be a positive number or -1."};
    }
    ChainManager& chain = context.Chain();
    const auto lock = chain.Lock();
    if (height < -1 || height > chain.Active().Height()) {
        throw RpcError{RpcCode::kInvalidParameter, "Block does not exist at specified height"};
    }
    const HeaderNode& last = height < 0 ? *chain.Tip() : *chain.Active()[height];
    const int interval = chain.Params().consensus.DifficultyAdjustmentInterval();
    if (blocks == -1) blocks = last.height % interval + 1; // since the last change of difficulty
    return HashRate(last, blocks);
}

RpcMethod GetMiningInfo(ChainContext& context)
{
    return {"mining",
            "getmininginfo",
            "What somebody who makes blocks wants to know.",
            {},
            "{\n"
            "  \"blocks\": n,                (numeric) Height of the tip\n"
            "  \"bits\": \"hex\",              (string) Its target in compact form\n"
            "  \"difficulty\": n,            (numeric) Its difficulty\n"
            "  \"target\": \"hex\",            (string) Its target\n"
            "  \"networkhashps\": n,         (numeric) Hashes per second of the network\n"
            "  \"pooledtx\": n,              (numeric) Transactions in the pool\n"
            "  \"blockmintxfee\": n,         (numeric) Least fee rate, in BTC/kvB\n"
            "  \"chain\": \"str\",             (string) main, test, testnet4, signet, regtest\n"
            "  \"next\": { \"height\", \"bits\", \"difficulty\", \"target\" },\n"
            "                              (json object) Of a block that is made now\n"
            "  \"signet_challenge\": \"hex\",  (string) On signets only\n"
            "  \"warnings\": [ \"str\", ... ]  (json array) Warnings of the node\n"
            "}",
            "",
            [&context](const RpcCall&) { return MiningInfo(context); }};
}

RpcMethod GetNetworkHashPs(ChainContext& context)
{
    return {"mining",
            "getnetworkhashps",
            "Estimated hashes per second of the network.",
            {{"nblocks", RpcType::kNumber, false, "120",
              "Blocks to go by; -1: those since the last change of difficulty"},
             {"height", RpcType::kNumber, false, "-1", "The last of them; -1: the tip"}},
            "n    (numeric) Hashes per second",
            "\n120 1000",
            [&context](const RpcCall& call) { return NetworkHashRate(context, call); }};
}

} // namespace

void AddMiningMethods(RpcTable& table, ChainContext& context)
{
    table.Add(GetMiningInfo(context));
    table.Add(GetNetworkHashPs(context));
}

} // namespace ibd

// getmininginfo and getnetworkhashps; see mining.h.
#include "rpc/mining.h"
#include "rpc/amount_json.h"

#include "consensus/pow.h"
#include "jsonrpc/json.h"
#include "mempool/tx_pool.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int kBlocksOfEstimate = 120;

/** Hashes per second of the `blocks` blocks up to `last`. */
double HashRate(const HeaderNode& last, int blocks)
{
    const HeaderNode* first = &last;
    uint32_t earliest = last.time, latest = last.time; // times of blocks may decrease
    for (int i = 0; i < blocks && first->prev; ++i) {
        first = first->prev;
        earliest = std::min(earliest, first->time);
        latest = std::max(latest, first->time);
    }
    if (earliest == latest) return 0;
    return (last.chain_work - first->chain_work).ToDouble() / (latest - earliest);
}

/** Bits of a block made now. */
uint32_t NextBits(const HeaderNode& tip, const ConsensusParams& params, int64_t now)
{
    const int64_t time = std::max(MinimumBlockTime(tip, params), now);
    return GetNextWorkRequired(NodeAncestry(&tip), static_cast<uint32_t>(time), params);
}

void AddTarget(UniValue& out, uint32_t bits)
{
    out.pushKV("bits", fmt::format("{:08x}", bits));
    out.pushKV("difficulty", Difficulty(bits));
    out.pushKV("target", Arith256::FromCompact(bits).ToHex());
}

size_t PoolSize(const TxPool& pool)
{
    const Lock lock(pool.mutex);
    return pool.Size();
}

UniValue MiningInfo(const MiningContext& context)
{
    const ChainManager& chain = context.chain.Headers();
    const HeaderNode& tip = TipOrGenesis(context.chain);
    const ConsensusParams& params = chain.Params().consensus;
    UniValue out(UniValue::VOBJ);
    out.pushKV("blocks", Num(tip.height));
    if (const auto last = context.assembler.LastMade()) {
        out.pushKV("currentblockweight", Num(last->weight));
        out.pushKV("currentblocktx", Num(last->txs));
    }
    AddTarget(out, tip.bits);
    out.pushKV("networkhashps", HashRate(tip, kBlocksOfEstimate));
    out.pushKV("pooledtx", Num(PoolSize(context.pool)));
    out.pushKV("blockmintxfee", AmountJson(context.assembler.Options().min_fee_rate));
    out.pushKV("chain", chain.Params().name);
    UniValue next(UniValue::VOBJ);
    next.pushKV("height", Num(tip.height + 1));
    AddTarget(next, NextBits(tip, params, context.chain.env.UnixTime()));
    out.pushKV("next", next);
    if (params.signet_blocks) out.pushKV("signet_challenge", ToHex(params.signet_challenge));
    out.pushKV("warnings", context.chain.Warnings());
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
    const ChainManager& chain = context.Headers();
    const HeaderNode& tip = TipOrGenesis(context);
    if (height < -1 || height > tip.height) {
        throw RpcError{RpcCode::kInvalidParameter, "Block does not exist at specified height"};
    }
    const HeaderNode& last = height < 0 ? tip : *tip.Ancestor(height);
    const int interval = chain.Params().consensus.DifficultyAdjustmentInterval();
    if (blocks == -1) blocks = last.height % interval + 1; // since the last retarget
    return HashRate(last, blocks);
}

RpcMethod GetMiningInfo(MiningContext& context)
{
    return {"mining",
            "getmininginfo",
            "Data for mining.",
            {},
            "{\n"
            "  \"blocks\": n,                (numeric) Height of the tip\n"
            "  \"currentblockweight\": n,    (numeric) Of the template that was made last\n"
            "  \"currentblocktx\": n,        (numeric) Its transactions\n"
            "  \"bits\": \"hex\",              (string) The tip's target in compact form\n"
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
              "Number of blocks to use; -1: those since the last change of difficulty"},
             {"height", RpcType::kNumber, false, "-1", "Height of the last block to use; -1: the "
                                                       "tip"}},
            "n    (numeric) Hashes per second",
            "\n120 1000",
            [&context](const RpcCall& call) { return NetworkHashRate(context, call); }};
}

} // namespace

void AddMiningMethods(RpcTable& table, MiningContext& context)
{
    table.Add(GetMiningInfo(context));
    table.Add(GetNetworkHashPs(context.chain));
    table.AnswerEarly({"getmininginfo", "getnetworkhashps"});
}

} // namespace ibd

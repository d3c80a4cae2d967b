// getblocktemplate (BIP22, BIP23, BIP9, BIP145); see mining.h.
#include "consensus/limits.h"
#include "jsonrpc/json.h"
#include "rpc/long_poll.h"
#include "rpc/mining.h"
#include "util/hex.h"

#include <map>
#include <set>

namespace ibd {

namespace {

constexpr size_t kHashDigits = 64;
/** New transactions cause no new template within this time. */
constexpr int64_t kSecondsPerTemplate = 5;
/** Pays to anyone: the client makes its own coinbase. */
constexpr uint8_t kAnyone[] = {OP_1};

std::string ModeOf(const UniValue& request)
{
    const UniValue& mode = request["mode"];
    if (mode.isNull()) return "template";
    if (!mode.isStr()) throw RpcError{RpcCode::kInvalidParameter, "Invalid mode"};
    return mode.getValStr();
}

/** The rules that the client supports. */
std::set<std::string> RulesOf(const UniValue& request)
{
    std::set<std::string> out;
    const UniValue& rules = request["rules"];
    if (!rules.isArray()) return out;
    for (const UniValue& rule : rules.getValues()) out.insert(ParseString(rule));
    return out;
}

/** The BIP22 answer for a known block. */
const char* Duplicate(const HeaderNode& node)
{
    if (node.IsValid(kValidScripts)) return "duplicate";
    return (node.status & kFailedValid) != 0 ? "duplicate-invalid" : "duplicate-inconclusive";
}

/** The verdict on a block without proof of work. */
UniValue Propose(const ChainContext& context, const UniValue& data)
{
    if (!data.isStr()) {
        throw RpcError{RpcCode::kTypeError, "Missing data String key for proposal"};
    }
    const auto raw = FromHex(data.getValStr());
    BlockView view;
    if (!raw || !view.Parse(*raw).Ok()) {
        throw RpcError{RpcCode::kDeserialization, "Block decode failed"};
    }
    ChainManager& chain = context.Chain();
    {
        const ChainReader reader = chain.Read();
        if (const HeaderNode* known = reader.Find(view.Hash())) return Duplicate(*known);
    }
    return Bip22Result(context.OrFatal(
        context.OnChainThread([&] { return chain.TestBlock(view, /*check_merkle_root=*/true); })));
}

/** Counter of changes of the pool, and of connected and disconnected blocks. */
int64_t PoolChanges(const MiningContext& context)
{
    const uint64_t steps = context.chain.Chain().Steps();
    const Lock lock(context.pool.mutex);
    return static_cast<int64_t>(steps + context.pool.Updates());
}

/** Counter of changes at the last template. */
int64_t ChangesAtLastTemplate(MiningContext& mining)
{
    const Lock lock(mining.mutex);
    return mining.changes;
}

/** Returns when the template named by `id` ("<tip><pool changes>") is no longer the best. */
void WaitForNews(MiningContext& mining, const UniValue& id)
{
    const ChainContext& context = mining.chain;
    BlockHash watched;
    int64_t changes = 0;
    if (id.isStr()) {
        const std::string& text = id.getValStr();
        watched = ParseHash(text.substr(0, kHashDigits), "longpollid");
        changes = LenientInteger(std::string_view(text).substr(kHashDigits));
    } else {
        watched = context.Current().hash;
        changes = ChangesAtLastTemplate(mining);
    }
    const auto other = [&](const TipInfo& tip) { return tip.hash != watched; };
    WaitForTemplateNews(
        [&](std::chrono::milliseconds wait) {
            return other(context.WaitForTip(other, wait)) || context.interrupt;
        },
        [&] { return PoolChanges(mining) != changes; });
    if (context.interrupt) throw RpcError{RpcCode::kClientNotConnected, "Shutting down"};
}

void RequireRules(const ConsensusParams& params, const std::set<std::string>& rules)
{
    if (params.signet_blocks && !rules.contains("signet")) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "getblocktemplate must be called with the signet rule set (call with "
                       "{\"rules\": [\"segwit\", \"signet\"]})"};
    }
    if (!rules.contains("segwit")) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "getblocktemplate must be called with the segwit rule set (call with "
                       "{\"rules\": [\"segwit\"]})"};
    }
}

/** The template on the tip. */
const BlockTemplate& Current(MiningContext& context, ChainManager& chain)
    IBD_REQUIRES(context.mutex)
{
    const BlockHash tip = chain.Current().hash;
    const int64_t now = context.chain.env.UnixTime();
    const int64_t changes = PoolChanges(context);
    if (context.last && context.last->header.prev_hash == tip &&
        (changes == context.changes || now - context.made <= kSecondsPerTemplate)) {
        return *context.last;
    }
    context.last.reset();
    context.changes = changes;
    context.made = now;
    BlockTemplate made = context.chain.OrFatal(
        context.chain.OnChainThread([&] { return context.assembler.Assemble(chain, kAnyone); }));
    if (made.violation) {
        ThrowRpc(RpcCode::kMisc, "TestBlockValidity failed: {}", made.violation->ToString());
    }
    return context.last.emplace(std::move(made));
}

/** "rules", "vbavailable" and the version. All deployments of this version are optional for miners,
 *  so none removes its bit from the version. */
void AddRules(UniValue& out, const BlockTemplate& block, const HeaderNode& tip,
              const ConsensusParams& params)
{
    UniValue rules(UniValue::VARR);
    rules.push_back("csv");
    if (block.height >= params.segwit_height) {
        // It changes the coinbase, so a miner without support for it must not mine.
        rules.push_back("!segwit");
        rules.push_back("taproot");
    }
    if (params.signet_blocks) rules.push_back("!signet");
    UniValue available(UniValue::VOBJ);
    uint32_t version = static_cast<uint32_t>(block.header.version);
    const std::string name(DeploymentName(DeploymentId::kTestDummy));
    const Bip9Deployment& deployment = params.Deployment(DeploymentId::kTestDummy);
    ThresholdCache cache;
    const ThresholdState state = DeploymentState(NodeAncestry(&tip), deployment, cache);
    if (state == ThresholdState::kLockedIn) version |= uint32_t{1} << deployment.bit;
    if (state == ThresholdState::kLockedIn || state == ThresholdState::kStarted) {
        available.pushKV(name, deployment.bit);
    }
    if (state == ThresholdState::kActive) rules.push_back(name);
    out.pushKV("version", static_cast<int32_t>(version));
    out.pushKV("rules", rules);
    out.pushKV("vbavailable", available);
    out.pushKV("vbrequired", 0);
}

/** Before segwit there was no weight: limits are in bytes and plain operations. */
void AddLimits(UniValue& out, bool segwit)
{
    const int64_t scale = segwit ? 1 : kWitnessScaleFactor;
    out.pushKV("sigoplimit", kMaxBlockSigOpsCost / scale);
    out.pushKV("sizelimit", kMaxBlockWeight / scale); // each byte weighs at least one
    if (segwit) out.pushKV("weightlimit", kMaxBlockWeight);
}

UniValue Strings(std::initializer_list<const char*> texts)
{
    UniValue out(UniValue::VARR);
    for (const char* text : texts) out.push_back(text);
    return out;
}

/** "depends": the positions, from 1, of the template's transactions that the inputs spend. */
UniValue TransactionsJson(const BlockTemplate& block, bool segwit)
{
    std::map<Txid, size_t> places;
    UniValue out(UniValue::VARR);
    for (size_t i = 0; i < block.txs.size(); ++i) {
        const Transaction& tx = *block.txs[i];
        places[tx.Id()] = i + 1;
        UniValue depends(UniValue::VARR);
        for (const InputView& input : tx->inputs) {
            const auto it = places.find(input.Prevout().txid);
            if (it != places.end()) depends.push_back(Num(it->second));
        }
        UniValue one(UniValue::VOBJ);
        one.pushKV("data", ToHex(tx->raw));
        one.pushKV("txid", tx.Id().ToHex());
        one.pushKV("hash", tx.WitnessId().ToHex());
        one.pushKV("depends", depends);
        one.pushKV("fee", Num(block.costs[i].fee));
        one.pushKV("sigops", Num(block.costs[i].sigops / (segwit ? 1 : kWitnessScaleFactor)));
        one.pushKV("weight", Num(tx->Weight()));
        out.push_back(one);
    }
    return out;
}

UniValue TemplateJson(MiningContext& context, ChainManager& chain)
{
    const Lock own(context.mutex);
    const ConsensusParams& params = chain.Params().consensus;
    const BlockTemplate& block = Current(context, chain);
    const HeaderNode& tip = *chain.Read().Find(block.header.prev_hash);
    BlockHeader header = block.header;
    UpdateTime(header, tip, params, context.chain.env.UnixTime());
    UniValue out(UniValue::VOBJ);
    out.pushKV("capabilities", Strings({"proposal"}));
    AddRules(out, block, tip, params);
    out.pushKV("previousblockhash", tip.hash.ToHex());
    out.pushKV("transactions", TransactionsJson(block, block.height >= params.segwit_height));
    out.pushKV("coinbaseaux", UniValue(UniValue::VOBJ));
    out.pushKV("coinbasevalue", Num(block.coinbase.outputs[0].value));
    out.pushKV("longpollid", tip.hash.ToHex() + std::to_string(context.changes));
    out.pushKV("target", Arith256::FromCompact(header.bits).ToHex());
    out.pushKV("mintime", Num(MinimumBlockTime(tip, params)));
    out.pushKV("mutable", Strings({"time", "transactions", "prevblock"}));
    out.pushKV("noncerange", "00000000ffffffff");
    AddLimits(out, block.height >= params.segwit_height);
    out.pushKV("curtime", Num(header.time));
    out.pushKV("bits", fmt::format("{:08x}", header.bits));
    out.pushKV("height", Num(block.height));
    if (params.signet_blocks) out.pushKV("signet_challenge", ToHex(params.signet_challenge));
    out.pushKV("default_witness_commitment", ToHex(block.CommitmentScript()));
    return out;
}

UniValue GetTemplate(MiningContext& context, const RpcCall& call)
{
    const UniValue& request = call.At(0);
    const std::string mode = ModeOf(request);
    if (mode == "proposal") return Propose(context.chain, request["data"]);
    const std::set<std::string> rules = RulesOf(request);
    if (mode != "template") throw RpcError{RpcCode::kInvalidParameter, "Invalid mode"};
    ChainManager& chain = context.chain.Chain();
    // On a network with value, templates require peers and a synced chain.
    if (!chain.Params().is_test_chain) {
        if (!context.count_peers || context.count_peers() == 0) {
            throw RpcError{RpcCode::kClientNotConnected, "ibd-booster is not connected!"};
        }
        if (chain.IsInitialBlockDownload()) {
            throw RpcError{RpcCode::kInitialDownload,
                           "ibd-booster is in initial sync and waiting for blocks..."};
        }
    }
    if (!request["longpollid"].isNull()) WaitForNews(context, request["longpollid"]);
    RequireRules(chain.Params().consensus, rules);
    return TemplateJson(context, chain);
}

} // namespace

void AddBlockTemplateMethods(RpcTable& table, MiningContext& context)
{
    table.Add(
        {"mining",
         "getblocktemplate",
         "A template of the next block, or the verdict on a proposed one (BIP22, BIP23).",
         {{"template_request",
           RpcType::kObject,
           true,
           "",
           "mode: template (default) or proposal; capabilities: ignored; rules: supported by the "
           "client, at least segwit; longpollid: wait until the template with this id is out of "
           "date; data: the block of a proposal, as hex",
           {},
           "{\"mode\":\"str\",\"capabilities\":[\"str\",...],\"rules\":[\"segwit\",\"str\",...],"
           "\"longpollid\":\"str\",\"data\":\"hex\"}"}},
         "{\n  \"capabilities\": [ \"proposal\" ], \"version\": n, \"rules\": [ \"str\", ... ],\n"
         "  \"vbavailable\": { \"name\": bit, ... }, \"vbrequired\": 0,\n"
         "  \"previousblockhash\": \"hex\", \"transactions\": [ ... ], \"coinbaseaux\": { },\n"
         "  \"coinbasevalue\": n, \"longpollid\": \"str\", \"target\": \"hex\", \"mintime\": n,\n"
         "  \"mutable\": [ \"time\", \"transactions\", \"prevblock\" ],\n"
         "  \"noncerange\": \"00000000ffffffff\", \"sigoplimit\": n, \"sizelimit\": n,\n"
         "  \"weightlimit\": n, \"curtime\": n, \"bits\": \"hex\", \"height\": n,\n"
         "  \"signet_challenge\": \"hex\", \"default_witness_commitment\": \"hex\"\n}\n"
         "null or \"str\"    (string) For a proposal: null if it is valid, else the reason",
         "'{\"rules\": [\"segwit\"]}'",
         [&context](const RpcCall& call) { return GetTemplate(context, call); }});
}

UniValue Bip22Result(const RuleResult& verdict)
{
    if (!verdict) return {};
    return verdict->reason.empty() ? std::string("rejected") : verdict->reason;
}

} // namespace ibd

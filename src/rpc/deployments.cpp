// getdeploymentinfo; see blockchain.h.
#include "consensus/script_flags.h"
#include "consensus/versionbits.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"

namespace ibd {

namespace {

/** Script flags of a block, by name. */
constexpr std::pair<const char*, ScriptFlags> kFlagNames[] = {
    {"CHECKLOCKTIMEVERIFY", kVerifyCltv},
    {"CHECKSEQUENCEVERIFY", kVerifyCsv},
    {"DERSIG", kVerifyDerSig},
    {"NULLDUMMY", kVerifyNullDummy},
    {"P2SH", kVerifyP2sh},
    {"TAPROOT", kVerifyTaproot},
    {"WITNESS", kVerifyWitness},
};

UniValue FlagsJson(ScriptFlags flags)
{
    UniValue out(UniValue::VARR);
    for (const auto& [name, flag] : kFlagNames) {
        if (flags & flag) out.push_back(name);
    }
    return out;
}

UniValue BuriedJson(const HeaderNode& block, int height)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("type", "buried");
    out.pushKV("active", Bool(block.height + 1 >= height)); // for the next block
    out.pushKV("height", Num(height));
    return out;
}

/** Signalling up to `block`; the threshold is shown only until lock-in. */
void AddSignalling(UniValue& out, const Ancestry& branch, const Bip9Deployment& deployment,
                   bool started)
{
    std::vector<bool> signals;
    const Bip9Stats stats = DeploymentStats(branch, deployment, &signals);
    UniValue json(UniValue::VOBJ);
    json.pushKV("period", Num(stats.period));
    json.pushKV("elapsed", Num(stats.elapsed));
    json.pushKV("count", Num(stats.count));
    if (started) {
        json.pushKV("threshold", Num(stats.threshold));
        json.pushKV("possible", Bool(stats.possible));
    }
    out.pushKV("statistics", json);
    std::string text;
    for (const bool signal : signals) text.push_back(signal ? '#' : '-');
    out.pushKV("signalling", text);
}

UniValue Bip9Json(const HeaderNode& block, const Bip9Deployment& deployment)
{
    const NodeAncestry before(block.prev), branch(&block);
    ThresholdCache cache;
    const ThresholdState now = DeploymentState(before, deployment, cache);
    const ThresholdState next = DeploymentState(branch, deployment, cache);
    const int since = DeploymentStateSince(before, deployment, cache);
    const bool started = now == ThresholdState::kStarted;
    const bool signalling = started || now == ThresholdState::kLockedIn;
    UniValue bip9(UniValue::VOBJ);
    if (signalling) bip9.pushKV("bit", Num(deployment.bit));
    bip9.pushKV("start_time", Num(deployment.start_time));
    bip9.pushKV("timeout", Num(deployment.timeout));
    bip9.pushKV("min_activation_height", Num(deployment.min_activation_height));
    bip9.pushKV("status", ThresholdStateName(now));
    bip9.pushKV("since", Num(since));
    bip9.pushKV("status_next", ThresholdStateName(next));
    if (signalling) AddSignalling(bip9, branch, deployment, started);

    UniValue out(UniValue::VOBJ);
    out.pushKV("type", "bip9");
    const bool active = next == ThresholdState::kActive; // final
    if (active) {
        out.pushKV("height", Num(now == ThresholdState::kActive ? since : block.height + 1));
    }
    out.pushKV("active", Bool(active));
    out.pushKV("bip9", bip9);
    return out;
}

UniValue DeploymentsJson(const HeaderNode& block, const ConsensusParams& params)
{
    UniValue out(UniValue::VOBJ);
    using enum BuriedDeployment;
    for (const auto buried : {kHeightInCoinbase, kDerSig, kCltv, kCsv, kSegwit}) {
        out.pushKV(std::string(DeploymentName(buried)),
                   BuriedJson(block, BuriedHeight(params, buried)));
    }
    for (const auto id : {DeploymentId::kTestDummy, DeploymentId::kTaproot}) {
        const Bip9Deployment& deployment = params.Deployment(id);
        if (deployment.start_time == Bip9Deployment::kNeverActive) continue;
        out.pushKV(std::string(DeploymentName(id)), Bip9Json(block, deployment));
    }
    return out;
}

UniValue DeploymentInfo(const ChainContext& context, const RpcCall& call)
{
    const ChainManager& chain = context.Headers();
    const HeaderNode& block =
        call.Has(0) ? FindBlock(chain.Read(), call.Hash(0, "blockhash")) : TipOrGenesis(context);
    const ConsensusParams& params = chain.Params().consensus;
    UniValue out(UniValue::VOBJ);
    out.pushKV("hash", block.hash.ToHex());
    out.pushKV("height", Num(block.height));
    out.pushKV("script_flags", FlagsJson(BlockScriptFlags(block.height, block.hash, params)));
    out.pushKV("deployments", DeploymentsJson(block, params));
    return out;
}

const char* const kResult =
    "{\n"
    "  \"hash\": \"hex\",                    (string) The block\n"
    "  \"height\": n,                      (numeric) Its height\n"
    "  \"script_flags\": [ \"str\", ... ],   (json array) Rules for its scripts\n"
    "  \"deployments\": {\n"
    "    \"name\": {                       bip34, bip66, bip65, csv, segwit, testdummy, taproot\n"
    "      \"type\": \"str\",                (string) buried: by height; bip9: by version bits\n"
    "      \"height\": n,                  (numeric) First block, if that is known\n"
    "      \"active\": bool,               (boolean) Whether the next block must comply\n"
    "      \"bip9\": {\n"
    "        \"bit\": n,                   (numeric) While it is signalled\n"
    "        \"start_time\": n,            (numeric) -1: always active\n"
    "        \"timeout\": n,               (numeric) Median time at which it fails\n"
    "        \"min_activation_height\": n, (numeric) Locked in until then\n"
    "        \"status\": \"str\",            (string) At the block: defined, started, locked_in,\n"
    "                                    active or failed\n"
    "        \"since\": n,                 (numeric) First height with that status\n"
    "        \"status_next\": \"str\",       (string) At the next block\n"
    "        \"statistics\": {             Of the period, while it is signalled\n"
    "          \"period\": n, \"elapsed\": n, \"count\": n,\n"
    "          \"threshold\": n, \"possible\": bool    while it is started\n"
    "        },\n"
    "        \"signalling\": \"str\"         (string) One # or - for each elapsed block\n"
    "      }\n"
    "    }, ...\n"
    "  }\n"
    "}";

} // namespace

void AddDeploymentMethods(RpcTable& table, ChainContext& context)
{
    table.Add({"blockchain",
               "getdeploymentinfo",
               "Shows which soft forks are active at a block, and the state of version-bits "
               "deployments.",
               {{"blockhash", RpcType::kHex, false, "hash of the tip", "The block"}},
               kResult,
               "",
               [&context](const RpcCall& call) { return DeploymentInfo(context, call); }});
    table.AnswerEarly({"getdeploymentinfo"});
}

} // namespace ibd

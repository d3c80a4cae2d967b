// The calls about PSBTs that need neither keys nor coins; see util_calls.h.
#include "crypto/random_stream.h"
#include "psbt/combine.h"
#include "psbt/sign_psbt.h"
#include "rpc/psbt_json.h"
#include "rpc/tx_build.h"
#include "rpc/tx_decode.h"
#include "rpc/util_calls.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr char kPsbtResult[] = "\"base64\"    (string) The PSBT";

uint32_t PsbtVersionArgument(const RpcCall& call, size_t argument)
{
    const uint32_t version = call.Has(argument) ? call.Uint32(argument) : 0;
    if (version == 0 || version == kPsbtVersion2) return version;
    throw RpcError{RpcCode::kInvalidParameter, "The PSBT version can only be 2 or 0"};
}

UniValue CreatePsbt(const ChainContext& context, const RpcCall& call)
{
    const MutableTransaction tx = BuildTransaction(call, context.Prefixes());
    return PsbtText(Psbt::FromTransaction(tx, PsbtVersionArgument(call, 5)));
}

UniValue ConvertToPsbt(const RpcCall& call)
{
    std::optional<bool> is_witness;
    if (call.Has(2)) is_witness = call.Bool(2, false);
    const TransactionRef tx = DecodeTx(call.String(0), is_witness);
    if (!tx) throw RpcError{RpcCode::kDeserialization, "TX decode failed"};
    const auto& inputs = tx->View().inputs;
    const bool is_signed = std::any_of(inputs.begin(), inputs.end(), [](const InputView& input) {
        return !input.script_sig.empty() || input.witness_items > 0;
    });
    if (is_signed && !call.Bool(1, false)) {
        throw RpcError{RpcCode::kDeserialization,
                       "Inputs must not have scriptSigs and scriptWitnesses"};
    }
    const uint32_t version = PsbtVersionArgument(call, 3);
    return PsbtText(Psbt::FromTransaction(MutableTransaction::FromView(tx->View()), version));
}

UniValue CombinePsbts(const RpcCall& call)
{
    const UniValue& list = call.At(0);
    if (list.empty()) {
        throw RpcError{RpcCode::kInvalidParameter, "Parameter 'txs' cannot be empty"};
    }
    std::vector<Psbt> psbts;
    for (const UniValue& one : list.getValues()) psbts.push_back(ParsePsbt(one));
    for (size_t i = 1; i < psbts.size(); ++i) {
        if (CombinePsbt(psbts[0], psbts[i])) continue;
        throw RpcError{RpcCode::kInvalidParameter, "PSBTs not compatible (different transactions)"};
    }
    return PsbtText(psbts[0]);
}

/** Highest version, lowest lock time: valid for all of them. */
Psbt EmptyFor(const std::vector<Psbt>& psbts)
{
    MutableTransaction tx;
    tx.version = 1;
    tx.lock_time = 0xffffffff;
    for (const Psbt& psbt : psbts) {
        tx.version = std::max(tx.version, psbt.tx_version);
        tx.lock_time = std::min(tx.lock_time, psbt.fallback_lock_time.value_or(0));
    }
    return Psbt::FromTransaction(tx, 0);
}

UniValue JoinPsbts(const ChainContext& context, const RpcCall& call)
{
    const UniValue& list = call.At(0);
    if (list.size() <= 1) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "At least two PSBTs are required to join PSBTs."};
    }
    std::vector<Psbt> psbts;
    for (const UniValue& one : list.getValues()) {
        psbts.push_back(ParsePsbt(one));
        if (psbts.back().version == 0) continue;
        throw RpcError{RpcCode::kInvalidParameter, "joinpsbts only operates on version 0 PSBTs"};
    }
    Psbt joined = EmptyFor(psbts);
    for (const Psbt& psbt : psbts) {
        if (const auto twice = JoinPsbt(joined, psbt)) {
            ThrowRpc(RpcCode::kInvalidParameter, "Input {}:{} exists in multiple PSBTs",
                     twice->txid.ToHex(), twice->vout);
        }
    }
    // Shuffles, to hide which inputs and outputs came together.
    Hash32 seed;
    context.env.RandomBytes(seed);
    RandomStream chance(seed);
    chance.Shuffle(joined.inputs);
    chance.Shuffle(joined.outputs);
    return PsbtText(joined);
}

UniValue Finalize(const RpcCall& call)
{
    Psbt psbt = ParsePsbt(call.At(0));
    const auto tx = FinalizeAndExtract(psbt);
    UniValue out(UniValue::VOBJ);
    if (tx && call.Bool(1, true)) {
        out.pushKV("hex", ToHex(tx->Serialize()));
    } else {
        out.pushKV("psbt", PsbtText(psbt));
    }
    out.pushKV("complete", Bool(tx.has_value()));
    return out;
}

RpcArg PsbtsArg()
{
    return {"txs", RpcType::kArray,     true,
            "",    "The PSBTs, base64", {{"psbt", RpcType::kString, false, "", "One of them"}}};
}

RpcArg VersionArg()
{
    return {"psbt_version", RpcType::kNumber, false, "0", "Version of the PSBT: 0 or 2 (BIP370)"};
}

RpcMethod CreateMethod(ChainContext& context)
{
    std::vector<RpcArg> args = TransactionArgs();
    args.push_back(VersionArg());
    return {"rawtransactions",
            "createpsbt",
            "Makes a PSBT of a transaction with the given inputs and outputs; see "
            "createrawtransaction.",
            args,
            kPsbtResult,
            "'[{\"txid\":\"myid\",\"vout\":0}]' '[{\"address\":0.01}]'",
            [&context](const RpcCall& call) { return CreatePsbt(context, call); }};
}

RpcMethod ConvertMethod()
{
    return {"rawtransactions",
            "converttopsbt",
            "Converts a transaction into a PSBT.",
            {{"hexstring", RpcType::kHex, true, "", "The transaction"},
             {"permitsigdata", RpcType::kBool, false, "false",
              "Whether to remove signatures; otherwise a transaction with signatures is refused"},
             {"iswitness", RpcType::kBool, false, "depends on heuristic tests",
              "Whether it is in the form with witnesses; without this the node tries both"},
             VersionArg()},
            kPsbtResult,
            "\"rawtransaction\"",
            ConvertToPsbt};
}

RpcMethod DecodeMethod(ChainContext& context)
{
    return {"rawtransactions",
            "decodepsbt",
            "Decodes a PSBT into an object. Missing fields are omitted.",
            {PsbtArg()},
            "{\n"
            "  \"tx\" : {...},                 (json object) Version 0: as decoderawtransaction\n"
            "  \"global_xpubs\" : [ { \"xpub\", \"master_fingerprint\", \"path\" }, ... ],\n"
            "  \"tx_version\" : n, \"fallback_locktime\" : n, \"input_count\" : n,\n"
            "  \"output_count\" : n, \"inputs_modifiable\" : bool, \"outputs_modifiable\" : bool,\n"
            "  \"has_sighash_single\" : bool,  (boolean) These seven: version 2\n"
            "  \"psbt_version\" : n,           (numeric) 0 or 2\n"
            "  \"proprietary\" : [ { \"identifier\", \"subtype\", \"key\", \"value\" }, ... ],\n"
            "  \"unknown\" : { \"key\": \"value\", ... },  (json object) Hex\n"
            "  \"inputs\" : [ {...}, ... ],    (json array) One object each\n"
            "  \"outputs\" : [ {...}, ... ],   (json array) Likewise\n"
            "  \"fee\" : n                     (numeric) Bitcoin, if all spent outputs are known\n"
            "}",
            "\"psbt\"",
            [&context](const RpcCall& call) {
                return PsbtJson(ParsePsbt(call.At(0)), context.Prefixes());
            }};
}

RpcMethod FinalizeMethod()
{
    return {"rawtransactions",
            "finalizepsbt",
            "Makes final scripts and witnesses of inputs that have all signatures.",
            {PsbtArg(),
             {"extract", RpcType::kBool, false, "true",
              "Whether to return the transaction, if it is complete"}},
            "{\n  \"psbt\" : \"base64\",   (string) If it is not complete, or not to be extracted\n"
            "  \"hex\" : \"hex\",       (string) The transaction\n"
            "  \"complete\" : bool    (boolean) Whether all inputs are signed\n}",
            "\"psbt\"",
            Finalize};
}

RpcMethod AnalyzeMethod()
{
    return {
        "rawtransactions",
        "analyzepsbt",
        "Shows the missing parts of a PSBT, and the role that has to add the next part.",
        {PsbtArg()},
        "{\n"
        "  \"inputs\" : [ {\n"
        "    \"has_utxo\" : bool,         (boolean) Whether the spent output is known\n"
        "    \"is_final\" : bool,         (boolean) Whether it is signed\n"
        "    \"next\" : \"str\",            (string) updater, signer, finalizer or extractor\n"
        "    \"missing\" : { \"pubkeys\": [...], \"redeemscript\", \"witnessscript\",\n"
        "      \"signatures\": [...] }    (json object) By their hashes\n"
        "  }, ... ],\n"
        "  \"estimated_vsize\" : n,       (numeric) When all have signed\n"
        "  \"estimated_feerate\" : n,     (numeric) Bitcoin per 1,000 virtual bytes\n"
        "  \"fee\" : n,                   (numeric) Bitcoin\n"
        "  \"next\" : \"str\",              (string) The earliest role that an input needs\n"
        "  \"error\" : \"str\"              (string) Why it cannot become valid\n"
        "}",
        "\"psbt\"",
        [](const RpcCall& call) { return PsbtAnalysisJson(AnalyzePsbt(ParsePsbt(call.At(0)))); }};
}

} // namespace

void AddPsbtMethods(RpcTable& table, ChainContext& context)
{
    table.Add(CreateMethod(context));
    table.Add(ConvertMethod());
    table.Add(DecodeMethod(context));
    table.Add({"rawtransactions",
               "combinepsbt",
               "Combines several PSBTs of the same transaction into one.",
               {PsbtsArg()},
               kPsbtResult,
               "'[\"mybase64_1\",\"mybase64_2\"]'",
               CombinePsbts});
    table.Add({"rawtransactions",
               "joinpsbts",
               "Joins several PSBTs into one of version 0 with all inputs and outputs, in random "
               "order. They must not spend the same outputs.",
               {PsbtsArg()},
               kPsbtResult,
               "'[\"mybase64_1\",\"mybase64_2\"]'",
               [&context](const RpcCall& call) { return JoinPsbts(context, call); }});
    table.Add(FinalizeMethod());
    table.Add(AnalyzeMethod());
    table.AnswerEarly({"createpsbt", "converttopsbt", "decodepsbt", "combinepsbt", "joinpsbts",
                       "finalizepsbt", "analyzepsbt"});
}

} // namespace ibd

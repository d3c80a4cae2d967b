// scantxoutset: finds unspent outputs by descriptors; see blockchain.h.
#include "jsonrpc/json.h"
#include "rpc/amount_json.h"
#include "rpc/blockchain.h"
#include "rpc/descriptors.h"
#include "rpc/scan_turn.h"
#include "util/hex.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ibd {

namespace {

/** Coins between two checks for a stop request. */
constexpr uint64_t kCheckEvery = 8192;

using Wanted = std::map<Bytes, WatchedScript>; //!< by the script

Wanted CollectScripts(const UniValue& objects, const ChainParams& params)
{
    Wanted wanted;
    for (const UniValue& object : objects.getValues()) {
        for (WatchedScript& one : ExpandScanObject(object, params)) {
            Bytes script = std::exchange(one.script, {});
            wanted.emplace(std::move(script), std::move(one));
        }
    }
    return wanted;
}

int Percent(const Txid& txid)
{
    return static_cast<int>(std::lround(PlaceInWalk(txid) * 100.0 / 65536));
}

UniValue UnspentJson(const OutPoint& outpoint, const Coin& coin, const std::string& descriptor,
                     const HeaderNode& tip)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("txid", outpoint.txid.ToHex());
    out.pushKV("vout", Num(outpoint.vout));
    out.pushKV("scriptPubKey", ToHex(coin.script));
    out.pushKV("desc", descriptor);
    out.pushKV("amount", AmountJson(coin.value));
    out.pushKV("coinbase", Bool(coin.coinbase));
    out.pushKV("height", Num(coin.height));
    out.pushKV("blockhash", tip.Ancestor(static_cast<int>(coin.height))->hash.ToHex());
    out.pushKV("confirmations", Num(tip.height - static_cast<int64_t>(coin.height) + 1));
    return out;
}

UniValue Scan(const ChainContext& context, TurnState& state, const Wanted& wanted)
{
    const auto walk = context.WalkCoins(nullptr);
    const HeaderNode& tip = walk->Block();
    UniValue unspents(UniValue::VARR);
    std::map<Bytes, std::string> descriptions; //!< of the scripts found so far
    Amount total = 0;
    uint64_t count = 0;
    bool complete = true;
    OutPoint outpoint;
    Coin coin;
    while (OrThrow(walk->Next(outpoint, coin))) {
        if (count++ % kCheckEvery == 0) {
            if (context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
            if (state.abort) {
                complete = false;
                break;
            }
            state.percent = Percent(outpoint.txid);
        }
        const ByteSpan script = coin.script;
        const auto found = wanted.find(Bytes(script.begin(), script.end()));
        if (found == wanted.end()) continue;
        const auto [description, is_new] = descriptions.try_emplace(found->first);
        if (is_new) description->second = found->second.Describe();
        unspents.push_back(UnspentJson(outpoint, coin, description->second, tip));
        total += coin.value;
    }
    if (complete) state.percent = 100;
    UniValue out(UniValue::VOBJ);
    out.pushKV("success", Bool(complete));
    out.pushKV("txouts", Num(count));
    out.pushKV("height", Num(tip.height));
    out.pushKV("bestblock", tip.hash.ToHex());
    out.pushKV("unspents", unspents);
    out.pushKV("total_amount", AmountJson(total));
    return out;
}

UniValue StartScan(const ChainContext& context, TurnState& state, const RpcCall& call)
{
    if (call.Count() < 2) {
        throw RpcError{RpcCode::kMisc, "scanobjects argument is required for the start action"};
    }
    return Scan(context, state, CollectScripts(ScanObjects(call), context.Chain().Params()));
}

} // namespace

void AddScanMethods(RpcTable& table, ChainContext& context)
{
    const auto state = std::make_shared<TurnState>();
    table.Add({"blockchain", "scantxoutset",
               "Finds the unspent outputs of descriptors. Reads the whole chainstate.", ScanArgs(),
               "{\n"
               "  \"success\" : bool,            (boolean) Whether the scan came to its end\n"
               "  \"txouts\" : n,                (numeric) Unspent outputs that were read\n"
               "  \"height\" : n,                (numeric) Height of the tip\n"
               "  \"bestblock\" : \"hex\",         (string) Hash of the tip\n"
               "  \"unspents\" : [               (json array) Unspent outputs of the descriptors\n"
               "    {\n"
               "      \"txid\" : \"hex\",          (string) The transaction that made the output\n"
               "      \"vout\" : n,              (numeric) Number of the output\n"
               "      \"scriptPubKey\" : \"hex\",  (string) Its script\n"
               "      \"desc\" : \"str\",          (string) A descriptor of it\n"
               "      \"amount\" : n,            (numeric) Its amount, bitcoin\n"
               "      \"coinbase\" : bool,       (boolean) Whether a coinbase made it\n"
               "      \"height\" : n,            (numeric) Height of its block\n"
               "      \"blockhash\" : \"hex\",     (string) Hash of its block\n"
               "      \"confirmations\" : n      (numeric) Blocks from its block to the tip\n"
               "    }, ...\n"
               "  ],\n"
               "  \"total_amount\" : n           (numeric) Amount of all that were found, bitcoin\n"
               "}",
               "start '[\"raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy\"]'\n"
               "status\nabort",
               [&context, state](const RpcCall& call) {
                   return AnswerScan(call, *state,
                                     [&] { return StartScan(context, *state, call); });
               }});
}

} // namespace ibd

// The call that submits a package to the pool; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/amount_json.h"
#include "rpc/mempool.h"
#include "rpc/tx_build.h"

#include <algorithm>

namespace ibd {

namespace {

bool Spends(const Transaction& tx, const Txid& id)
{
    return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                       [&](const InputView& input) { return input.Prevout().txid == id; });
}

/** Whether the last one spends all others, and none of these spends another. */
bool IsChildWithParents(Package package)
{
    const Package parents = package.first(package.size() - 1);
    return std::all_of(parents.begin(), parents.end(), [&](const TransactionRef& parent) {
        return Spends(*package.back(), parent->Id()) &&
               std::none_of(parents.begin(), parents.end(), [&](const TransactionRef& other) {
                   return Spends(*other, parent->Id());
               });
    });
}

UniValue FeesJson(const PackageTx& tx)
{
    UniValue fees(UniValue::VOBJ);
    fees.pushKV("base", AmountJson(tx.fee));
    if (tx.kind == PackageTx::Kind::kAccepted) {
        UniValue together(UniValue::VARR);
        for (const Wtxid& id : tx.together) together.push_back(id.ToHex());
        fees.pushKV("effective-feerate", AmountJson(tx.rate));
        fees.pushKV("effective-includes", together);
    }
    return fees;
}

UniValue TxJson(const Transaction& tx, const PackageSubmission& result)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("txid", tx.Id().ToHex());
    const auto it = result.txs.find(tx.WitnessId());
    if (it == result.txs.end()) {
        out.pushKV("error", "package-not-validated");
        return out;
    }
    const PackageTx& one = it->second;
    switch (one.kind) {
    case PackageTx::Kind::kRefused:
        out.pushKV("error", one.violation ? one.violation->ToString() : "");
        break;
    case PackageTx::Kind::kOtherWitness: out.pushKV("other-wtxid", one.other.ToHex()); break;
    case PackageTx::Kind::kAccepted:
    case PackageTx::Kind::kInPool:
        out.pushKV("vsize", Num(one.vsize));
        out.pushKV("fees", FeesJson(one));
        break;
    }
    return out;
}

UniValue ResultJson(Package package, const PackageSubmission& result)
{
    UniValue txs(UniValue::VOBJ);
    for (const TransactionRef& tx : package) {
        txs.pushKV(tx->WitnessId().ToHex(), TxJson(*tx, result));
    }
    UniValue replaced(UniValue::VARR);
    for (const auto& [id, tx] : result.replaced) replaced.push_back(id.ToHex());
    UniValue out(UniValue::VOBJ);
    out.pushKV("package_msg", result.violation ? result.violation->ToString() : "success");
    out.pushKV("tx-results", txs);
    out.pushKV("replaced-transactions", replaced);
    return out;
}

/** Announces the transactions that are in the pool, even if they were there before. As in Core,
 *  they are not announced again if no peer fetches them. */
void Announce(const PoolContext& context, Package package)
{
    if (!context.announce) return;
    for (const TransactionRef& tx : package) {
        if (const TransactionRef taken = FindInPool(context.pool, tx->Id())) {
            context.announce(taken);
        }
    }
}

UniValue Submit(const PoolContext& context, const RpcCall& call)
{
    RequirePackageCount(call.At(0));
    const Amount rate = ParseFeeRate(call.Has(1) ? call.At(1) : UniValue(kDefaultMaxFeeRate));
    const Amount most_burnt = call.Has(2) ? ParseAmount(call.At(2)) : 0;
    const std::vector<TransactionRef> txs = ParsePackage(call.At(0));
    for (const TransactionRef& tx : txs) RefuseBurning(tx->View(), most_burnt);
    if (txs.size() > 1 && !IsChildWithParents(txs)) {
        throw RpcError{RpcCode::kVerify,
                       "package topology disallowed. not child-with-parents or parents depend on "
                       "each other."};
    }
    (void)context.chain.Chain(); // while the pool is being loaded, calls answer with that
    const int64_t now = context.chain.env.UnixTime();
    const Arrival arrival{.now = now, .time = now, .most_rate = rate};
    const PackageSubmission result = OrThrow(context.submission.SubmitPackage(txs, arrival));
    Announce(context, txs);
    return ResultJson(txs, result);
}

} // namespace

void AddSubmitPackageMethod(RpcTable& table, PoolContext& context)
{
    table.Add({"rawtransactions",
               "submitpackage",
               "Puts a transaction and its parents into this node's pool, and announces them to "
               "peers. A parent may pay less than the minimum if its child pays for both.",
               {{"package",
                 RpcType::kArray,
                 true,
                 "",
                 "Up to 25 transactions as hex, the child last; its parents may not spend each "
                 "other, and may be omitted if they are in the pool",
                 {{"rawtx", RpcType::kHex, false, "", "One of them"}}},
                {"maxfeerate", RpcType::kAmount, false, kDefaultMaxFeeRate,
                 "Highest fee rate, bitcoin per 1,000 virtual bytes, below 1; 0: no limit"},
                {"maxburnamount", RpcType::kAmount, false, "0.00",
                 "Refuse an unspendable output above this amount, bitcoin"}},
               "{\n"
               "  \"package_msg\": \"str\",                      (string) success, or the error "
               "of the package\n"
               "  \"tx-results\": {                            (json object) By hash with "
               "witness\n"
               "    \"wtxid\": {\n"
               "      \"txid\": \"hex\",                         (string) Id of the transaction\n"
               "      \"other-wtxid\": \"hex\",                  (string) Hash with witness of a "
               "transaction of the pool\n"
               "                                             with the same txid, which stays\n"
               "      \"vsize\": n,                            (numeric) Virtual bytes; left out "
               "with an error\n"
               "      \"fees\": {                              (json object) Left out with an "
               "error\n"
               "        \"base\": n,                           (numeric) Fee that it pays, "
               "bitcoin\n"
               "        \"effective-feerate\": n,              (numeric) Fee rate by which it "
               "was judged, BTC/kvB\n"
               "        \"effective-includes\": [ \"wtxid\" ]    (json array) Transactions that "
               "the rate counts\n"
               "      },\n"
               "      \"error\": \"str\"                         (string) Why it was refused\n"
               "    }, ...\n"
               "  },\n"
               "  \"replaced-transactions\": [ \"txid\" ]        (json array) Transactions that "
               "left the pool for it\n"
               "}",
               "'[\"raw-parent-tx-1\",\"raw-child-tx\"]'",
               [&context](const RpcCall& call) { return Submit(context, call); }});
}

} // namespace ibd

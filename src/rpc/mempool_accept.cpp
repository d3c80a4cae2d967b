// The call that tests whether the pool would accept transactions; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/amount_json.h"
#include "rpc/mempool.h"
#include "rpc/tx_build.h"
#include "rpc/tx_decode.h"

namespace ibd {

namespace {

/** A single transaction gets a more detailed verdict than a package of one. */
PackageVerdict Ask(const PoolContext& context, Package txs)
{
    (void)context.chain.Chain(); // while the pool is being loaded, calls answer with that
    const int64_t now = context.chain.env.UnixTime();
    if (txs.size() > 1) return OrThrow(context.submission.TestPackage(txs, now));
    PackageVerdict out;
    out.txs[txs[0]->WitnessId()] = OrThrow(context.submission.Test(txs[0], now));
    return out;
}

void AppendRefused(UniValue& out, const RuleViolation& why)
{
    out.pushKV("allowed", Bool(false));
    if (why.kind == RuleViolation::Kind::kMissingInputs) {
        out.pushKV("reject-reason", "missing-inputs");
        return;
    }
    out.pushKV("reject-reason", why.reason);
    out.pushKV("reject-details", why.ToString());
}

void AppendAllowed(UniValue& out, const Wtxid& id, const TxVerdict& verdict)
{
    UniValue together(UniValue::VARR);
    together.push_back(id.ToHex());
    UniValue fees(UniValue::VOBJ);
    fees.pushKV("base", AmountJson(verdict.fee));
    fees.pushKV("effective-feerate", AmountJson(RateOf({verdict.modified_fee, verdict.vsize})));
    fees.pushKV("effective-includes", together);
    out.pushKV("allowed", Bool(true));
    out.pushKV("vsize", Num(verdict.vsize));
    out.pushKV("fees", fees);
}

/** False: it pays more than `max_rate`, and later verdicts are not reported. */
bool AppendVerdict(UniValue& out, const Wtxid& id, const TxVerdict& verdict, Amount max_rate)
{
    const Amount most = FeeAt(max_rate, verdict.vsize);
    if (verdict.violation) {
        AppendRefused(out, *verdict.violation);
    } else if (most > 0 && verdict.fee > most) {
        out.pushKV("allowed", Bool(false));
        out.pushKV("reject-reason", "max-fee-exceeded");
        return false;
    } else {
        AppendAllowed(out, id, verdict);
    }
    return true;
}

UniValue TestAccept(const PoolContext& context, const RpcCall& call)
{
    RequirePackageCount(call.At(0));
    const Amount max_rate = ParseFeeRate(call.Has(1) ? call.At(1) : UniValue(kDefaultMaxFeeRate));
    const std::vector<TransactionRef> txs = ParsePackage(call.At(0));
    const PackageVerdict verdict = Ask(context, txs);
    UniValue answers(UniValue::VARR);
    bool reported = true;
    for (const TransactionRef& tx : txs) {
        const Wtxid& id = tx->WitnessId();
        UniValue answer(UniValue::VOBJ);
        answer.pushKV("txid", tx->Id().ToHex());
        answer.pushKV("wtxid", id.ToHex());
        if (verdict.violation) answer.pushKV("package-error", verdict.violation->ToString());
        const auto it = verdict.txs.find(id);
        if (reported && it != verdict.txs.end()) {
            reported = AppendVerdict(answer, id, it->second, max_rate);
        }
        answers.push_back(answer);
    }
    return answers;
}

} // namespace

void RequirePackageCount(const UniValue& array)
{
    if (array.size() >= 1 && array.size() <= kMaxPackageCount) return;
    ThrowRpc(RpcCode::kInvalidParameter, "Array must contain between 1 and {} transactions.",
             kMaxPackageCount);
}

std::vector<TransactionRef> ParsePackage(const UniValue& array)
{
    std::vector<TransactionRef> txs;
    for (const UniValue& hex : array.getValues()) {
        TransactionRef tx = DecodeTx(ParseString(hex), /*is_witness=*/true);
        if (!tx) {
            ThrowRpc(RpcCode::kDeserialization,
                     "TX decode failed: {} Make sure the tx has at least one input.",
                     hex.get_str());
        }
        txs.push_back(std::move(tx));
    }
    return txs;
}

Amount ParseFeeRate(const UniValue& value)
{
    const Amount rate = ParseAmount(value);
    if (rate < kCoin) return rate;
    throw RpcError{RpcCode::kInvalidParameter,
                   "Fee rates larger than or equal to 1BTC/kvB are not accepted"};
}

void AddTestAcceptMethod(RpcTable& table, PoolContext& context)
{
    table.Add({"rawtransactions",
               "testmempoolaccept",
               "Checks whether the pool would accept transactions, by the rules of consensus and "
               "of policy. The pool does not change.",
               {{"rawtxs",
                 RpcType::kArray,
                 true,
                 "",
                 "Up to 25 transactions as hex, parents first; transactions that spend each other "
                 "are checked together",
                 {{"rawtx", RpcType::kHex, false, "", "One of them"}}},
                {"maxfeerate", RpcType::kAmount, false, kDefaultMaxFeeRate,
                 "Highest fee rate, bitcoin per 1,000 virtual bytes, below 1; 0: no limit"}},
               "[\n"
               "  {\n"
               "    \"txid\": \"hex\",                       (string) Id of the transaction\n"
               "    \"wtxid\": \"hex\",                      (string) Its hash with witness\n"
               "    \"package-error\": \"str\",              (string) Error of the package as a "
               "whole\n"
               "    \"allowed\": bool,                     (boolean) Whether the pool would take "
               "it; left out if an\n"
               "                                         error of the package came first\n"
               "    \"vsize\": n,                          (numeric) Virtual bytes, if it is "
               "allowed\n"
               "    \"fees\": {                            (json object) If it is allowed\n"
               "      \"base\": n,                         (numeric) Fee that it pays, bitcoin\n"
               "      \"effective-feerate\": n,            (numeric) Fee rate by which it was "
               "judged, BTC/kvB\n"
               "      \"effective-includes\": [ \"wtxid\" ]  (json array) Transactions that the "
               "rate counts\n"
               "    },\n"
               "    \"reject-reason\": \"str\",              (string) Why it is not allowed\n"
               "    \"reject-details\": \"str\"              (string) The reason with details\n"
               "  }, ...\n"
               "]",
               "'[\"signedhex\"]'",
               [&context](const RpcCall& call) { return TestAccept(context, call); }});
}

} // namespace ibd

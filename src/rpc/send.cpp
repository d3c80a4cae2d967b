// The call that submits a transaction to the pool; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/mempool.h"
#include "rpc/network.h"
#include "rpc/tx_build.h"
#include "rpc/tx_decode.h"

#include <algorithm>

namespace ibd {

namespace {

/** As in Core, refuses a transaction if one of its outputs is an unspent coin of the chain. */
void RequireUnconfirmed(const ChainContext& context, const Transaction& tx)
{
    const CoinsGuard coins = context.Chain().HoldCoins();
    for (uint32_t i = 0; i < tx->outputs.size(); ++i) {
        if (!OrThrow(coins.Cache().Read({tx.Id(), i}))) continue;
        throw RpcError{RpcCode::kVerifyAlreadyInChain, "Transaction outputs already in utxo set"};
    }
}

void RequireCheap(bool too_expensive)
{
    if (!too_expensive) return;
    throw RpcError{RpcCode::kVerify,
                   "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"};
}

/** The transaction, or the pool's with its txid if that came during the check. Throws the error of
 *  the verdict if neither is in the pool, and the one for confirmed transactions if a block came.
 *  The pool is read before the chain, because blocks move transactions from the pool to the chain.
 */
TransactionRef Taken(const PoolContext& context, const TransactionRef& tx, const TxVerdict& verdict)
{
    if (!verdict.violation) return tx;
    if (TransactionRef there = FindInPool(context.pool, tx->Id())) return there;
    RequireUnconfirmed(context.chain, *tx);
    const bool missing = verdict.violation->kind == RuleViolation::Kind::kMissingInputs;
    throw RpcError{missing ? RpcCode::kVerify : RpcCode::kVerifyRejected,
                   verdict.violation->ToString()};
}

/** Returns the transaction that is then in the pool. `most`: highest fee; 0: no limit. */
TransactionRef Accept(const PoolContext& context, const TransactionRef& tx, Amount most)
{
    RequireUnconfirmed(context.chain, *tx);
    if (TransactionRef there = FindInPool(context.pool, tx->Id())) return there;
    const int64_t now = context.chain.env.UnixTime();
    const SubmitVerdict out = OrThrow(context.submission.Submit(
        tx, {.arrival = {.now = now, .time = now, .own = true}, .most_fee = most}));
    RequireCheap(out.too_expensive);
    return Taken(context, tx, out.verdict);
}

/** Checks that the pool would accept the transaction, or has it. `most`: highest fee; 0: no limit.
 */
void Examine(const PoolContext& context, const TransactionRef& tx, Amount most)
{
    RequireUnconfirmed(context.chain, *tx);
    if (FindInPool(context.pool, tx->Id())) return;
    const TxVerdict verdict = OrThrow(context.submission.Test(tx, context.chain.env.UnixTime()));
    (void)Taken(context, tx, verdict);
    RequireCheap(most != 0 && verdict.fee > most);
}

void RequirePrivateNetwork(PeerNetwork& network)
{
    const NetworkSet reachable = network.Info().Ways().reachable;
    if (reachable.Contains(AddressNetwork::kOnion) || reachable.Contains(AddressNetwork::kI2p)) {
        return;
    }
    throw RpcError{RpcCode::kMisc,
                   "-privatebroadcast is enabled, but none of the Tor or I2P networks is "
                   "reachable. Maybe the location of the Tor proxy couldn't be retrieved from the "
                   "Tor daemon at startup. Check whether the Tor daemon is running and that "
                   "-torcontrol, -torpassword and -i2psam are configured properly."};
}

void SendPrivately(const PoolContext& context, PeerNetwork& network, const TransactionRef& tx,
                   Amount most)
{
    RequirePrivateNetwork(network);
    Examine(context, tx, most);
    if (network.Txs().SendPrivately(tx) != PrivateAddition::kFull) return;
    throw RpcError{RpcCode::kPrivateQueueFull, "Private broadcast queue is full"};
}

UniValue Send(const PoolContext& context, const NetContext& net, const RpcCall& call)
{
    const Amount most_burnt = call.Has(2) ? ParseAmount(call.At(2)) : 0;
    const TransactionRef tx = DecodeTx(call.String(0), /*is_witness=*/true);
    if (!tx) {
        throw RpcError{RpcCode::kDeserialization,
                       "TX decode failed. Make sure the tx has at least one input."};
    }
    RefuseBurning(tx->View(), most_burnt);
    const Amount rate = ParseFeeRate(call.Has(1) ? call.At(1) : UniValue(kDefaultMaxFeeRate));
    const Amount most = FeeAt(rate, VirtualSize((*tx)->Weight()));
    if (net.private_broadcast) {
        SendPrivately(context, net.Network(), tx, most);
        return tx->Id().ToHex();
    }
    const TransactionRef taken = Accept(context, tx, most);
    if (context.announce) context.announce(taken);
    return tx->Id().ToHex();
}

} // namespace

void RefuseBurning(const TxView& tx, Amount most)
{
    const bool burns = std::any_of(tx.outputs.begin(), tx.outputs.end(), [&](const auto& output) {
        const bool lost =
            IsUnspendable(output.script_pubkey) || !HasValidOperations(output.script_pubkey);
        return lost && output.value > most;
    });
    if (!burns) return;
    throw RpcError{RpcCode::kVerify,
                   "Unspendable output exceeds maximum configured by user (maxburnamount)"};
}

void AddSendMethod(RpcTable& table, PoolContext& context, NetContext& net)
{
    table.Add({"rawtransactions",
               "sendrawtransaction",
               "Puts a transaction into this node's pool, and announces it to peers. With "
               "-privatebroadcast it is instead sent over separate short connections through Tor "
               "and I2P, and enters the pool when a peer sends it back. The call fails while "
               "10,000 transactions wait for that.",
               {{"hexstring", RpcType::kHex, true, "", "The transaction"},
                {"maxfeerate", RpcType::kAmount, false, kDefaultMaxFeeRate,
                 "Highest fee rate, bitcoin per 1,000 virtual bytes, below 1; 0: no limit"},
                {"maxburnamount", RpcType::kAmount, false, "0.00",
                 "Refuse an unspendable output above this amount, bitcoin"}},
               "\"hex\"    (string) Id of the transaction",
               "\"signedhex\"",
               [&context, &net](const RpcCall& call) { return Send(context, net, call); }});
}

} // namespace ibd

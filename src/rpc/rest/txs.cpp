// Transactions and coins; see rest.h.
#include "jsonrpc/json.h"
#include "primitives/serialize.h"
#include "rpc/amount_json.h"
#include "rpc/index_use.h"
#include "rpc/pool_coins.h"
#include "rpc/rest/request.h"
#include "rpc/rest/wanted_coins.h"
#include "rpc/tx_json.h"

#include <algorithm>

namespace ibd::rest {

namespace {

constexpr size_t kMostOutPoints = 15; //!< of a request for coins

/** A transaction of the pool or of the index; null: in neither. */
PlacedTx FindTx(const RestContext& context, const Txid& txid)
{
    const TxIndex* const index = FindIndex(context.chain, &Indexes::Tx);
    if (index) (void)WaitForTip(context.chain, *index);
    if (TransactionRef tx = FindInPool(context.pool, txid)) return {{}, std::move(tx)};
    if (!index) return {};
    auto found = OrThrow(index->Find(context.chain.Headers().Blocks(), txid));
    return found ? std::move(*found) : PlacedTx{};
}

/** The coins at one moment. */
struct CoinsAnswer {
    int32_t height = 0;
    BlockHash tip;
    std::vector<std::optional<Coin>> coins; //!< nothing: spent or unknown
};

CoinsAnswer FindCoins(const RestContext& context, const WantedCoins& wanted)
{
    const CoinsGuard coins = context.chain.Chain().HoldCoins();
    CoinsAnswer out{coins.Tip().height, coins.Tip().hash, {}};
    std::vector<PoolCoin> pool(wanted.outpoints.size());
    if (wanted.with_pool) pool = LookInPool(context.pool, wanted.outpoints);
    for (size_t i = 0; i < pool.size(); ++i) {
        out.coins.push_back(OrThrow(UnspentCoin(coins, pool[i], wanted.outpoints[i])));
    }
    return out;
}

/** A bit for each outpoint, from the lowest of the first byte up. */
Bytes BitsOf(const CoinsAnswer& answer)
{
    Bytes bits((answer.coins.size() + 7) / 8);
    for (size_t i = 0; i < answer.coins.size(); ++i) {
        if (answer.coins[i]) bits[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
    }
    return bits;
}

/** As in BIP64. */
Bytes CoinsBytes(const CoinsAnswer& answer)
{
    Bytes out;
    Writer writer(out);
    writer.U32(static_cast<uint32_t>(answer.height));
    writer.Hash(answer.tip);
    writer.VarBytes(BitsOf(answer));
    writer.CompactSize(static_cast<uint64_t>(
        std::ranges::count_if(answer.coins, [](const auto& coin) { return coin.has_value(); })));
    for (const auto& coin : answer.coins) {
        if (!coin) continue;
        writer.U32(0); // version of the transaction, which is not stored
        writer.U32(coin->height);
        writer.I64(coin->value);
        writer.VarBytes(coin->script);
    }
    return out;
}

UniValue CoinsJson(const CoinsAnswer& answer, const AddressPrefixes& prefixes)
{
    std::string bits;
    UniValue list(UniValue::VARR);
    for (const auto& coin : answer.coins) {
        bits.push_back(coin ? '1' : '0');
        if (!coin) continue;
        UniValue one(UniValue::VOBJ);
        one.pushKV("height", Num(coin->height));
        one.pushKV("value", AmountJson(coin->value));
        one.pushKV("scriptPubKey", ScriptPubKeyJson(coin->script, prefixes));
        list.push_back(one);
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("chainHeight", answer.height);
    out.pushKV("chaintipHash", answer.tip.ToHex());
    out.pushKV("bitmap", bits);
    out.pushKV("utxos", list);
    return out;
}

} // namespace

HttpResponse Tx(const RestContext& context, const RestRequest& request)
{
    const Txid txid = ParseHash(request.target.name);
    const PlacedTx found = FindTx(context, txid);
    if (!found.tx) Refuse(kNotFound, "{} not found", request.target.name);
    const TxView& tx = found.tx->View();
    return InFormat(
        request, [&] { return Bytes(tx.raw.begin(), tx.raw.end()); },
        [&] {
            TxJsonOptions options;
            if (!found.block.IsNull()) options.block_hash = found.block;
            UniValue out(UniValue::VOBJ);
            AppendTxJson(out, tx, context.chain.Prefixes(), options);
            return out;
        });
}

HttpResponse Utxos(const RestContext& context, const RestRequest& request)
{
    const WantedCoins wanted = ParseWanted(request);
    if (wanted.outpoints.size() > kMostOutPoints) {
        Refuse(kBadRequest, "Error: max outpoints exceeded (max: {}, tried: {})", kMostOutPoints,
               wanted.outpoints.size());
    }
    const CoinsAnswer answer = FindCoins(context, wanted);
    return InFormat(
        request, [&] { return CoinsBytes(answer); },
        [&] { return CoinsJson(answer, context.chain.Prefixes()); });
}

} // namespace ibd::rest

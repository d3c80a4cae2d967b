// See block_json.h.
#include "rpc/block_json.h"
#include "consensus/pow.h"
#include "rpc/tx_json.h"
#include "util/hex.h"

namespace ibd {

namespace {

UniValue CoinbaseJson(const TxView& tx)
{
    const InputView& input = tx.inputs[0];
    UniValue out(UniValue::VOBJ);
    out.pushKV("version", Num(tx.version));
    out.pushKV("locktime", Num(tx.lock_time));
    out.pushKV("sequence", Num(input.sequence));
    out.pushKV("coinbase", ToHex(input.script_sig));
    bool first = true;
    ForEachWitnessItem(input, [&](ByteSpan item) {
        if (first) out.pushKV("witness", ToHex(item));
        first = false;
    });
    return out;
}

} // namespace

UniValue HeaderJson(const ChainReader& chain, const HeaderNode& node)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("hash", node.hash.ToHex());
    out.pushKV("confirmations", Num(Confirmations(chain, node)));
    out.pushKV("height", Num(node.height));
    out.pushKV("version", Num(node.version));
    out.pushKV("versionHex", fmt::format("{:08x}", static_cast<uint32_t>(node.version)));
    out.pushKV("merkleroot", node.merkle_root.ToHex());
    out.pushKV("time", Num(node.time));
    out.pushKV("mediantime", Num(node.MedianTimePast()));
    out.pushKV("nonce", Num(node.nonce));
    out.pushKV("bits", fmt::format("{:08x}", node.bits));
    out.pushKV("target", Arith256::FromCompact(node.bits).ToHex());
    out.pushKV("difficulty", Difficulty(node.bits));
    out.pushKV("chainwork", node.chain_work.ToHex());
    out.pushKV("nTx", Num(node.tx_count));
    if (node.prev != nullptr) out.pushKV("previousblockhash", node.prev->hash.ToHex());
    if (const HeaderNode* next = chain.Active().Next(&node)) {
        out.pushKV("nextblockhash", next->hash.ToHex());
    }
    return out;
}

void AppendBlockSizes(UniValue& out, const BlockData& block)
{
    out.pushKV("strippedsize", Num(block.view.StrippedSize()));
    out.pushKV("size", Num(block.raw.size()));
    out.pushKV("weight", Num(block.view.Weight()));
    const auto transactions = block.view.Txs();
    if (!transactions.empty() && !transactions[0].inputs.empty()) {
        out.pushKV("coinbase_tx", CoinbaseJson(transactions[0]));
    }
}

UniValue BlockTxJson(const BlockData& block, size_t i, const AddressPrefixes& prefixes,
                     int verbosity)
{
    const TxView& tx = block.view.Txs()[i];
    if (verbosity <= 1) return tx.txid.ToHex();
    TxJsonOptions options;
    if (i > 0 && block.undo) options.spent = &block.undo->txs[i - 1].spent;
    options.with_prevouts = verbosity >= 3;
    UniValue entry(UniValue::VOBJ);
    AppendTxJson(entry, tx, prefixes, options);
    return entry;
}

void AppendBlockJson(UniValue& out, const BlockData& block, const AddressPrefixes& prefixes,
                     int verbosity)
{
    AppendBlockSizes(out, block);
    UniValue list(UniValue::VARR);
    for (size_t i = 0; i < block.view.Txs().size(); ++i) {
        list.push_back(BlockTxJson(block, i, prefixes, verbosity));
    }
    out.pushKV("tx", list);
}

} // namespace ibd

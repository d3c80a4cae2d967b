// gettxoutproof and verifytxoutproof; see blockchain.h.
#include "consensus/limits.h"
#include "jsonrpc/json.h"
#include "net/wire/messages.h"
#include "rpc/blockchain.h"
#include "rpc/index_use.h"
#include "util/hex.h"

#include <set>

namespace ibd {

namespace {

/** Most outputs of a transaction: an output weighs at least 36. */
constexpr uint32_t kMaxOutputs = kMaxBlockWeight / 36;
/** Outputs looked up before the coins are released for others. */
constexpr uint32_t kOutputsAtOnce = 1'000;

std::set<Txid> WantedOf(const UniValue& txids)
{
    if (txids.empty()) {
        throw RpcError{RpcCode::kInvalidParameter, "Parameter 'txids' cannot be empty"};
    }
    std::set<Txid> out;
    for (const UniValue& txid : txids.getValues()) {
        if (out.insert(ParseHash(txid, "txid")).second) continue;
        throw RpcError{RpcCode::kInvalidParameter,
                       "Invalid parameter, duplicated txid: " + txid.get_str()};
    }
    return out;
}

/** Height of the block with the transaction, if any of its outputs is unspent. Coins are found only
 *  by outpoint. */
std::optional<uint32_t> HeightOf(ChainManager& manager, const Txid& txid)
{
    for (uint32_t first = 0; first < kMaxOutputs; first += kOutputsAtOnce) {
        const CoinsGuard coins = manager.HoldCoins();
        for (uint32_t n = first; n < first + kOutputsAtOnce; ++n) {
            if (const auto coin = OrThrow(coins.Cache().Read({txid, n}))) return coin->height;
        }
    }
    return std::nullopt;
}

/** The block of a transaction according to -txindex. */
std::optional<BlockHash> IndexedBlockOf(const ChainContext& context, const ChainManager& manager,
                                        const Txid& txid)
{
    const TxIndex* const index = FindIndex(context, &Indexes::Tx);
    if (!index) return std::nullopt;
    (void)WaitForTip(context, *index);
    const auto found = OrThrow(index->Find(manager.Blocks(), txid));
    if (!found) return std::nullopt;
    return found->block;
}

const HeaderNode& BlockOf(const ChainContext& context, ChainManager& manager,
                          const std::set<Txid>& wanted, const RpcCall& call)
{
    if (call.Has(1)) {
        const BlockHash hash = call.Hash(1, "blockhash");
        const HeaderNode* const node = manager.Read().Find(hash);
        if (node == nullptr) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block not found"};
        return *node;
    }
    for (const Txid& txid : wanted) {
        const auto height = HeightOf(manager, txid);
        if (!height) continue;
        const ChainReader chain = manager.Read();
        const HeaderNode* const node = chain.Active()[static_cast<int>(*height)];
        if (node != nullptr) return *node;
    }
    if (const auto block = IndexedBlockOf(context, manager, *wanted.begin())) {
        const HeaderNode* const node = manager.Read().Find(*block);
        if (node != nullptr) return *node;
        throw RpcError{RpcCode::kInternalError, "Transaction index corrupt"};
    }
    throw RpcError{RpcCode::kInvalidAddressOrKey, "Transaction not yet in block"};
}

UniValue TxOutProof(const ChainContext& context, const RpcCall& call)
{
    const std::set<Txid> wanted = WantedOf(call.At(0));
    // Without the block, an unspent output shows the block of the transactions.
    ChainManager& manager = call.Has(1) ? context.Headers() : context.Chain();
    const HeaderNode& node = BlockOf(context, manager, wanted, call);
    const auto block = ReadBlockData(manager.Blocks(), manager.Where(node), UndoUse::kNone);
    std::vector<Uint256> txids;
    std::vector<bool> shown;
    size_t found = 0;
    for (const TxView& tx : block->view.Txs()) {
        txids.push_back(tx.txid);
        shown.push_back(wanted.contains(tx.txid));
        found += shown.back();
    }
    if (found != wanted.size()) {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "Not all transactions found in specified or retrieved block"};
    }
    return ToHex(Encode(MerkleBlockMessage{block->view.Header(), MakeMerkleProof(txids, shown)}));
}

MerkleBlockMessage ReadProof(const UniValue& hex)
{
    auto message = Decode<MerkleBlockMessage>(ParseHexArgument(hex, "proof"));
    if (message) return std::move(*message);
    // Core reports the error from another stream class.
    std::string text = message.Message() + ": iostream error";
    if (const size_t at = text.find("DataStream"); at != std::string::npos) {
        text.replace(at, std::string_view("DataStream").size(), "SpanReader");
    }
    throw RpcError{RpcCode::kMisc, text};
}

UniValue ProvenBy(const ChainContext& context, const RpcCall& call)
{
    const MerkleBlockMessage message = ReadProof(call.At(0));
    UniValue out(UniValue::VARR);
    const ProvenTxs proven = ReadMerkleProof(message.proof).value_or(ProvenTxs{});
    if (proven.root != message.header.merkle_root) return out;
    const ChainReader chain = context.Headers().Read();
    const HeaderNode* const node = chain.Find(message.header.Hash());
    if (node == nullptr || !chain.Active().Contains(node) || node->tx_count == 0) {
        throw RpcError{RpcCode::kInvalidAddressOrKey, "Block not found in chain"};
    }
    // With a wrong transaction count the tree would be interpreted differently.
    if (node->tx_count != message.proof.tx_count) return out;
    for (const ProvenTx& tx : proven.txs) out.push_back(tx.txid.ToHex());
    return out;
}

RpcMethod GetTxOutProof(ChainContext& context)
{
    return {"blockchain",
            "gettxoutproof",
            "Proves that transactions are in a block, given its header. Without the block's hash "
            "one of the transactions must have an unspent output, or -txindex must be on.",
            {{"txids",
              RpcType::kArray,
              true,
              "",
              "The transactions, all in one block",
              {{"txid", RpcType::kHex, true, "", "A transaction"}}},
             {"blockhash", RpcType::kHex, false, "", "The block that they are in"}},
            "\"hex\"    (string) The proof: header and partial Merkle tree (BIP37)",
            "'[\"txid\"]' \"blockhash\"",
            [&context](const RpcCall& call) { return TxOutProof(context, call); }};
}

RpcMethod VerifyTxOutProof(ChainContext& context)
{
    return {"blockchain",
            "verifytxoutproof",
            "Lists the transactions that a proof shows to be in a block of the active chain. An "
            "error if the block is not on that chain, empty if the proof is wrong.",
            {{"proof", RpcType::kHex, true, "", "The result of gettxoutproof"}},
            "[ \"txid\", ... ]    (array) The transactions",
            "\"proof\"",
            [&context](const RpcCall& call) { return ProvenBy(context, call); }};
}

} // namespace

void AddTxProofMethods(RpcTable& table, ChainContext& context)
{
    table.Add(GetTxOutProof(context));
    table.Add(VerifyTxOutProof(context));
    table.AnswerEarly({"gettxoutproof", "verifytxoutproof"});
}

} // namespace ibd

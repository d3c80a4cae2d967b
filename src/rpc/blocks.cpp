// Calls that show headers and blocks; see blockchain.h.
#include "rpc/block_json.h"
#include "rpc/block_stats.h"
#include "rpc/blockchain.h"
#include "util/hex.h"

namespace ibd {

namespace {

RpcMethod GetBlockHash(ChainContext& context)
{
    return {"blockchain",
            "getblockhash",
            "Hash of the block at a height of the active chain.",
            {{"height", RpcType::kNumber, true, "", "The height"}},
            "\"hex\"    (string) Block hash",
            "1000",
            [&context](const RpcCall& call) -> UniValue {
                const int height = call.Int32(0);
                const ChainReader chain = context.Headers().Read();
                if (height == 0) return chain.Tree().Genesis()->hash.ToHex();
                if (height < 0 || height > chain.Active().Height()) {
                    throw RpcError{RpcCode::kInvalidParameter, "Block height out of range"};
                }
                return chain.Active()[height]->hash.ToHex();
            }};
}

RpcMethod GetBlockHeader(ChainContext& context)
{
    return {
        "blockchain",
        "getblockheader",
        "Header of a block, as an object or as hex.",
        {{"blockhash", RpcType::kHex, true, "", "The block"},
         {"verbose", RpcType::kBool, false, "true", "true: an object, false: hex"}},
        "{\n"
        "  \"hash\": \"hex\",                 (string) Block hash\n"
        "  \"confirmations\": n,            (numeric) Blocks from it to the tip, -1 if it is "
        "not on the active chain\n"
        "  \"height\": n, \"version\": n, \"versionHex\": \"hex\", \"merkleroot\": \"hex\",\n"
        "  \"time\": n, \"mediantime\": n, \"nonce\": n, \"bits\": \"hex\", \"target\": \"hex\",\n"
        "  \"difficulty\": n, \"chainwork\": \"hex\",\n"
        "  \"nTx\": n,                      (numeric) Number of transactions\n"
        "  \"previousblockhash\": \"hex\",    (string) If there is one\n"
        "  \"nextblockhash\": \"hex\"         (string) If there is one\n}\n"
        "or \"hex\"    (string) The 80 bytes",
        "\"blockhash\"",
        [&context](const RpcCall& call) -> UniValue {
            const BlockHash hash = call.Hash(0, "hash");
            const ChainReader chain = context.Headers().Read();
            const HeaderNode& node = FindBlock(chain, hash);
            if (!call.Bool(1, true)) return ToHex(node.Header().ToBytes());
            return HeaderJson(chain, node);
        }};
}

UniValue Block(const ChainContext& context, const RpcCall& call)
{
    const BlockHash hash = call.Hash(0, "blockhash");
    const int verbosity = call.Verbosity(1, 1);
    ChainManager& manager = context.Headers();
    UniValue out;
    const auto stored = [&] {
        const ChainReader chain = manager.Read();
        const HeaderNode& node = FindBlock(chain, hash);
        if (verbosity > 0) out = HeaderJson(chain, node);
        return StoredBlock(node);
    }();
    const auto block = ReadBlockData(manager.Blocks(), stored,
                                     verbosity >= 2 ? UndoUse::kIfThere : UndoUse::kNone);
    if (verbosity <= 0) return ToHex(block->raw);
    if (verbosity >= 3) RequireUndoIfMade(context, stored);
    AppendBlockJson(out, *block, context.Prefixes(), verbosity);
    return out;
}

RpcMethod GetBlock(ChainContext& context)
{
    return {"blockchain",
            "getblock",
            "A block, as hex or as an object.",
            {{"blockhash", RpcType::kHex, true, "", "The block"},
             {"verbosity|verbose", RpcType::kAny, false, "1",
              "0: hex; 1: object with transaction ids; 2: with transactions and, if undo data is "
              "there, fees; 3: with the outputs they spend"}},
            "\"hex\"    (string) With verbosity 0: the serialized block\n"
            "{\n"
            "  ...,                           The fields of getblockheader, then\n"
            "  \"strippedsize\": n,             (numeric) Bytes without witnesses\n"
            "  \"size\": n,                     (numeric) Bytes\n"
            "  \"weight\": n,                   (numeric) Weight (BIP141)\n"
            "  \"coinbase_tx\": {               (json object) Of the coinbase transaction\n"
            "    \"version\": n, \"locktime\": n, \"sequence\": n, \"coinbase\": \"hex\", "
            "\"witness\": \"hex\"\n  },\n"
            "  \"tx\": [ ... ]                  (json array) Ids, or objects as of "
            "getrawtransaction with \"fee\" and \"prevout\"\n}",
            "\"blockhash\"\n\"blockhash\" 2",
            [&context](const RpcCall& call) { return Block(context, call); }};
}

RpcMethod GetBlockStats(ChainContext& context)
{
    return {
        "blockchain",
        "getblockstats",
        "Statistics of a block of the active chain. Amounts are in satoshis, fee rates in satoshis "
        "per virtual byte.",
        {WithCliForm({"hash_or_height", RpcType::kAny, true, "", "The block, by hash or height"},
                     CliForm::kJsonOrText),
         {"stats",
          RpcType::kArray,
          false,
          "all values",
          "Names of the statistics to compute",
          {{"height", RpcType::kString, false, "", "A figure"},
           {"time", RpcType::kString, false, "", "A figure"}},
          "stats"}},
        "{\n  \"avgfee\": n, \"avgfeerate\": n, \"avgtxsize\": n, \"blockhash\": \"hex\",\n"
        "  \"feerate_percentiles\": [ 10th, 25th, 50th, 75th, 90th percentile by weight ],\n"
        "  \"height\": n, \"ins\": n, \"maxfee\": n, \"maxfeerate\": n, \"maxtxsize\": n,\n"
        "  \"medianfee\": n, \"mediantime\": n, \"mediantxsize\": n, \"minfee\": n,\n"
        "  \"minfeerate\": n, \"mintxsize\": n, \"outs\": n, \"subsidy\": n, \"swtotal_size\": n,\n"
        "  \"swtotal_weight\": n, \"swtxs\": n, \"time\": n, \"total_out\": n, \"total_size\": n,\n"
        "  \"total_weight\": n, \"totalfee\": n, \"txs\": n,\n"
        "  \"utxo_increase\": n, \"utxo_size_inc\": n,    (numeric) With unspendable outputs\n"
        "  \"utxo_increase_actual\": n, \"utxo_size_inc_actual\": n    (numeric) Without\n}",
        "1000 '[\"minfeerate\",\"avgfeerate\"]'",
        [&context](const RpcCall& call) {
            ChainManager& manager = context.Chain();
            const HeaderNode& node = FindBlockByHashOrHeight(manager.Read(), call.At(0));
            const StoredBlock stored = manager.Where(node);
            RequireUndoIfMade(context, stored);
            const auto block = ReadBlockData(manager.Blocks(), stored, UndoUse::kRequired);
            return SelectBlockStats(ComputeBlockStats(*block, node, manager.Params()), call.At(1));
        }};
}

} // namespace

void AddBlockMethods(RpcTable& table, ChainContext& context)
{
    for (RpcMethod method : {GetBlockHash(context), GetBlockHeader(context), GetBlock(context)}) {
        method.since = RpcPhase::kNetwork;
        table.Add(std::move(method));
    }
    table.Add(GetBlockStats(context));
}

} // namespace ibd

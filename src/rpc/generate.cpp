// Calls that make blocks, for test networks; see mining.h.
#include "consensus/block_check.h"
#include "jsonrpc/json.h"
#include "rpc/descriptors.h"
#include "rpc/mining.h"
#include "rpc/tx_decode.h"
#include "util/hex.h"

namespace ibd {

namespace {

constexpr int64_t kDefaultTries = 1'000'000;

/** Makes a template. -1 if the chain would refuse it. */
BlockTemplate MakeTemplate(MiningContext& context, ChainManager& chain, ByteSpan script)
{
    BlockTemplate block = context.chain.OrFatal(
        context.chain.OnChainThread([&] { return context.assembler.Assemble(chain, script); }));
    if (block.violation) {
        ThrowRpc(RpcCode::kMisc, "TestBlockValidity failed: {}", block.violation->ToString());
    }
    return block;
}

/** Submits a block made here. */
void Submit(const ChainContext& context, ChainManager& chain, const BlockTemplate& block)
{
    const BlockOutcome outcome = context.OrFatal(
        context.OnChainThread([&] { return chain.ProcessBlock(block.Serialize()); }));
    if (outcome.violation) {
        throw RpcError{RpcCode::kInternalError, "ProcessNewBlock, block not accepted"};
    }
}

/** Makes consecutive blocks. Returns fewer if tries run out or the node stops. */
UniValue Generate(MiningContext& context, int32_t count, ByteSpan script, uint64_t tries)
{
    ChainManager& chain = context.chain.Chain();
    const ConsensusParams& params = chain.Params().consensus;
    UniValue hashes(UniValue::VARR);
    while (count > 0 && !context.chain.interrupt) {
        BlockTemplate block = MakeTemplate(context, chain, script);
        const ProofSearch found = FindProof(block.header, tries, params, context.chain.interrupt);
        if (found == ProofSearch::kGaveUp) break;
        if (found == ProofSearch::kNoneLeft) continue; // the next template has another time
        Submit(context.chain, chain, block);
        hashes.push_back(block.header.Hash().ToHex());
        --count;
    }
    return hashes;
}

/** The single script of a descriptor; nothing if `text` is not a descriptor. */
std::optional<Bytes> ScriptOfDescriptor(const std::string& text, const ChainParams& params,
                                        std::string& error)
{
    auto parsed = OutputDescriptor::Parse(text, NetworkOf(params), /*require_checksum=*/false);
    if (!parsed) {
        error = parsed.Message();
        return std::nullopt;
    }
    if (parsed->size() > 1) {
        throw RpcError{RpcCode::kInvalidParameter, "Multipath descriptor not accepted"};
    }
    const OutputDescriptor& descriptor = parsed->front();
    if (descriptor.IsRange()) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Ranged descriptor not accepted. Maybe pass through deriveaddresses first?"};
    }
    const auto scripts = descriptor.Scripts(0);
    if (!scripts) {
        throw RpcError{RpcCode::kInvalidAddressOrKey, "Cannot derive script without private keys"};
    }
    // combo() has several: takes the key hash, with witness if the key is compressed.
    constexpr size_t kCompressedCombo = 4;
    if (scripts->size() == 1) return scripts->front();
    return (*scripts)[scripts->size() == kCompressedCombo ? 2 : 1];
}

RpcMethod GenerateToAddress(MiningContext& context)
{
    return {"hidden",
            "generatetoaddress",
            "Makes blocks that pay to an address.",
            {{"nblocks", RpcType::kNumber, true, "", "How many"},
             {"address", RpcType::kString, true, "", "Address that they pay to"},
             {"maxtries", RpcType::kNumber, false, "1000000", "Total number of nonces to try"}},
            "[ \"hash\", ... ]    (json array) Of the blocks",
            "11 \"myaddress\"",
            [&context](const RpcCall& call) {
                const int32_t count = call.Int32(0);
                const auto tries = static_cast<uint64_t>(call.Int32(2, kDefaultTries));
                const auto script = DecodeAddress(call.String(1), context.chain.Prefixes());
                if (!script) {
                    throw RpcError{RpcCode::kInvalidAddressOrKey, "Error: Invalid address"};
                }
                return Generate(context, count, *script, tries);
            }};
}

RpcMethod GenerateToDescriptor(MiningContext& context)
{
    return {"hidden",
            "generatetodescriptor",
            "Makes blocks that pay to the script of a descriptor.",
            {{"num_blocks", RpcType::kNumber, true, "", "How many"},
             {"descriptor", RpcType::kString, true, "", "Descriptor that they pay to"},
             {"maxtries", RpcType::kNumber, false, "1000000", "Total number of nonces to try"}},
            "[ \"hash\", ... ]    (json array) Of the blocks",
            "11 \"mydesc\"",
            [&context](const RpcCall& call) {
                const int32_t count = call.Int32(0);
                const auto tries =
                    call.Has(2) ? ParseInt<uint64_t>(call.At(2)) : uint64_t{kDefaultTries};
                std::string error;
                const auto script =
                    ScriptOfDescriptor(call.String(1), context.chain.Chain().Params(), error);
                if (!script) throw RpcError{RpcCode::kInvalidAddressOrKey, error};
                return Generate(context, count, *script, tries);
            }};
}

/** Transactions from hex, or ids of pool transactions. */
std::vector<TransactionRef> DecodeAll(const TxPool& pool, const UniValue& list)
{
    std::vector<TransactionRef> out;
    for (const UniValue& entry : list.getValues()) {
        const std::string& text = ParseString(entry);
        if (const auto id = Uint256::FromHex(text)) {
            const Lock lock(pool.mutex);
            if (const PoolTx* const tx = pool.Find(Txid(*id))) {
                out.push_back(tx->tx);
                continue;
            }
            ThrowRpc(RpcCode::kInvalidAddressOrKey, "Transaction {} not in mempool.", text);
        }
        out.push_back(DecodeTx(text));
        if (out.back()) continue;
        ThrowRpc(RpcCode::kDeserialization,
                 "Transaction decode failed for {}. Make sure the tx has at least one input.",
                 text);
    }
    return out;
}

/** Puts the transactions into the template and tests it again. */
Result<> Fill(ChainManager& chain, BlockTemplate& block, std::vector<TransactionRef> txs)
{
    block.txs = std::move(txs);
    block.Commit();
    block.Seal();
    const Bytes raw = block.Serialize();
    BlockView view;
    if (const auto parsed = view.Parse(raw); !parsed) {
        // A transaction without inputs is parsed as one with witnesses.
        block.violation = Invalid("bad-txns-vin-empty", parsed.Message());
    } else {
        IBD_ASSIGN_OR_RETURN(block.violation, chain.TestBlock(view, /*check_merkle_root=*/false));
    }
    return {};
}

/** A template with these transactions, tested without and with them on one tip. -1 if the chain
 *  refuses the template, -25 if it refuses it with them. */
BlockTemplate MakeFilled(MiningContext& context, ChainManager& chain, ByteSpan script,
                         std::vector<TransactionRef> txs)
{
    BlockTemplate block;
    bool filled = false;
    context.chain.OrFatal(context.chain.OnChainThread([&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(block,
                             context.assembler.Assemble(chain, script, BlockAssembler::Fill::kNot));
        if (block.violation) return {};
        filled = true;
        return Fill(chain, block, std::move(txs));
    }));
    if (!block.violation) return block;
    ThrowRpc(filled ? RpcCode::kVerify : RpcCode::kMisc, "TestBlockValidity failed: {}",
             block.violation->ToString());
}

UniValue GenerateOne(MiningContext& context, const RpcCall& call)
{
    ChainManager& chain = context.chain.Chain();
    const std::string& output = call.String(0);
    std::string error;
    auto script = ScriptOfDescriptor(output, chain.Params(), error);
    if (!script) script = DecodeAddress(output, context.chain.Prefixes());
    if (!script) {
        throw RpcError{RpcCode::kInvalidAddressOrKey, "Error: Invalid address or descriptor"};
    }
    std::vector<TransactionRef> txs = DecodeAll(context.pool, call.At(1));
    const bool submit = call.Bool(2, true);
    BlockTemplate block = MakeFilled(context, chain, *script, std::move(txs));
    uint64_t tries = kDefaultTries;
    if (FindProof(block.header, tries, chain.Params().consensus, context.chain.interrupt) !=
        ProofSearch::kFound) {
        throw RpcError{RpcCode::kMisc, "Failed to make block."};
    }
    if (submit) Submit(context.chain, chain, block);
    UniValue out(UniValue::VOBJ);
    out.pushKV("hash", block.header.Hash().ToHex());
    if (!submit) out.pushKV("hex", ToHex(block.Serialize()));
    return out;
}

RpcMethod GenerateBlock(MiningContext& context)
{
    return {
        "hidden",
        "generateblock",
        "Makes a block of the given transactions, in their order. The coinbase does not claim "
        "their fees.",
        {{"output", RpcType::kString, true, "", "The address or descriptor that it pays"},
         {"transactions",
          RpcType::kArray,
          true,
          "",
          "Transactions as hex, or ids of transactions in the pool",
          {{"rawtx/txid", RpcType::kHex, false, "", "One of them"}}},
         {"submit", RpcType::kBool, false, "true",
          "Whether the node takes the block; else it is returned"}},
        "{\n  \"hash\": \"hex\",    (string) Of the block\n"
        "  \"hex\": \"hex\"      (string) The block, if it was not submitted\n}",
        "\"myaddress\" '[\"rawtx\"]'",
        [&context](const RpcCall& call) { return GenerateOne(context, call); }};
}

/** A removed call that Core still knows by name. */
RpcMethod GenerateOfOld()
{
    return {"hidden",
            "generate",
            "has been replaced by the -generate cli option. Refer to -help for more information.",
            {},
            "",
            "",
            [](const RpcCall&) -> UniValue {
                throw RpcError{RpcCode::kMethodNotFound,
                               "generate\n\nhas been replaced by the -generate cli option. Refer "
                               "to -help for more information.\n"};
            }};
}

} // namespace

void AddGenerateMethods(RpcTable& table, MiningContext& context)
{
    table.Add(GenerateToAddress(context));
    table.Add(GenerateToDescriptor(context));
    table.Add(GenerateBlock(context));
    table.Add(GenerateOfOld());
}

} // namespace ibd

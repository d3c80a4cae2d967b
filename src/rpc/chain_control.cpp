// Calls that check or change the chain, or submit blocks; see blockchain.h.
#include "consensus/block_check.h"
#include "consensus/witness_commitment.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "rpc/mining.h"
#include "util/hex.h"
#include "validation/verify_chain.h"

namespace ibd {

namespace {

RpcMethod MakeVerifyChain(ChainContext& context)
{
    return {"blockchain",
            "verifychain",
            "Checks the stored blocks and coins again, from the tip down. Meanwhile no blocks are "
            "connected.",
            {{"checklevel", RpcType::kNumber, false, "3",
              "0: read blocks; 1: check them; 2: check undo data; 3: disconnect the blocks in "
              "memory; 4: and connect them again"},
             {"nblocks", RpcType::kNumber, false, "6", "Blocks to check; 0: all"}},
            "true|false    (boolean) Whether all of it was checked and is right",
            "\n4 0",
            [&context](const RpcCall& call) -> UniValue {
                const int level = call.Int32(0, 3);
                const int blocks = call.Int32(1, 6);
                ChainManager& chain = context.Chain();
                const Verification found = OrThrow(
                    context.OnChainThread([&] { return VerifyChain(chain, level, blocks); }));
                return Bool(bool{found});
            }};
}

/** A call that changes the chain at a block: `change(chain, node)` runs on the chain's thread. */
template <typename Change>
RpcMethod BlockAction(ChainContext& context, const char* category, const char* name,
                      const char* description, Change change)
{
    return {category,
            name,
            description,
            {{"blockhash", RpcType::kHex, true, "", "The block"}},
            "null",
            "\"blockhash\"",
            [&context, change](const RpcCall& call) -> UniValue {
                ChainManager& chain = context.Chain();
                const HeaderNode& node = FindBlock(chain.Read(), call.Hash(0, "blockhash"));
                context.OrFatal(context.OnChainThread([&] { return change(chain, node); }));
                return {};
            }};
}

/** Disconnecting a block needs its undo data and that of all blocks above, which may be pruned,
 *  lost, damaged, or not yet made. */
UniValue InvalidateBlock(const ChainContext& context, const RpcCall& call)
{
    ChainManager& chain = context.Chain();
    const HeaderNode& node = FindBlock(chain.Read(), call.Hash(0, "blockhash"));
    const Obstacle obstacle =
        context.OrFatal(context.OnChainThread([&] { return chain.InvalidateBlock(node); }));
    if (!obstacle.block) return {};
    const std::string block =
        fmt::format("block {} at height {}", obstacle.block->hash.ToHex(), obstacle.block->height);
    if (obstacle.kind == Obstacle::Kind::kDamaged) {
        ThrowRpc(RpcCode::kMisc,
                 "The stored {} is damaged; peers are asked for it: try again later", block);
    }
    ThrowRpc(RpcCode::kMisc, "Undo data of {} is not stored; {}{}", block,
             obstacle.kind == Obstacle::Kind::kUndoIsMade ? "it is being made from the blocks"
                                                          : chain.UndoRemedy(),
             context.UndoNote());
}

/** Whether the coinbase commits to witnesses but lacks its own, which mining software may leave to
 *  the node because it is constant. */
bool LacksReservedValue(ChainManager& chain, const BlockView& block)
{
    if (block.Txs().empty()) return false;
    const TxView& coinbase = block.Txs()[0];
    if (coinbase.has_witness || coinbase.inputs.size() != 1) return false;
    if (WitnessCommitmentIndex(coinbase) < 0) return false;
    const HeaderNode* prev = chain.Read().Find(block.Header().prev_hash);
    return prev != nullptr && prev->height + 1 >= chain.Params().consensus.segwit_height;
}

/** The block with a witness reserved value (BIP141) of zeros in its coinbase. */
Bytes WithReservedValue(ByteSpan raw, ByteSpan coinbase)
{
    constexpr uint8_t kMarkerAndFlag[] = {0, 1};
    constexpr uint8_t kOneItemOf32[] = {1, 32};
    constexpr size_t kVersionSize = 4;
    constexpr size_t kLockTimeSize = 4;
    const auto begin = static_cast<size_t>(coinbase.data() - raw.data()) + kVersionSize;
    const size_t end = begin - kVersionSize + coinbase.size() - kLockTimeSize;
    Bytes out(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(begin));
    Append(out, kMarkerAndFlag);
    Append(out, raw.subspan(begin, end - begin));
    Append(out, kOneItemOf32);
    Append(out, Bytes(32, 0));
    Append(out, raw.subspan(end));
    return out;
}

UniValue SubmitBlock(const ChainContext& context, const RpcCall& call)
{
    auto raw = FromHex(call.String(0));
    BlockView view;
    if (!raw || !view.Parse(*raw).Ok()) {
        throw RpcError{RpcCode::kDeserialization, "Block decode failed"};
    }
    ChainManager& chain = context.Chain();
    if (LacksReservedValue(chain, view)) raw = WithReservedValue(*raw, view.Txs()[0].raw);
    const BlockOutcome result =
        context.OrFatal(context.OnChainThread([&] { return chain.ProcessBlock(*raw); }));
    if (result.violation) return Bip22Result(result.violation);
    if (!result.is_new) return "duplicate";
    // Stored on a branch that is not the best, so not fully validated.
    if (!result.verdict) return "inconclusive";
    return Bip22Result(*result.verdict);
}

RpcMethod MakeSubmitBlock(ChainContext& context)
{
    return {"mining",
            "submitblock",
            "Submits a block (BIP22).",
            {{"hexdata", RpcType::kHex, true, "", "The serialized block"},
             {"dummy", RpcType::kString, false, "ignored", "Ignored; for compatibility with "
                                                           "BIP22"}},
            "null, or \"str\"    (string) Why it was refused: duplicate, inconclusive, or a rule",
            "\"hexdata\"",
            [&context](const RpcCall& call) { return SubmitBlock(context, call); }};
}

RpcMethod SubmitHeader(ChainContext& context)
{
    return {"mining",
            "submitheader",
            "Submits a block header.",
            {{"hexdata", RpcType::kHex, true, "", "The 80 bytes"}},
            "null",
            "\"hexdata\"",
            [&context](const RpcCall& call) -> UniValue {
                const auto raw = FromHex(call.String(0));
                if (!raw || raw->size() < BlockHeader::kSize) { // a whole block is accepted too
                    throw RpcError{RpcCode::kDeserialization, "Block header decode failed"};
                }
                const BlockHeader header = BlockHeader::FromBytes(raw->data());
                ChainManager& chain = context.Chain();
                if (chain.Read().Find(header.prev_hash) == nullptr) {
                    ThrowRpc(RpcCode::kVerify, "Must submit previous header ({}) first",
                             header.prev_hash.ToHex());
                }
                if (const RuleResult violation = chain.AcceptHeader(header)) {
                    throw RpcError{RpcCode::kVerify, violation->reason};
                }
                return {};
            }};
}

/** Larger numbers are times: no height is so large, and no block's time so small. */
constexpr int64_t kHighestHeight = 1'000'000'000;
/** Seconds of tolerance for a block's time. */
constexpr int64_t kTimeWindow = 2 * 60 * 60;

/** The lowest block up to `tip` with a time of at least `time`; null: none. */
const HeaderNode* EarliestAtLeast(const HeaderNode* tip, int64_t time)
{
    const HeaderNode* earliest = nullptr;
    for (const HeaderNode* node = tip; node; node = node->prev) {
        if (int64_t{node->time} >= time) earliest = node;
    }
    return earliest;
}

/** The height up to which the caller wants blocks pruned. */
int32_t HeightToPruneTo(int32_t height_or_time, const HeaderNode& tip)
{
    if (height_or_time < 0) {
        throw RpcError{RpcCode::kInvalidParameter, "Negative block height."};
    }
    if (height_or_time <= kHighestHeight) return height_or_time;
    const HeaderNode* const node = EarliestAtLeast(&tip, height_or_time - kTimeWindow);
    if (node) return node->height;
    throw RpcError{RpcCode::kInvalidParameter,
                   "Could not find block with at least the specified timestamp."};
}

UniValue PruneBlockchain(const ChainContext& context, const RpcCall& call)
{
    ChainManager& chain = context.Chain();
    if (!chain.IsPruneMode()) {
        throw RpcError{RpcCode::kMisc, "Cannot prune blocks because node is not in prune mode."};
    }
    const HeaderNode& tip = *chain.Tip();
    const int32_t height = HeightToPruneTo(call.Int32(0), tip);
    if (static_cast<uint64_t>(tip.height) < chain.Params().prune_after_height) {
        throw RpcError{RpcCode::kMisc, "Blockchain is too short for pruning."};
    }
    if (height > tip.height) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Blockchain is shorter than the attempted prune height."};
    }
    if (height > tip.height - kMinBlocksToKeep) {
        chain.Log().Debug(LogCategory::kRpc, "Attempt to prune blocks close to the tip.  Retaining "
                                             "the minimum number of blocks.");
    }
    context.OrFatal(context.OnChainThread([&] { return chain.PruneTo(height); }));
    return Num(chain.LastWithoutData().value_or(-1));
}

RpcMethod MakePruneBlockchain(ChainContext& context)
{
    return {"blockchain",
            "pruneblockchain",
            "Deletes block and undo files that have no block above a height. The last 288 blocks "
            "are always kept. Needs -prune.",
            {{"height", RpcType::kNumber, true, "",
              "The height; or a time in seconds since 1970, which selects the first block that is "
              "at most two hours older"}},
            "n    (numeric) Height of the last block that is not stored, or not with undo data",
            "1000",
            [&context](const RpcCall& call) { return PruneBlockchain(context, call); }};
}

} // namespace

void AddChainControlMethods(RpcTable& table, ChainContext& context)
{
    table.Add(MakeVerifyChain(context));
    table.Add({"hidden",
               "invalidateblock",
               "Marks a block as invalid, and disconnects it if it is on the active chain.",
               {{"blockhash", RpcType::kHex, true, "", "The block"}},
               "null",
               "\"blockhash\"",
               [&context](const RpcCall& call) { return InvalidateBlock(context, call); }});
    table.Add(
        BlockAction(context, "hidden", "reconsiderblock",
                    "Removes the mark of invalidateblock, or of a failed check, from a block, its "
                    "ancestors and descendants.",
                    [](ChainManager& c, const HeaderNode& n) { return c.ReconsiderBlock(n); }));
    table.Add(BlockAction(context, "blockchain", "preciousblock",
                          "Treats a block as if it had been received before other blocks with the "
                          "same work.",
                          [](ChainManager& c, const HeaderNode& n) { return c.PreciousBlock(n); }));
    table.Add({"hidden",
               "syncwithvalidationinterfacequeue",
               "Returns when all observers have handled the events of the chain so far.",
               {},
               "null",
               "",
               [&context](const RpcCall&) -> UniValue {
                   if (context.drain_events) context.drain_events();
                   return {};
               }});
    table.Add(MakeSubmitBlock(context));
    table.Add(SubmitHeader(context));
    table.Add(MakePruneBlockchain(context));
}

} // namespace ibd

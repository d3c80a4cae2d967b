// See chain_context.h.
#include "rpc/chain_context.h"

#include "rpc/unfinished_file.h"

namespace ibd {

namespace {

/** For sorting the coins that blocks above an older one have spent. */
constexpr size_t kTakeBackMemoryBytes = 64 << 20;

// Reads the undo data, for calls that require it and for calls that only show more with it.
constexpr const char* kUndoUnreadable =
    "Can't read undo data from disk. This could be due to disk corruption or a conflict with a "
    "pruning event.";
constexpr const char* kUndoExpected =
    "Undo data expected but can't be read. This could be due to disk corruption or a conflict with "
    "a pruning event.";

} // namespace

ChainManager& ChainContext::Headers() const
{
    if (ChainManager* const manager = chain) return *manager;
    throw RpcError{RpcCode::kInWarmup, "The chain is not loaded yet"};
}

ChainManager& ChainContext::Chain() const
{
    ChainManager& manager = Headers();
    if (manager.Tip()) return manager;
    throw RpcError{RpcCode::kInWarmup, "The chain is not loaded yet"};
}

std::unique_ptr<CoinsWalk> ChainContext::WalkCoins(const HeaderNode* target) const
{
    ChainManager& manager = Chain();
    std::unique_ptr<CoinsWalk> walk;
    OrThrow(OnChainThread([&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(walk, CoinsWalk::Start(manager, target));
        return {};
    }));
    if (!walk->IsBelowTip()) return walk;
    Result<bool> done =
        walk->TakeBack(env, NewCoinsFolder(net_dir), kTakeBackMemoryBytes, interrupt, log);
    if (!done) {
        RequireUnpruned(walk->Block()); // pruning may have overtaken it
        Error error = done.GetError();
        error.message += UndoNote();
        done = error;
    }
    if (!OrThrow(std::move(done))) throw RpcError{RpcCode::kMisc, "Shutting down"};
    return walk;
}

void ChainContext::RequireUnpruned(const HeaderNode& target) const
{
    const ChainManager& manager = Chain();
    if (!manager.IsPruneMode() || &target == manager.Tip()) return;
    if (manager.LastWithoutData().value_or(-1) < target.height) return;
    throw RpcError{RpcCode::kMisc, "Could not roll back to requested height since necessary block "
                                   "data is already pruned."};
}

TipInfo ChainContext::WaitForTip(const TipWaiters::Condition& condition,
                                 std::chrono::milliseconds timeout) const
{
    const ChainManager& manager = Chain();
    return waiters.Wait([&] { return manager.Current(); }, condition, timeout);
}

UniValue ChainContext::Warnings() const
{
    std::vector<std::string> messages = warnings.Messages();
    const std::string undo = undo_state ? undo_state() : std::string();
    if (!undo.empty()) messages.push_back(undo);
    if (deprecated_warnings) return messages.empty() ? std::string() : messages.back();
    UniValue out(UniValue::VARR);
    for (const std::string& text : messages) out.push_back(text);
    return out;
}

std::string ChainContext::UndoNote() const
{
    const std::string undo = undo_state ? undo_state() : std::string();
    return undo.empty() ? undo : ". " + undo;
}

AddressPrefixes ChainContext::Prefixes() const
{
    const ChainParams& params = Headers().Params();
    return {params.pubkey_address_prefix, params.script_address_prefix, params.bech32_hrp};
}

const HeaderNode& TipOrGenesis(const ChainContext& context)
{
    const ChainManager& chain = context.Headers();
    const HeaderNode* const tip = chain.Tip();
    if (tip != nullptr && !context.hides_tip) return *tip;
    return *chain.Read().Tree().Genesis();
}

const HeaderNode& FindBlock(const ChainReader& chain, const BlockHash& hash)
{
    const HeaderNode* node = chain.Find(hash);
    if (node == nullptr) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block not found"};
    return *node;
}

const HeaderNode& FindBlockByHashOrHeight(const ChainReader& chain, const UniValue& value)
{
    if (!value.isNum()) return FindBlock(chain, ParseHash(value, "hash_or_height"));
    const auto height = ParseInt<int32_t>(value);
    if (height < 0) {
        ThrowRpc(RpcCode::kInvalidParameter, "Target block height {} is negative", height);
    }
    if (height > chain.Active().Height()) {
        ThrowRpc(RpcCode::kInvalidParameter, "Target block height {} after current tip {}", height,
                 chain.Active().Height());
    }
    return *chain.Active()[static_cast<int>(height)];
}

std::unique_ptr<BlockData> ReadBlockData(const BlockStore& blocks, const StoredBlock& block,
                                         UndoUse use)
{
    if (block.data.IsNull()) {
        throw RpcError{RpcCode::kMisc, block.seen ? "Block not available (pruned data)"
                                                  : "Block not available (not fully downloaded)"};
    }
    auto data = std::make_unique<BlockData>();
    auto raw = BlockArchive(blocks).Block(block);
    if (!raw.Ok()) {
        throw RpcError{RpcCode::kMisc, "Block not found on disk: " + raw.Message()};
    }
    data->raw = std::move(raw).Value();
    const auto parsed = data->view.Parse(data->raw);
    if (!parsed.Ok()) throw RpcError{RpcCode::kMisc, parsed.Message()};
    const bool required = use == UndoUse::kRequired;
    if (block.height == 0) {
        if (required) data->undo.emplace(); // genesis spends no coins
        return data;
    }
    if (required && block.undo.IsNull()) throw RpcError{RpcCode::kMisc, "Undo data not available"};
    if (use == UndoUse::kNone || block.undo.IsNull()) return data;
    auto undo = BlockArchive(blocks).Undo(block);
    if (!undo.Ok()) {
        if (required) throw RpcError{RpcCode::kMisc, kUndoUnreadable};
        throw RpcError{RpcCode::kInternalError, kUndoExpected};
    }
    data->undo = std::move(undo).Value();
    if (!data->undo->Fits(data->view)) {
        throw RpcError{RpcCode::kInternalError, "Undo data does not fit the block"};
    }
    return data;
}

void RequireUndoIfMade(const ChainContext& context, const StoredBlock& block)
{
    if (block.height == 0 || !block.undo.IsNull()) return;
    const std::string note = context.UndoNote();
    if (!note.empty()) throw RpcError{RpcCode::kMisc, "Undo data not available" + note};
}

int Confirmations(const ChainReader& chain, const HeaderNode& node)
{
    if (!chain.Tip()) return node.height == 0 ? 1 : -1; // see TipOrGenesis()
    if (!chain.Active().Contains(&node)) return -1;
    return chain.Active().Height() - node.height + 1;
}

} // namespace ibd

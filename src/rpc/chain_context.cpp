// See chain_context.h.
#include "rpc/chain_context.h"

namespace ibd {

ChainManager& ChainContext::Chain() const
{
    if (ChainManager* const manager = chain.load()) {
        const auto lock = manager->Lock();
        if (manager->Tip() != nullptr) return *manager;
    }
    throw RpcError{RpcCode::kInWarmup, "The chain is not loaded yet"};
}

AddressPrefixes ChainContext::Prefixes() const
{
    const ChainParams& params = Chain().Params();
    return {params.pubkey_address_prefix, params.script_address_prefix, params.bech32_hrp};
}

HeaderNode& FindBlock(ChainManager& chain, const BlockHash& hash)
{
    HeaderNode* node = chain.Tree().Find(hash);
    if (node == nullptr) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block not found"};
    return *node;
}

HeaderNode& FindBlockByHashOrHeight(ChainManager& chain, const UniValue& value)
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

std::unique_ptr<BlockData> ReadBlockData(ChainManager& chain, const HeaderNode& node,
                                         bool need_undo)
{
    if (!node.HasData()) {
        throw RpcError{RpcCode::kMisc, "Block not available (not fully downloaded)"};
    }
    auto data = std::make_unique<BlockData>();
    auto raw = chain.ReadBlock(node);
    if (!raw.Ok()) {
        throw RpcError{RpcCode::kMisc, "Block not found on disk: " + raw.Message()};
    }
    data->raw = std::move(raw).Value();
    const auto parsed = data->view.Parse(data->raw);
    if (!parsed.Ok()) throw RpcError{RpcCode::kMisc, parsed.Message()};
    if (node.HasUndo() && node.height > 0) {
        auto undo = chain.ReadUndo(node);
        if (!undo.Ok()) throw RpcError{RpcCode::kMisc, undo.Message()};
        data->undo = std::move(undo).Value();
    } else if (node.height == 0) {
        if (need_undo) data->undo.emplace(); // nothing is spent by the first block
    } else if (need_undo) {
        throw RpcError{RpcCode::kMisc, "Undo data not available"};
    }
    if (data->undo && node.height > 0 && data->undo->txs.size() + 1 != data->view.Txs().size()) {
        throw RpcError{RpcCode::kInternalError, "Undo data does not fit the block"};
    }
    return data;
}

int Confirmations(const ChainManager& chain, const HeaderNode& node)
{
    if (!chain.Active().Contains(&node)) return -1;
    return chain.Active().Height() - node.height + 1;
}

} // namespace ibd

// See block_kit.h.
#include "block_kit.h"

#include "consensus/block_check.h"
#include "consensus/limits.h"
#include "consensus/subsidy.h"
#include "script/script.h"
#include "sim/block_draft.h"
#include "util/check.h"

namespace ibd::test {

namespace {

MutableTransaction Coinbase(int height, Amount reward, uint32_t salt)
{
    MutableTransaction tx;
    tx.inputs.resize(1);
    tx.inputs[0].script_sig = Bip34Prefix(height);
    AppendPushInt(tx.inputs[0].script_sig, 1000 + salt);
    tx.outputs.push_back({reward, kAnyone});
    return tx;
}

} // namespace

KitBlock BlockKit::Genesis() const
{
    KitBlock block;
    block.hash = m_params.genesis.hash;
    block.time = m_params.genesis.header.time;
    block.raw = m_params.genesis.raw;
    return block;
}

KitBlock BlockKit::Make(const KitBlock& prev, const KitOptions& options) const
{
    KitBlock block;
    block.height = prev.height + 1;
    const Amount subsidy = BlockSubsidy(block.height, m_params.consensus);
    block.coinbase =
        Coinbase(block.height, options.reward < 0 ? subsidy : options.reward, options.salt);
    if (options.change_coinbase) options.change_coinbase(block.coinbase);
    sim::BlockDraft draft;
    draft.txs = {block.coinbase};
    draft.txs.insert(draft.txs.end(), options.txs.begin(), options.txs.end());
    draft.header.version = options.version;
    draft.header.prev_hash = prev.hash;
    draft.FixRoot();
    draft.header.time = prev.time + 600;
    draft.header.bits = m_params.genesis.header.bits;
    if (options.change_header) options.change_header(draft.header);
    block.time = draft.header.time;
    block.raw = draft.ToBytes();
    if (options.change_bytes) options.change_bytes(block.raw);
    sim::MineBytes(block.raw, m_params);
    block.hash = BlockHeader::FromBytes(block.raw.data()).Hash();
    return block;
}

std::vector<KitBlock> BlockKit::MakeChain(const KitBlock& prev, int count, uint32_t salt) const
{
    std::vector<KitBlock> blocks;
    for (int i = 0; i < count; ++i) {
        KitOptions options;
        options.salt = salt;
        blocks.push_back(Make(blocks.empty() ? prev : blocks.back(), options));
    }
    return blocks;
}

MutableTransaction SpendTx(const std::vector<OutPoint>& coins, const std::vector<Amount>& values)
{
    MutableTransaction tx;
    for (const OutPoint& coin : coins) tx.inputs.push_back({coin, {}, kSequenceFinal, {}});
    for (const Amount value : values) tx.outputs.push_back({value, kAnyone});
    return tx;
}

} // namespace ibd::test

// See tx_batch.h.
#include "packing/tx_batch.h"

#include "packing/block_batch.h"
#include "primitives/block.h"

namespace ibd {

namespace {

/** Bytes of the block around the transactions: the header, and their number. */
constexpr size_t kAround = BlockHeader::kSize + 1;
static_assert(kMaxTxBatch < 0xfd, "their number has one byte");

} // namespace

Result<Bytes> PackTxs(std::span<const Bytes> txs, int level)
{
    CHECK(!txs.empty() && txs.size() <= kMaxTxBatch);
    Bytes block(BlockHeader::kSize, 0);
    block.push_back(static_cast<uint8_t>(txs.size()));
    for (const Bytes& tx : txs) Append(block, tx);
    const size_t size = block.size() - kAround;
    CHECK(size <= kMaxTxBatchBytes);
    IBD_ASSIGN_OR_RETURN(Bytes batch, PackBlocks(std::array{ByteSpan(block)}, level));
    if (batch.size() >= size || batch.size() * kMaxTxExpansion < size) batch.clear();
    return batch;
}

Result<std::vector<Bytes>> UnpackTxs(ByteSpan batch)
{
    const size_t stated = BatchBytes(batch);
    const size_t most = std::min(kMaxTxBatchBytes, batch.size() * kMaxTxExpansion);
    if (stated > kAround + most) {
        return BadData("a batch of transactions states more than {} bytes", most);
    }
    IBD_ASSIGN_OR_RETURN(const std::vector<Bytes> blocks, UnpackBlocks(batch));
    BlockView block;
    const bool is_block = blocks.size() == 1 && block.Parse(blocks[0]);
    if (!is_block || block.Raw().size() != blocks[0].size() || block.Header() != BlockHeader{} ||
        block.Txs().empty() || block.Txs().size() > kMaxTxBatch) {
        return BadData("a batch of transactions has something else");
    }
    std::vector<Bytes> txs;
    for (const TxView& tx : block.Txs()) txs.emplace_back(tx.raw.begin(), tx.raw.end());
    return txs;
}

} // namespace ibd

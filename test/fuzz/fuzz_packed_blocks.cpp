// Batches of blocks and of transactions. Any bytes as a batch: it is refused, or gives blocks of
// the stated sizes, or transactions within the bounds. Any bytes as blocks: their batch gives them
// again.
#include "packing/block_batch.h"
#include "packing/tx_batch.h"
#include "util/check.h"

using namespace ibd;

namespace {

/** The bytes in up to four parts, whose sizes the first bytes give. */
std::vector<ByteSpan> Parts(ByteSpan bytes)
{
    std::vector<ByteSpan> out;
    while (out.size() < 3 && bytes.size() > 2) {
        const size_t size = std::min<size_t>(bytes[0] | bytes[1] << 8, bytes.size() - 2);
        out.push_back(bytes.subspan(2, size));
        bytes = bytes.subspan(2 + size);
    }
    out.push_back(bytes);
    return out;
}

/** The transactions of a stranger's batch are packed and unpacked like any. */
void CheckTxs(ByteSpan batch)
{
    const auto txs = UnpackTxs(batch);
    if (!txs) return;
    CHECK(!txs->empty() && txs->size() <= kMaxTxBatch);
    size_t total = 0;
    for (const Bytes& tx : *txs) total += tx.size();
    CHECK(total <= kMaxTxBatchBytes && total <= batch.size() * kMaxTxExpansion);
    const Bytes again = PackTxs(*txs, 1).Value();
    if (!again.empty()) CHECK(UnpackTxs(again).Value() == *txs);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const ByteSpan input(data, size);
    if (const auto blocks = UnpackBlocks(input)) {
        size_t total = 0;
        for (const Bytes& block : *blocks) total += block.size();
        CHECK(total == BatchBytes(input));
        // Blocks that a stranger's batch makes are packed and unpacked like any.
        const std::vector<ByteSpan> spans(blocks->begin(), blocks->end());
        CHECK(UnpackBlocks(*PackBlocks(spans, 1)).Value() == *blocks);
    }
    CheckTxs(input);
    if (size > kMaxBatchBytes) return 0;
    const std::vector<ByteSpan> parts = Parts(input);
    const auto again = UnpackBlocks(PackBlocks(parts, 1).Value());
    CHECK(again && again->size() == parts.size());
    for (size_t i = 0; i < parts.size(); ++i) CHECK(AsChars((*again)[i]) == AsChars(parts[i]));
    return 0;
}

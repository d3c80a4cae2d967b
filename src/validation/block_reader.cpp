// See block_reader.h.
#include "validation/block_reader.h"

#include "consensus/block_check.h"
#include "util/found.h"

namespace ibd {

namespace {

Result<std::unique_ptr<LoadedBlock>> LoadOnce(const BlockStore& blocks, const StoredBlock& wanted,
                                              const ConsensusParams& params)
{
    if (wanted.data.IsNull()) {
        return BadData("block {} at height {} is not stored{}", wanted.hash.ToHex(), wanted.height,
                       wanted.seen ? " any more: it was pruned" : "");
    }
    const auto damaged = [&](std::string_view what) {
        return blocks.DamagedBlock(wanted.data, wanted.hash, wanted.height, what);
    };
    auto loaded = std::make_unique<LoadedBlock>();
    auto raw = blocks.ReadBlock(wanted.data, &wanted.hash);
    if (!raw) {
        if (IsBadData(raw)) return damaged(raw.Message());
        return blocks.UnreadableBlock(wanted.data, wanted.hash, wanted.height, raw.GetError());
    }
    loaded->raw = std::move(*raw);
    if (auto parsed = loaded->view.Parse(loaded->raw); !parsed) return damaged(parsed.Message());
    loaded->verdict = CheckBlock(loaded->view, params);
    if (IsMutated(loaded->verdict)) return damaged(loaded->verdict->ToString());
    return loaded;
}

} // namespace

Result<std::unique_ptr<LoadedBlock>> LoadBlock(const BlockStore& blocks, const StoredBlock& block,
                                               const ConsensusParams& params)
{
    auto loaded = LoadOnce(blocks, block, params);
    if (loaded || SystemFailed(loaded)) return loaded;
    return LoadOnce(blocks, block, params); // the transfer from the disk may have failed
}

BlockReader::BlockReader(const BlockStore& blocks, const ConsensusParams& params,
                         std::vector<StoredBlock> path)
{
    m_thread = NamedThread("blockread", [this, &blocks, &params, path = std::move(path)] {
        for (const StoredBlock& block : path) {
            auto item = std::make_shared<Result<std::unique_ptr<LoadedBlock>>>(
                LoadBlock(blocks, block, params));
            if (item->Ok() && !block.undo.IsNull()) {
                const Result<> undo = BlockArchive(blocks).CheckUndo(block);
                (**item)->undo_intact = undo.Ok();
                if (SystemFailed(undo)) *item = undo.GetError();
            }
            // A parsed block takes about twice its bytes.
            const size_t bytes = item->Ok() ? 2 * (**item)->raw.size() : 0;
            if (!m_queue.Push(std::move(item), bytes)) return;
        }
    });
}

BlockReader::~BlockReader()
{
    m_queue.Abort();
    m_thread.Join();
}

Result<std::unique_ptr<LoadedBlock>> BlockReader::Next()
{
    std::optional<Item> item = m_queue.Pop();
    CHECK(item);
    return std::move(**item);
}

} // namespace ibd

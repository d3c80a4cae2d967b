// See block_reader.h.
#include "validation/block_reader.h"

#include "consensus/block_check.h"

namespace ibd {

namespace {

/** What reading needs of a node; copied, since the owner may change the node meanwhile. */
struct Wanted {
    BlockHash hash;
    FilePos pos;
    int height;
    FilePos undo; //!< null: none
    BlockHash prev_hash;
};

Wanted ToWanted(const HeaderNode& node)
{
    return {node.hash,
            {node.file, node.data_pos},
            node.height,
            node.HasUndo() ? FilePos{node.file, node.undo_pos} : FilePos{},
            node.PrevHash()};
}

Result<std::unique_ptr<LoadedBlock>> LoadOnce(const BlockStore& blocks, const Wanted& wanted,
                                              const ConsensusParams& params)
{
    const auto damaged = [&](std::string_view what) {
        return blocks.DamagedBlock(wanted.pos, wanted.hash, wanted.height, what);
    };
    auto loaded = std::make_unique<LoadedBlock>();
    auto raw = blocks.ReadBlock(wanted.pos, &wanted.hash);
    if (!raw) {
        if (raw.GetError().kind == Error::Kind::kBadData) return damaged(raw.Message());
        return SystemError("block {} at height {}: {}", wanted.hash.ToHex(), wanted.height,
                           raw.Message());
    }
    loaded->raw = std::move(*raw);
    if (auto parsed = loaded->view.Parse(loaded->raw); !parsed) return damaged(parsed.Message());
    loaded->verdict = CheckBlock(loaded->view, params);
    if (IsMutated(loaded->verdict)) return damaged(loaded->verdict->ToString());
    return loaded;
}

/** Reads a second time what is damaged: the fault may have been on the way from the disk. */
Result<std::unique_ptr<LoadedBlock>> Load(const BlockStore& blocks, const Wanted& wanted,
                                          const ConsensusParams& params)
{
    auto loaded = LoadOnce(blocks, wanted, params);
    if (loaded || loaded.GetError().kind == Error::Kind::kSystem) return loaded;
    return LoadOnce(blocks, wanted, params);
}

} // namespace

Result<std::unique_ptr<LoadedBlock>> LoadBlock(const BlockStore& blocks, const HeaderNode& node,
                                               const ConsensusParams& params)
{
    return Load(blocks, ToWanted(node), params);
}

BlockReader::BlockReader(const BlockStore& blocks, const ConsensusParams& params,
                         const std::vector<HeaderNode*>& path)
{
    std::vector<Wanted> wanted;
    wanted.reserve(path.size());
    for (const HeaderNode* node : path) wanted.push_back(ToWanted(*node));
    m_thread = NamedThread("blockread", [this, &blocks, &params, wanted = std::move(wanted)] {
        for (const Wanted& block : wanted) {
            auto item =
                std::make_shared<Result<std::unique_ptr<LoadedBlock>>>(Load(blocks, block, params));
            if (item->Ok() && !block.undo.IsNull()) {
                const auto undo = blocks.ReadUndo(block.undo, block.prev_hash);
                (**item)->undo_intact = undo.Ok();
                if (!undo && undo.GetError().kind == Error::Kind::kSystem) *item = undo.GetError();
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

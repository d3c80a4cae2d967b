// See span_blocks.h.
#include "join/span_blocks.h"

#include "consensus/block_check.h"
#include "storage/crc32c.h"

#include <algorithm>

namespace ibd {

BlockPlaces::BlockPlaces(const HeaderNode& terminal,
                         const std::function<FilePos(const HeaderNode&)>& place)
    : m_places(static_cast<size_t>(terminal.height) + 1)
{
    for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
        FilePos& at = m_places[static_cast<size_t>(node->height)];
        if (place) {
            at = place(*node);
        } else if (node->HasData()) {
            at = {node->file, node->data_pos};
        }
    }
}

uint32_t BlockPlaces::Missing() const
{
    const auto missing = std::find_if(m_places.begin() + 1, m_places.end(),
                                      [](const FilePos& place) { return place.IsNull(); });
    return missing == m_places.end() ? 0 : static_cast<uint32_t>(missing - m_places.begin());
}

std::vector<PlannedBlock> SpanBlocks::Plan(HeightSpan span, const Wanted& wanted) const
{
    std::vector<PlannedBlock> blocks;
    if (span.end <= std::max(span.first, 1u)) return blocks;
    const HeaderNode* node = m_terminal.Ancestor(static_cast<int>(span.end) - 1);
    for (; node->height > 0 && static_cast<uint32_t>(node->height) >= span.first;
         node = node->prev) {
        if (!wanted(static_cast<uint32_t>(node->height))) continue;
        const FilePos place = m_places.At(static_cast<uint32_t>(node->height));
        blocks.push_back({.node = node, .file = place.file, .offset = place.offset});
    }
    return blocks;
}

Result<> SpanBlocks::ForEach(HeightSpan span, const Wanted& wanted, const Visit& visit)
{
    // Each block is a stretch of its own, so that the blocks between are not read.
    BlockPlan plan(Plan(span, wanted), PlanOrder::OfFiles(1));
    FileBlockSource source(m_env, m_store, plan, std::move(m_buffer));
    SuppliedBlock block;
    Result<> done;
    while (done) {
        const Result<bool> more = Next(source, block);
        if (!more) done = more.GetError();
        if (!more || !*more) break;
        done = visit(*block.node, m_block);
    }
    m_buffer = source.TakeBuffer();
    return done;
}

/** Reads the next block with the expected checksum into m_block. */
Result<bool> SpanBlocks::Next(FileBlockSource& source, SuppliedBlock& block)
{
    while (true) {
        const Result<bool> more = source.Next(block);
        if (!more) return Error{more.Message(), Error::Kind::kSystem};
        if (!*more) return false;
        const auto height = static_cast<size_t>(block.node->height);
        if (m_block.Parse(block.bytes) && Crc32c(m_block.Raw()) == m_checksums[height]) return true;
        const Result<bool> again = source.Reject(
            block, Violation(RuleViolation::Kind::kMutated, "it has changed since it was joined"));
        if (again) continue;
        if (!IsSound(block)) return Error{again.Message(), Error::Kind::kSystem};
        return BadData("block {} at height {} was damaged when it was joined, and is sound now",
                       block.node->hash.ToHex(), block.node->height);
    }
}

/** Whether the block matches its header, witnesses included, which the join does not check for
 *  stored blocks. */
bool SpanBlocks::IsSound(const SuppliedBlock& block) const
{
    BlockView view;
    return view.Parse(block.bytes) && view.Hash() == block.node->hash &&
           !IsBlockMutated(view, block.node->height >= m_params.segwit_height);
}

} // namespace ibd

// See block_import.h.
#include "validation/block_import.h"

#include "storage/frame_scanner.h"

#include <deque>

namespace ibd {

BlockImporter::BlockImporter(ChainManager& chain, BlockStore& blocks, Env& env, Logger& log,
                             const std::atomic<bool>& interrupt)
    : m_chain(chain), m_blocks(blocks), m_env(env), m_log(log), m_interrupt(interrupt)
{
}

Result<ScanStep> BlockImporter::Accept(const FilePos* pos, ByteSpan raw)
{
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, m_chain.AcceptBlock(raw, pos));
    if (outcome.violation) {
        m_log.Debug(LogCategory::kReindex, "block refused: {}", outcome.violation->ToString());
        // Bytes that do not even parse may hide the start of a real frame.
        return outcome.node ? ScanStep::kNext : ScanStep::kNotABlock;
    }
    if (outcome.is_new) ++m_accepted;
    if (m_waiting.contains(outcome.node->hash)) {
        IBD_RETURN_IF_ERROR(AcceptWaiting(outcome.node->hash));
    }
    return ScanStep::kNext;
}

Result<> BlockImporter::AcceptWaiting(const BlockHash& parent)
{
    std::deque<BlockHash> parents{parent};
    while (!parents.empty()) {
        const auto [begin, end] = m_waiting.equal_range(parents.front());
        parents.pop_front();
        std::vector<Waiting> children;
        for (auto it = begin; it != end; ++it) children.push_back(std::move(it->second));
        m_waiting.erase(begin, end);
        for (Waiting& child : children) {
            const bool ours = !child.pos.IsNull();
            if (ours) {
                IBD_ASSIGN_OR_RETURN(child.raw, m_blocks.ReadBlock(child.pos));
            }
            IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome,
                                 m_chain.AcceptBlock(child.raw, ours ? &child.pos : nullptr));
            if (outcome.violation) continue;
            if (outcome.is_new) ++m_accepted;
            parents.push_back(outcome.node->hash);
        }
    }
    return {};
}

ScanStep BlockImporter::Visit(const FilePos* pos, ByteSpan raw)
{
    if (m_interrupt) return ScanStep::kStop;
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    bool parent_known;
    {
        const auto lock = m_chain.Lock();
        parent_known = header.prev_hash.IsNull() || m_chain.Tree().Find(header.prev_hash);
    }
    if (!parent_known) {
        m_waiting.emplace(header.prev_hash,
                          Waiting{pos ? *pos : FilePos{},
                                  pos ? Bytes() : Bytes(raw.begin(), raw.end())});
        return ScanStep::kNext;
    }
    auto step = Accept(pos, raw);
    if (step) return *step;
    m_failure = step.GetError();
    return ScanStep::kStop;
}

void BlockImporter::ReportWaiting(const std::string& where) const
{
    if (m_waiting.empty()) return;
    m_log.Warning("{} blocks in {} have no parent there and were left out", m_waiting.size(),
                  where);
}

Result<> BlockImporter::Reindex()
{
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_blocks.ListBlockFiles());
    for (size_t i = 0; i < files.size() && !m_interrupt; ++i) {
        m_log.Info("Reindexing block file blk{:05}.dat ({}% complete)...", files[i],
                   i * 100 / files.size());
        IBD_RETURN_IF_ERROR(m_blocks.ScanFile(files[i], [&](FilePos pos, ByteSpan raw) {
            return Visit(&pos, raw);
        }));
        IBD_RETURN_IF_ERROR(m_failure);
    }
    if (m_interrupt) return {};
    ReportWaiting("the block files");
    m_log.Info("Reindexing finished: {} blocks", m_accepted);
    return {};
}

Result<> BlockImporter::LoadFile(const Path& path)
{
    m_log.Info("Importing blocks file {}...", path.string());
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    FrameScanner scanner(*file, path, XorKey(), m_blocks.Magic(), BlockStore::kScanWindow);
    ScanStep step = ScanStep::kNext;
    while (step != ScanStep::kStop) {
        IBD_ASSIGN_OR_RETURN(const auto frame, scanner.Next());
        if (!frame) break;
        step = Visit(nullptr, frame->block);
        if (step == ScanStep::kNotABlock) scanner.Refuse();
    }
    IBD_RETURN_IF_ERROR(m_failure);
    if (m_interrupt) return {};
    ReportWaiting(path.string());
    m_log.Info("Imported {} blocks from {}", m_accepted, path.string());
    return m_chain.ActivateBestChain();
}

} // namespace ibd

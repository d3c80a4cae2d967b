// See block_survey.h.
#include "validation/block_survey.h"

#include "storage/frame_walker.h"
#include "util/progress.h"

#include <deque>

namespace ibd {

Result<> BlockSurvey::Take(Env& env, Logger& log, const BlockStore& blocks,
                           const std::atomic<bool>& interrupt, const ProgressTargets& progress)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, blocks.ListBlockFiles());
    log.Info("Reading the block headers of {} block files", files.size());
    ProgressMeter meter(env, log,
                        {.label = "Reading block headers",
                         .unit = "files",
                         .total = files.size(),
                         .to = progress,
                         .step = WorkStep::kIndex});
    for (uint64_t done = 0; const int32_t file : files) {
        if (interrupt) return {};
        meter.Update(done++);
        IBD_RETURN_IF_ERROR(TakeFile(env, blocks, file, interrupt));
    }
    meter.Finish();
    log.Info("The block files hold {} blocks; best header at height {}", m_blocks.size(),
             m_tree.BestHeader()->height);
    m_waiting.clear();
    return {};
}

Result<> BlockSurvey::TakeFile(Env& env, const BlockStore& blocks, int32_t file,
                               const std::atomic<bool>& interrupt)
{
    const Path path = blocks.BlockPath(file);
    IBD_ASSIGN_OR_RETURN(const auto readable, env.OpenRead(path));
    m_gaps.BeginFile(file);
    FrameWalker walker(*readable, path, blocks.Key(), blocks.Magic(), BlockStore::kScanWindow);
    while (!interrupt) {
        IBD_ASSIGN_OR_RETURN(const auto frame, walker.Next());
        if (!frame) break;
        SurveyedBlock block;
        block.pos = {file, frame->offset};
        block.frame_size = frame->size;
        m_gaps.AddFrame(frame->offset, frame->size);
        const BlockHeader header = BlockHeader::FromBytes(frame->header.data());
        if (!Add(block, header, env.UnixTime())) walker.Refuse();
    }
    return m_gaps.EndFile(*readable);
}

/** False: the header breaks a rule; BlockImporter also refuses such a frame. */
bool BlockSurvey::Add(const SurveyedBlock& block, const BlockHeader& header, int64_t now)
{
    const size_t index = m_blocks.size();
    m_blocks.push_back(block);
    if (!header.prev_hash.IsNull() && !m_tree.Find(header.prev_hash)) {
        m_waiting.emplace(header.prev_hash, Waiting{index, header});
        return true;
    }
    if (m_tree.Accept(header, now, &m_blocks[index].node)) {
        m_blocks[index].refused = true;
        return false;
    }
    AddWaiting(m_blocks[index].node->hash, now);
    return true;
}

void BlockSurvey::AddWaiting(const BlockHash& parent, int64_t now)
{
    if (!m_waiting.contains(parent)) return;
    std::deque<BlockHash> parents{parent};
    while (!parents.empty()) {
        const auto [begin, end] = m_waiting.equal_range(parents.front());
        parents.pop_front();
        const std::vector<std::pair<BlockHash, Waiting>> children(begin, end);
        m_waiting.erase(begin, end);
        for (const auto& [hash, child] : children) {
            HeaderNode*& node = m_blocks[child.index].node;
            if (m_tree.Accept(child.header, now, &node)) continue;
            parents.push_back(node->hash);
        }
    }
}

void BlockSurvey::Checked(size_t i, uint32_t block_size, uint32_t tx_count)
{
    m_blocks[i].block_size = block_size;
    m_blocks[i].tx_count = tx_count;
    m_blocks[i].checked = true;
}

} // namespace ibd

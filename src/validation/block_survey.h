// BlockSurvey: the contents of the block files by frames and block headers alone: a separate header
// tree and the place of each block, in the order of the files. The tree assumes that each block is
// sound. Readers report sound blocks (Checked()); BlockImporter::Reindex() uses the survey and must
// build the same index as without it. One thread; Checked() from any, for different blocks. Memory:
// the tree and 32 bytes a block.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"
#include "util/log.h"
#include "util/progress_targets.h"
#include "validation/import_breaks.h"

#include <atomic>
#include <map>

namespace ibd {

struct SurveyedBlock {
    /** In the survey's tree; null: the parent is missing, or the header breaks a rule. */
    HeaderNode* node = nullptr;
    FilePos pos;
    uint32_t frame_size = 0; //!< bytes according to the frame
    bool refused = false;    //!< the header breaks a rule: the search continues inside the frame
    // Set by Checked().
    bool checked = false;    //!< keeps all rules that need no coins
    uint32_t block_size = 0; //!< bytes of the block itself
    uint32_t tx_count = 0;
};

class BlockSurvey {
public:
    /** `params` must outlive it. */
    explicit BlockSurvey(const ChainParams& params) : m_tree(params) {}

    /** Walks all block files; ends early, without error, when interrupted. `progress` shows it as
     *  part of the index. */
    Result<> Take(Env& env, Logger& log, const BlockStore& blocks,
                  const std::atomic<bool>& interrupt, const ProgressTargets& progress = {});

    HeaderTree& Tree() { return m_tree; }
    const HeaderTree& Tree() const { return m_tree; }
    /** By file and position, except that blocks found inside a refused frame follow that frame. */
    const std::vector<SurveyedBlock>& Blocks() const { return m_blocks; }
    const FrameGaps& Gaps() const { return m_gaps; }
    /** Records that Blocks()[i] was read and keeps all rules that need no coins. */
    void Checked(size_t i, uint32_t block_size, uint32_t tx_count);

private:
    struct Waiting {
        size_t index;
        BlockHeader header;
    };

    Result<> TakeFile(Env& env, const BlockStore& blocks, int32_t file,
                      const std::atomic<bool>& interrupt);
    bool Add(const SurveyedBlock& block, const BlockHeader& header, int64_t now);
    void AddWaiting(const BlockHash& parent, int64_t now);

    HeaderTree m_tree;
    std::vector<SurveyedBlock> m_blocks;
    FrameGaps m_gaps;
    /** By parent; blocks with the same parent in the order of the files. */
    std::multimap<BlockHash, Waiting> m_waiting;
};

} // namespace ibd

// BlockSurvey: what the block files hold, by their frames and block headers alone: a header tree of
// its own and where each block lies, in the order of the files. The tree is that of all blocks,
// supposing that each is sound; what they really are is for who reads them (Checked()) and for
// BlockImporter::Reindex(), which goes by the survey and must come to the same index as without.
// One thread; Checked() from any, for different blocks. Memory: the tree and 32 bytes a block.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"
#include "util/log.h"

#include <atomic>
#include <map>

namespace ibd {

struct SurveyedBlock {
    /** In the survey's tree; null: no parent was found, or the header breaks a rule. */
    HeaderNode* node = nullptr;
    FilePos pos;
    uint32_t frame_size = 0; //!< bytes that the frame says
    bool refused = false;    //!< the header breaks a rule: the search went on inside
    // Set by Checked().
    bool checked = false;    //!< keeps all rules that need no coins
    uint32_t block_size = 0; //!< bytes of the block itself
    uint32_t tx_count = 0;
};

class BlockSurvey {
public:
    /** `params` must outlive it. */
    explicit BlockSurvey(const ChainParams& params) : m_tree(params) {}

    /** Walks all block files; early, without error, when interrupted. */
    Result<> Take(Env& env, Logger& log, const BlockStore& blocks,
                  const std::atomic<bool>& interrupt);

    HeaderTree& Tree() { return m_tree; }
    const HeaderTree& Tree() const { return m_tree; }
    /** By file; in a file by position, except that what was found inside a refused frame follows
     *  that frame. */
    const std::vector<SurveyedBlock>& Blocks() const { return m_blocks; }
    /** Blocks()[i] was read and keeps all rules that need no coins. */
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
    /** By parent; of equal parents in the order of the files. */
    std::multimap<BlockHash, Waiting> m_waiting;
};

} // namespace ibd

// ChainBlocks: the blocks of the tool's chain, found in block files without an index. The files may
// be a running node's; they are only read. Memory: the header tree.
#pragma once

#include "hints/hints.h"
#include "swiftsync/block_walk.h"
#include "validation/block_survey.h"

namespace ibd {

class ChainBlocks {
public:
    /** `dir`: the folder of the block files, or a data directory. `network`: default: that of the
     *  first block file. An error if `stop` is set meanwhile. */
    static Result<std::unique_ptr<ChainBlocks>> Open(Env& env, Logger& log, const Path& dir,
                                                     std::optional<Network> network,
                                                     const std::atomic<bool>& stop);

    const ChainParams& Params() const { return m_params; }
    /** Sets the end of the chain: by hash, or by height on the branch with most work. An error if
     *  it or a block below it is not in the files. */
    Result<> EndAt(const BlockHash& hash);
    Result<> EndAt(uint32_t height);
    /** Ends at the block with the most work. */
    Result<> EndAtBest() { return EndAtNode(m_survey.Tree().BestHeader()); }
    const HeaderNode& Terminal() const { return *m_terminal; }
    /** The nodes of the chain up to Terminal() hold positions in this store. */
    const BlockStore& Store() const { return *m_store; }
    /** Walks all blocks up to Terminal(). */
    BlockWalk Walk() const { return {*m_store, *m_terminal, m_params.consensus}; }

private:
    explicit ChainBlocks(ChainParams params) : m_params(std::move(params)), m_survey(m_params) {}
    Result<> EndAtNode(HeaderNode* node);

    const ChainParams m_params;
    std::unique_ptr<BlockStore> m_store;
    BlockSurvey m_survey;
    const HeaderNode* m_terminal = nullptr;
};

} // namespace ibd

// ChainBlocks: the blocks of the chain that the tool works on, found in block files without an
// index. The files may be a running node's; they are only read. Memory: the header tree and 8 bytes
// a block.
#pragma once

#include "hints/hints.h"
#include "script/script.h"
#include "storage/block_store.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"
#include "util/threads.h"
#include "validation/block_survey.h"

namespace ibd {

/** What one thread needs for a block; kept from block to block. */
struct BlockSlot {
    Bytes bytes;
    BlockView view;
    BlockHints hints;
    BlockDelta delta;
    std::unique_ptr<Aggregate> sum;
    // What a command makes of it.
    std::vector<uint32_t> unspent;     //!< indices among the outputs of some counting
    std::vector<uint32_t> all_indices; //!< the same outputs among all
    uint32_t outputs = 0;
    uint32_t all_outputs = 0;
    std::optional<Error> error;
};

class ChainBlocks {
public:
    /** `dir`: the folder of the block files, or a data directory. Without a network, that of the
     *  first block file. */
    static Result<std::unique_ptr<ChainBlocks>> Open(Env& env, Logger& log, const Path& dir,
                                                     std::optional<Network> network);

    const ChainParams& Params() const { return m_params; }
    /** Makes the block the end of the chain: by hash, or by height on the branch with most work.
     *  An error if it or a block below it is not in the files. */
    Result<> EndAt(const BlockHash& hash);
    Result<> EndAt(uint32_t height);
    /** The block with the most work. */
    Result<> EndAtBest() { return EndAtNode(m_survey.Tree().BestHeader()); }
    const HeaderNode& Terminal() const { return *m_terminal; }
    /** Where the nodes of the chain up to Terminal() say that their blocks are. */
    const BlockStore& Store() const { return *m_store; }
    FoldRules Rules(HintsCounting counting) const;

    /** For the heights from `first` to the terminal block: reads and parses the block and calls
     *  work(height, slot) on any thread, then take(height, slot) in order on the caller's. An error
     *  of either, in order, ends it. */
    Result<> ForEach(uint32_t first, const std::function<Result<>(uint32_t, BlockSlot&)>& work,
                     const std::function<Result<>(uint32_t, BlockSlot&)>& take,
                     std::optional<uint32_t> last = {}) const;

private:
    explicit ChainBlocks(ChainParams params) : m_params(std::move(params)), m_survey(m_params) {}
    Result<> EndAtNode(HeaderNode* node);
    Result<> Load(uint32_t height, BlockSlot& slot) const;

    const ChainParams m_params;
    std::unique_ptr<BlockStore> m_store;
    BlockSurvey m_survey;
    const HeaderNode* m_terminal = nullptr;
    std::vector<FilePos> m_places; //!< by height, of the chain that ends with m_terminal
};

/** The outputs of a block as hints number them: calls visit(tx, vout, counted, spendable). */
template <typename Visitor>
void ForEachOutput(const BlockView& block, uint32_t height, const FoldRules& rules, Visitor visit)
{
    const bool overwritten = rules.IsOverwritten(height);
    for (size_t t = 0; t < block.Txs().size(); ++t) {
        const TxView& tx = block.Txs()[t];
        for (size_t i = 0; i < tx.outputs.size(); ++i) {
            const bool spendable =
                !(t == 0 && overwritten) && !IsUnspendable(tx.outputs[i].script_pubkey);
            visit(tx, static_cast<uint32_t>(i), spendable);
        }
    }
}

} // namespace ibd

// BlockWalk: the stored blocks of a chain in order, read and parsed ahead on all cores. For users
// that need the order; the booster does not. Memory: kSlotsPerThread blocks a thread.
#pragma once

#include "chain/header_tree.h"
#include "script/script.h"
#include "storage/block_store.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"

#include <functional>

namespace ibd {

/** Data of one thread for a block; its memory is reused. */
struct BlockSlot {
    UnzeroedBytes bytes;
    BlockView view;
    BlockHints hints;
    BlockDelta delta;
    std::unique_ptr<Aggregate> sum;
    // Filled by the user of the walk.
    std::vector<uint32_t> unspent;     //!< indices of outputs, in the user's numbering
    std::vector<uint32_t> all_indices; //!< the same outputs, numbered among all
    uint32_t outputs = 0;
    uint32_t all_outputs = 0;
    std::optional<Error> error;
};

class BlockWalk {
public:
    /** Blocks being processed for each thread; each takes a few MB. */
    static constexpr size_t kSlotsPerThread = 8;

    using Step = std::function<Result<>(uint32_t height, BlockSlot& slot)>;

    /** `terminal` and its ancestors hold the positions of their blocks. All arguments outlive the
     *  walk. */
    BlockWalk(const BlockStore& store, const HeaderNode& terminal, const ConsensusParams& params)
        : m_store(store), m_terminal(terminal), m_params(params)
    {
    }

    const HeaderNode& Terminal() const { return m_terminal; }
    FoldRules Rules(HintsCounting counting) const;

    /** For the heights from `first` to `last`, or to the terminal block: reads and parses the
     *  block, calls work(height, slot) on any thread, then take(height, slot) on the caller's
     *  thread, in height order. The error at the lowest height ends the walk. */
    Result<> ForEach(uint32_t first, const Step& work, const Step& take,
                     std::optional<uint32_t> last = {}) const;

private:
    Result<> Load(uint32_t height, BlockSlot& slot) const;

    const BlockStore& m_store;
    const HeaderNode& m_terminal;
    const ConsensusParams& m_params;
};

/** Visits the outputs of a block in the order of their numbers in hints: calls visit(tx, vout,
 *  spendable). */
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

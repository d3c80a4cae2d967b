// BlockTaker: what a worker does with a block before an engine looks at it. Parses it, holds it
// against the rules that need no coins - all of them, or as many as tell whether it still is the
// block that the index took - and the order of spending within it, and tells its source to keep or
// that it is rejected. Owned by a worker; one thread. Memory: the arrays of the largest block so
// far.
#pragma once

#include "chain/block_source.h"
#include "swiftsync/spend_order.h"

#include <atomic>
#include <functional>

namespace ibd {

/** Why a worker gave up. */
struct FoldFailure {
    enum class Kind {
        kMachine, //!< disk, system, or a block that is damaged there; what is done stays
        kHints,   //!< the hints are wrong
        kTotals,  //!< what they lead to cannot be: as at the end, undo data may be at fault
        kBlock,   //!< a block breaks a rule
        kUndo,    //!< undo data is of no use
    };
    Kind kind = Kind::kMachine;
    Error error;
    int32_t height = -1;
};

/** Adds to a counter that only this thread writes. */
inline void AddTo(std::atomic<uint64_t>& counter, uint64_t n)
{
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

class BlockTaker {
public:
    /** What a block is held against in place of the rules that need no coins and of the order of
     *  spending: every rule, or no more than whether it is the same. Errors of kind kBadData are
     *  those of undo data. */
    using OtherCheck = std::function<Result<RuleResult>(const BlockView&, const HeaderNode&)>;

    /** `secret`: see SpendOrder. `other`: may be empty. */
    BlockTaker(const ChainParams& params, uint64_t secret, OtherCheck other = {})
        : m_params(params.consensus), m_order(secret), m_other(std::move(other))
    {
    }

    /** Checks the block that `source` handed out and answers the source. `kept`: it keeps the rules
     *  and is View() now; else, without a failure, the source goes on to another. */
    std::optional<FoldFailure> Take(BlockSource& source, const SuppliedBlock& block, bool& kept);

    const BlockView& View() const { return m_view; }
    /** Of View(): as LegacySigOpCount(). */
    int64_t LegacySigOps() const;

private:
    Result<RuleResult> Check(const SuppliedBlock& block);
    RuleResult CheckAnew(const HeaderNode& node);
    RuleResult CheckStored(const HeaderNode& node);
    std::optional<FoldFailure> CheckSpendOrder(const HeaderNode& node);

    const ConsensusParams& m_params;
    BlockView m_view;
    int64_t m_sigops = -1; //!< of it; below 0: they were not counted
    SpendOrder m_order;
    const OtherCheck m_other;
};

} // namespace ibd

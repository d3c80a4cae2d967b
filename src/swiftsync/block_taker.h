// BlockTaker: the first steps of a worker with a block. Parses it and checks the rules that need no
// coins, and the order of spending within the block. For a block that the index has accepted, only
// its identity is checked. Tells the source to keep or to reject it. Owned by a worker; one thread.
// Memory: the arrays of the largest block so far.
#pragma once

#include "chain/block_source.h"
#include "consensus/rule_verdict.h"
#include "swiftsync/spend_order.h"

#include <atomic>
#include <functional>

namespace ibd {

/** The reason why a worker stopped. */
struct FoldFailure {
    enum class Kind {
        kMachine, //!< disk or system failed, or a stored block is damaged; work finished before is
                  //!< kept
        kHints,   //!< the hints are wrong
        kTotals,  //!< the totals are impossible: undo data may be wrong instead of the hints
        kBlock,   //!< a block breaks a rule
        kUndo,    //!< undo data is missing or unusable
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
    /** Replaces the check of the coinless rules and of the order of spending; may check every rule,
     *  or only that the block is unchanged. Errors of kind kBadData are about undo data. */
    using OtherCheck = std::function<RuleVerdict(const BlockView&, const SuppliedBlock&)>;

    /** `secret`: see SpendOrder. `other`: may be empty. */
    BlockTaker(const ChainParams& params, uint64_t secret, OtherCheck other = {})
        : m_params(params.consensus), m_order(secret), m_other(std::move(other))
    {
    }

    /** Checks the block that `source` handed out and tells the source the result. Sets `kept` if
     *  the block is valid; it is in View() then. Otherwise, unless there is a failure, the source
     *  continues with another block. */
    std::optional<FoldFailure> Take(BlockSource& source, const SuppliedBlock& block, bool& kept);

    const BlockView& View() const { return m_view; }
    /** LegacySigOpCount() of View(). */
    int64_t LegacySigOps() const;

private:
    RuleVerdict Check(const SuppliedBlock& block);
    RuleResult CheckAnew(const HeaderNode& node);
    void NoteMutation(RuleViolation& broken, const HeaderNode& node) const;
    RuleResult CheckStored(const HeaderNode& node);
    std::optional<FoldFailure> CheckSpendOrder(const HeaderNode& node);

    const ConsensusParams& m_params;
    BlockView m_view;
    int64_t m_sigops = -1; //!< LegacySigOpCount() of m_view; negative: not counted
    SpendOrder m_order;
    const OtherCheck m_other;
};

} // namespace ibd

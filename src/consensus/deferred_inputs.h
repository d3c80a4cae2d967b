// DeferredInputs: runs inputs of a block and verifies the signatures of many of them together
// (script/deferred_signatures.h). An input whose signatures do not all hold runs again without
// deferring, and only that verdict counts. One thread. Memory: up to kBatchNotes signatures at 200
// bytes, those of one more input, and those of inputs that failed meanwhile, as the budget has it.
#pragma once

#include "consensus/block_spend.h"
#include "script/deferred_signatures.h"

namespace ibd {

/** The work of deferred runs in a block, as DeferredSignatures counts it. Bounds the part that is
 *  lost by the work that batches have saved, so that a hostile block costs little more than without
 *  deferring. The cost of a valid input gives no credit: it may be counted too high. One thread:
 *  others have budgets of their own. */
class DeferBudget {
public:
    /** Work that may always be lost: about a millisecond. */
    static constexpr uint64_t kFreeWaste = 2'500'000;
    /** Credit for each signature that had to be valid: less than a batch saves, on all machines. */
    static constexpr uint64_t kSavedBySignature = 10'000;
    /** With less room no input is deferred: the cost of two groups of signatures, as a group costs
     *  the same when some of its lanes are empty. */
    static constexpr uint64_t kLeastRoom = kFreeWaste / 4;

    /** Work that is lost unless the signatures of its input hold. */
    void AddWaiting(uint64_t cost) { m_waiting += cost; }
    // `cost`: of AddWaiting().
    void SettleLost(uint64_t cost)
    {
        m_waiting -= cost;
        m_wasted += cost;
    }
    /** `signatures`: that had to be valid, and shared their lanes with others. */
    void SettleProven(uint64_t cost, size_t signatures)
    {
        m_waiting -= cost;
        m_saved += signatures * kSavedBySignature;
        ++m_proven;
    }
    void AddWasted(uint64_t cost) { m_wasted += cost; }
    uint64_t Waiting() const { return m_waiting; }
    uint64_t Saved() const { return m_saved; }
    uint64_t Wasted() const { return m_wasted; }
    /** Number of inputs, for tests. */
    size_t Proven() const { return m_proven; }
    /** Whether inputs may be deferred, now or after others are settled. */
    bool Left() const { return m_wasted + kLeastRoom <= Bound(); }
    /** Work that may still be lost after all that waits was lost. */
    uint64_t Room() const
    {
        const uint64_t lost = m_waiting + m_wasted, bound = Bound();
        return lost < bound ? bound - lost : 0;
    }

private:
    uint64_t Bound() const { return kFreeWaste + m_saved; }

    uint64_t m_saved = 0, m_wasted = 0, m_waiting = 0;
    size_t m_proven = 0;
};

class DeferredInputs {
public:
    static constexpr size_t kBatchNotes = 512;
    /** A batch with fewer saves nothing. */
    static constexpr size_t kLeastNotes = 8;
    /** When waiting inputs reach this cost, they are verified. */
    static constexpr size_t kBatchCost = 8'000'000;

    /** The objects behind its pointers must live until the input is verified. */
    struct Input {
        const TxView* tx;
        std::span<const SpentOutput> spent; //!< by all inputs of the transaction
        const TxHashes* hashes;
        size_t index;
        size_t tag = 0; //!< the caller's
    };

    /** `budget`: of the block, for this thread. Not for LanesMode::kOff. */
    DeferredInputs(LanesMode mode, DeferBudget& budget) : m_budget(budget), m_signatures(mode) {}

    /** Drops waiting inputs; the caller resets the budget. */
    void Begin(ScriptFlags flags);
    /** Runs an input; its signatures may be verified by a later call. Runs it without deferring if
     *  the budget has no room. Returns the violation of the first input, in the order of calls,
     *  that breaks a rule; the block is then invalid, and no more inputs need to run. */
    RuleResult Run(const Input& input);
    /** Whether an input of this transaction waits. Requires: no later one has run. */
    bool Waits(const TxView& tx) const
    {
        return !m_waiting.empty() && m_waiting.back().input.tx == &tx;
    }
    /** Verifies the waiting inputs; same result as Run(). */
    RuleResult Prove();
    /** After a violation: the tag of its input. */
    size_t BrokenTag() const { return m_broken_tag; }

private:
    struct Waiting {
        Input input;
        size_t cost;
        size_t signatures; //!< that have to be valid
    };
    enum class Deferred { kValid, kWaits, kRunPlainly };

    RuleResult RunPlainly(const Input& input);
    Deferred RunDeferred(const Input& input);
    bool IsBatchFull() const;

    DeferBudget& m_budget;
    ScriptFlags m_flags = 0;
    DeferredSignatures m_signatures;
    std::vector<Waiting> m_waiting;
    size_t m_broken_tag = 0;
};

} // namespace ibd

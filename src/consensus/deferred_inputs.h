// DeferredInputs: runs inputs of a block and verifies the signatures of many of them together
// (script/deferred_signatures.h). An input whose signatures do not all hold runs again without
// deferring, and only that verdict counts. One thread. Memory: up to kBatchNotes signatures at 200
// bytes, and those of one more input.
#pragma once

#include "consensus/block_spend.h"
#include "script/deferred_signatures.h"

#include <atomic>

namespace ibd {

/** The work of deferred runs in a block, as DeferredSignatures counts it. Bounds the part that is
 *  lost, so that a hostile block costs little more than without deferring. Any thread. */
class DeferBudget {
public:
    /** Work that may always be lost: less than two milliseconds. */
    static constexpr uint64_t kFreeWaste = 3'200'000;
    /** Above kFreeWaste: deferring continues while the lost work is at most 1/kUsefulParts of the
     *  useful work. */
    static constexpr uint64_t kUsefulParts = 8;

    void Reset() { m_useful = m_wasted = 0; }
    void AddUseful(uint64_t cost) { m_useful += cost; }
    void AddWasted(uint64_t cost) { m_wasted += cost; }
    uint64_t Useful() const { return m_useful; }
    uint64_t Wasted() const { return m_wasted; }
    /** Whether inputs may be deferred. */
    bool Left() const { return m_wasted <= kFreeWaste + m_useful / kUsefulParts; }

private:
    std::atomic<uint64_t> m_useful{0}, m_wasted{0};
};

class DeferredInputs {
public:
    static constexpr size_t kBatchNotes = 512;
    /** When waiting inputs reach this cost, they are verified, which bounds the work lost at once.
     */
    static constexpr size_t kBatchCost = 8'000'000;

    /** The objects behind its pointers must live until the input is verified. */
    struct Input {
        const TxView* tx;
        std::span<const SpentOutput> spent; //!< by all inputs of the transaction
        const TxHashes* hashes;
        size_t index;
        size_t tag = 0; //!< the caller's
    };

    /** `budget`: of the block; may be shared. Not for LanesMode::kOff. */
    DeferredInputs(LanesMode mode, DeferBudget& budget) : m_budget(budget), m_signatures(mode) {}

    /** Drops waiting inputs. */
    void Begin(ScriptFlags flags);
    /** Runs an input; its signatures may be verified by a later call. Runs it without deferring if
     *  the budget is used up. Returns the violation of the first input, in the order of calls, that
     *  breaks a rule; the block is then invalid, and no more inputs need to run. */
    RuleResult Run(const Input& input);
    /** Verifies the waiting inputs; same result as Run(). */
    RuleResult Prove();
    /** After a violation: the tag of its input. */
    size_t BrokenTag() const { return m_broken_tag; }

private:
    struct Waiting {
        Input input;
        size_t cost;
    };

    RuleResult RunPlainly(const Input& input);
    bool RunDeferred(const Input& input);

    DeferBudget& m_budget;
    ScriptFlags m_flags = 0;
    DeferredSignatures m_signatures;
    std::vector<Waiting> m_waiting;
    size_t m_waiting_cost = 0;
    size_t m_broken_tag = 0;
};

} // namespace ibd

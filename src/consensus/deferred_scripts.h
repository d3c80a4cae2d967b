// DeferredScripts: runs the input scripts of a block, transaction by transaction, and verifies the
// signatures of many inputs together (consensus/deferred_inputs.h). The verdict is that of
// CheckInputScripts, with the violation of the first input in block order that breaks a rule. One
// thread. Memory: that of DeferredInputs, and the spent scripts of waiting inputs, up to
// kHeldScriptBytes and those of one more transaction.
#pragma once

#include "consensus/deferred_inputs.h"

#include <deque>

namespace ibd {

class DeferredScripts {
public:
    static constexpr size_t kHeldScriptBytes = size_t{1} << 20;

    explicit DeferredScripts(LanesMode mode) : m_mode(mode), m_inputs(mode, m_budget) {}

    /** Starts the next block; drops waiting inputs of an earlier one. `batches`: false: its
     *  signatures are verified one by one by libsecp256k1. */
    void Begin(ScriptFlags flags, bool batches);
    /** Runs the scripts of a transaction, in block order. `spent`: one output for each input;
     *  copied if an input waits. The transaction must live until Finish(). A violation, of this or
     *  an earlier transaction, ends the block. */
    RuleResult Add(const TxView& tx, std::span<const SpentOutput> spent);
    /** Verifies the waiting inputs. */
    RuleResult Finish();
    /** The work of this block, for tests. */
    const DeferBudget& Budget() const { return m_budget; }

private:
    /** A transaction with the outputs that it spends. */
    struct Held {
        std::vector<SpentOutput> spent;
        Bytes scripts; //!< `spent` points into it after KeepScripts()
        std::optional<TxHashes> hashes;
    };

    void KeepScripts(Held& held);

    const LanesMode m_mode;
    ScriptFlags m_flags = 0;
    bool m_batches = true; //!< of this block
    DeferBudget m_budget;  //!< of this block
    DeferredInputs m_inputs;
    std::deque<Held> m_held; //!< m_inputs points into it
    size_t m_held_bytes = 0;
};

} // namespace ibd

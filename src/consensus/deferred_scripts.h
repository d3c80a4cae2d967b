// DeferredScripts: runs the input scripts of a block, transaction by transaction, with the
// signatures of many inputs proven together (script/deferred_signatures.h). The verdict is
// CheckInputScripts', and the violation that of the first input in block order that breaks a rule.
// One thread. Memory: up to kBatchNotes signatures at 200 bytes, those of one more input, and the
// spent scripts of the inputs that wait, up to kHeldScriptBytes and those of one more transaction.
#pragma once

#include "consensus/block_spend.h"
#include "script/deferred_signatures.h"

#include <deque>

namespace ibd {

class DeferredScripts {
public:
    static constexpr size_t kBatchNotes = 512;
    static constexpr size_t kHeldScriptBytes = size_t{1} << 20;
    /** After so many inputs of a block whose assumptions failed the others run plainly, so that a
     *  hostile block costs little more than without deferring. */
    static constexpr size_t kMaxFailures = 64;

    explicit DeferredScripts(LanesMode mode) : m_mode(mode), m_signatures(mode) {}

    /** The next block. What waits of another one is forgotten. */
    void Begin(ScriptFlags flags);
    /** Runs the scripts of a transaction, in block order. `spent`: one output for each input;
     * copied. The transaction must live until Finish(). A violation, of this or an earlier
     * transaction, ends the block. */
    RuleResult Add(const TxView& tx, std::span<const SpentOutput> spent);
    /** Proves what waits. */
    RuleResult Finish();

private:
    /** A transaction that waits, with what it spends. */
    struct Held {
        const TxView* tx;
        std::vector<SpentOutput> spent;
        Bytes scripts; //!< that `spent` points into
        std::optional<TxHashes> hashes;
    };
    struct Input {
        const Held* held;
        size_t index;
    };

    bool Deferring() const { return m_mode != LanesMode::kOff && m_failures < kMaxFailures; }
    const Held& Hold(const TxView& tx, std::span<const SpentOutput> spent);
    RuleResult RunPlainly(const Input& input) const;
    RuleResult Prove();

    const LanesMode m_mode;
    ScriptFlags m_flags = 0;
    DeferredSignatures m_signatures;
    std::deque<Held> m_held;     //!< inputs point into it
    std::vector<Input> m_inputs; //!< in block order, those that assumed something
    size_t m_held_bytes = 0;
    size_t m_failures = 0; //!< of this block
};

} // namespace ibd

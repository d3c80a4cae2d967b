// DeferredScripts: runs the input scripts of a block, transaction by transaction, and verifies the
// signatures of many inputs together (script/deferred_signatures.h). The verdict is that of
// CheckInputScripts, with the violation of the first input in block order that breaks a rule. One
// thread. Memory: up to kBatchNotes signatures at 200 bytes, those of one more input, and the spent
// scripts of waiting inputs, up to kHeldScriptBytes and those of one more transaction.
#pragma once

#include "consensus/block_spend.h"
#include "script/deferred_signatures.h"

#include <deque>

namespace ibd {

class DeferredScripts {
public:
    static constexpr size_t kBatchNotes = 512;
    static constexpr size_t kHeldScriptBytes = size_t{1} << 20;
    /** After this many inputs of a block with failed assumptions the others run without deferring,
     *  so that a hostile block costs little more than without it. */
    static constexpr size_t kMaxFailures = 64;

    explicit DeferredScripts(LanesMode mode) : m_mode(mode), m_signatures(mode) {}

    /** Starts the next block; drops waiting inputs of an earlier one. */
    void Begin(ScriptFlags flags);
    /** Runs the scripts of a transaction, in block order. `spent`: one output for each input;
     *  copied. The transaction must live until Finish(). A violation, of this or an earlier
     *  transaction, ends the block. */
    RuleResult Add(const TxView& tx, std::span<const SpentOutput> spent);
    /** Verifies the waiting inputs. */
    RuleResult Finish();

private:
    /** A waiting transaction with the outputs that it spends. */
    struct Held {
        const TxView* tx;
        std::vector<SpentOutput> spent;
        Bytes scripts; //!< `spent` points into it
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
    std::deque<Held> m_held;     //!< m_inputs points into it
    std::vector<Input> m_inputs; //!< in block order, inputs with assumptions
    size_t m_held_bytes = 0;
    size_t m_failures = 0; //!< of this block
};

} // namespace ibd

// ScriptChecker: the interface between connecting a block and running its input scripts.
// ConnectBlock passes every transaction with the coins that it spends. The checker may run scripts
// on other threads and returns the verdict once, at the end of the block.
#pragma once

#include "consensus/rule_result.h"
#include "primitives/tx_view.h"
#include "script/coin.h"
#include "script/verify_flags.h"

#include <span>

namespace ibd {

class ScriptChecker {
public:
    virtual ~ScriptChecker() = default;

    /** Whether results stay in the caches. `true`: the next blocks may be connected again soon, as
     *  happens near the tip. `false`: a cached result is removed when it is used. */
    virtual void Remember(bool) {}
    /** Whether signatures of the next blocks may be verified in batches. `false`: libsecp256k1
     *  verifies each signature. */
    virtual void Batch(bool) {}
    /** Begins a block; the flags hold for all its transactions. */
    virtual void Begin(ScriptFlags flags) = 0;
    /** Call it after Begin(): the transactions of the following Add() calls, in order, so that the
     *  checker can look ahead. They stay valid until Finish() has returned. */
    virtual void Expect(std::span<const TxView>) {}
    /** Queues all inputs of a transaction. `spent`: one coin for each input, in order. Both stay
     *  valid and unchanged until Finish() has returned. */
    virtual void Add(const TxView& tx, std::span<const Coin> spent) = 0;
    /** Waits for all queued inputs. Returns the first violation found, or none. Call it once for
     *  each Begin(), also when the block failed for another reason. */
    virtual RuleResult Finish() = 0;
};

} // namespace ibd

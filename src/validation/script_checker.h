// ScriptChecker: the seam between connecting a block and running its input scripts. ConnectBlock
// hands over every transaction with the coins that it spends; the checker may run scripts on other
// threads and is asked for the verdict once, at the end of the block.
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

    /** Whether blocks from now on may soon be connected again, as those near the tip: what was
     *  verified is then remembered for that. Else what is remembered is used once and let go. */
    virtual void Remember(bool) {}
    /** Begins a block; the flags hold for all its transactions. */
    virtual void Begin(ScriptFlags flags) = 0;
    /** Queues all inputs of a transaction. `spent`: one coin for each input, in order. Both stay
     *  valid and unchanged until Finish() returned. */
    virtual void Add(const TxView& tx, std::span<const Coin> spent) = 0;
    /** Waits for everything queued. The first violation found, or none. Must be called once for
     *  each Begin(), also when the block failed for another reason. */
    virtual RuleResult Finish() = 0;
};

} // namespace ibd

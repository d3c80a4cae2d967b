// ScriptChoice: whether the scripts of a block must run (-assumevalid), and the checker that runs
// them. Logs when the choice changes. Owned by the ChainManager. Any thread, but for SetChecker().
#pragma once

#include "chain/assume_valid.h"
#include "validation/chain_view.h"
#include "validation/script_checker.h"

#include <atomic>

namespace ibd {

class ScriptChoice {
public:
    /** `chain` outlives it. */
    explicit ScriptChoice(const ChainView& chain) : m_chain(chain) {}

    /** Null: a block whose scripts must run is an error. Outlives this object. */
    void SetChecker(ScriptChecker* checker) { m_checker = checker; }
    ScriptChecker* Checker() const { return m_checker; }
    /** The checker for a block's scripts; null: they need not run. */
    Result<ScriptChecker*> CheckerFor(const HeaderNode& node);

private:
    void LogChange(const HeaderNode& node, ScriptCheckReason reason);

    const ChainView& m_chain;
    ScriptChecker* m_checker = nullptr;
    static constexpr int kNothingLogged = -1;
    /** The last logged ScriptCheckReason for running or skipping scripts. */
    std::atomic<int> m_logged = kNothingLogged;
};

} // namespace ibd

// See script_choice.h.
#include "validation/script_choice.h"

namespace ibd {

void ScriptChoice::LogChange(const HeaderNode& node, ScriptCheckReason reason)
{
    const int now = static_cast<int>(reason);
    if (!node.prev || m_logged.exchange(now) == now) return; // genesis has no scripts
    if (reason == ScriptCheckReason::kSkip) {
        m_chain.Log().Info("Disabling script verification at block #{} ({}).", node.height,
                           node.hash.ToHex());
    } else {
        m_chain.Log().Info("Enabling script verification at block #{} ({}): {}.", node.height,
                           node.hash.ToHex(), ScriptCheckReasonText(reason));
    }
}

Result<ScriptChecker*> ScriptChoice::CheckerFor(const HeaderNode& node)
{
    const ChainManagerOptions& options = m_chain.Options();
    const ScriptCheckReason reason =
        ScriptCheckFor(m_chain.Read().Tree(), node, options.assume_valid, options.minimum_work);
    LogChange(node, reason);
    if (reason == ScriptCheckReason::kSkip) return static_cast<ScriptChecker*>(nullptr);
    if (m_checker) {
        m_checker->Remember(!m_chain.IsInitialBlockDownload());
        m_checker->Batch(m_chain.KnownHeightOf(node) == node.height);
        return m_checker;
    }
    return SystemError("the scripts of block {} at height {} must be run ({}), and this node was "
                       "started without a script engine",
                       node.hash.ToHex(), node.height, ScriptCheckReasonText(reason));
}

} // namespace ibd

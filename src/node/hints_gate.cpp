// See hints_gate.h.
#include "node/hints_gate.h"

#include "swiftsync/terminal.h"

namespace ibd {

namespace {

/** What the user can do when the terminal block is not assumed valid for this reason. */
const char* Remedy(ScriptCheckReason reason)
{
    switch (reason) {
    case ScriptCheckReason::kBestHeaderLowWork:
        return "the block files end too early, complete them first";
    case ScriptCheckReason::kTooRecent:
        return "take hints of a block with two weeks of work above it, or complete the block files";
    default: return "give -assumevalid=<hash> of a block at or above that height";
    }
}

/** Whether headers on top of those that are known can be expected. */
bool MoreAreToCome(const HeaderNode& best, const ChainManagerOptions& trust, int64_t now)
{
    return best.chain_work < trust.minimum_work || best.time < now - trust.max_tip_age;
}

/** Of hints that are above the best header or off its branch: whether that may still change. A
 *  branch that is two weeks of work longer than the hints is not left any more. */
bool MayBecomeTerminal(const HintsInfo& hints, const HeaderNode& best,
                       const ConsensusParams& params)
{
    const HeaderNode* const there = best.Ancestor(static_cast<int>(hints.terminal_height));
    return !there || BlockProofEquivalentTime(best, *there, best, params) <= kAssumeValidBuryTime;
}

/** Whether more headers can make a block assumed valid that is not for this reason. */
bool MayBecomeAssumed(ScriptCheckReason reason)
{
    return reason == ScriptCheckReason::kHashNotInHeaders ||
           reason == ScriptCheckReason::kBestHeaderLowWork ||
           reason == ScriptCheckReason::kTooRecent;
}

} // namespace

HintsStanding JudgeHints(const HintsInfo& hints, const HeaderTree& headers,
                         const ChainManagerOptions& trust, bool full_validation, int64_t now)
{
    const HeaderNode& best = *headers.BestHeader();
    const bool more = MoreAreToCome(best, trust, now);
    const auto found = CheckTerminalBlock(hints, headers, headers.Params());
    if (!found)
        return {nullptr, found.Message(),
                more && MayBecomeTerminal(hints, best, headers.Params().consensus)};
    const HeaderNode& terminal = **found;
    if (full_validation) return {&terminal, "", false};
    const ScriptCheckReason reason =
        ScriptCheckFor(headers, terminal, trust.assume_valid, trust.minimum_work);
    if (reason == ScriptCheckReason::kSkip) return {&terminal, "", false};
    return {nullptr,
            fmt::format("{}: the hints end at block {}, height {}, whose scripts must be run ({}). "
                        "The booster works below the assumed-valid block only: {}; or add "
                        "-ibdboosterfullvalidation if there is undo data, or leave out "
                        "-ibdboosterfile",
                        hints.path.string(), terminal.hash.ToHex(), terminal.height,
                        ScriptCheckReasonText(reason), Remedy(reason)),
            more && MayBecomeAssumed(reason)};
}

} // namespace ibd

// See hints_gate.h.
#include "booster/hints_gate.h"

#include "swiftsync/terminal.h"
#include "validation/pruning.h"

namespace ibd {

namespace {

/** The user's remedy if the terminal block is not assumed valid for this reason. */
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

/** Whether more headers above the known ones can be expected. */
bool MoreAreToCome(const HeaderNode& best, const ChainManagerOptions& trust, int64_t now)
{
    return best.chain_work < trust.minimum_work || best.time < now - trust.max_tip_age;
}

/** For hints above the best header or off its branch: whether that may change. A reorganisation of
 *  a branch with two weeks of work above the end of the hints is excluded. */
bool MayBecomeTerminal(const HintsInfo& hints, const HeaderNode& best,
                       const ConsensusParams& params)
{
    const HeaderNode* const there = best.Ancestor(static_cast<int>(hints.terminal_height));
    return !there || BlockProofEquivalentTime(best, *there, best, params) <= kAssumeValidBuryTime;
}

/** Whether more headers can remove this reason. */
bool MayBecomeAssumed(ScriptCheckReason reason)
{
    return reason == ScriptCheckReason::kHashNotInHeaders ||
           reason == ScriptCheckReason::kBestHeaderLowWork ||
           reason == ScriptCheckReason::kTooRecent;
}

/** The highest block up to `top` with no missing block below. */
const HeaderNode* HighestComplete(const HeaderNode* top,
                                  const std::function<bool(const HeaderNode&)>& stored)
{
    const HeaderNode* complete = top;
    for (const HeaderNode* node = top; node->height > 0; node = node->prev) {
        if (!stored(*node)) complete = node->prev;
    }
    return complete;
}

/** The remedy when the booster was requested without hints. */
const char* OwnRemedy(ScriptCheckReason reason)
{
    switch (reason) {
    case ScriptCheckReason::kBestHeaderLowWork:
    case ScriptCheckReason::kTooRecent: return "complete the block files first";
    case ScriptCheckReason::kHashNotInHeaders:
        return "give -assumevalid=<hash> of a block that is stored, or a peer, or restart with "
               "-reindex if a block file was damaged when it was indexed and is sound now";
    default: return "give -assumevalid=<hash> of a block that is stored";
    }
}

} // namespace

HintsStanding FindOwnTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                              bool full_validation, int64_t now,
                              const std::function<bool(const HeaderNode&)>& stored)
{
    const HeaderNode& best = *headers.BestHeader();
    const bool more = MoreAreToCome(best, trust, now);
    const bool gated = !full_validation && !trust.assume_valid.IsNull();
    const HeaderNode* top = &best;
    ScriptCheckReason reason = ScriptCheckReason::kSkip;
    if (gated) {
        const HeaderNode* const assumed = headers.Find(trust.assume_valid);
        if (assumed) top = LastCommonAncestor(&best, assumed);
        // The lower a block, the more work is above it.
        const auto check = [&] {
            return reason = ScriptCheckFor(headers, *top, trust.assume_valid, trust.minimum_work);
        };
        while (check() == ScriptCheckReason::kTooRecent && top->height > 0) top = top->prev;
    }
    const bool may_change =
        more && (reason != ScriptCheckReason::kSkip || (gated && top->hash != trust.assume_valid));
    if (reason != ScriptCheckReason::kSkip) {
        return {nullptr,
                fmt::format("no stored block may be assumed valid ({}), and the booster works "
                            "below the assumed-valid block only: {}, or leave out -ibdbooster",
                            ScriptCheckReasonText(reason), OwnRemedy(reason)),
                may_change, reason == ScriptCheckReason::kHashNotInHeaders};
    }
    if (top->height == 0 && best.height > 0) {
        return {nullptr,
                fmt::format("of the {} blocks above genesis none is both below the assumed-valid "
                            "block and under two weeks of work: there is nothing for -ibdbooster "
                            "to do yet, leave it out",
                            best.height),
                may_change};
    }
    const HeaderNode& end = *top;
    if (stored) top = HighestComplete(top, stored);
    if (top->height > 0) return {top, "", may_change};
    if (end.height == 0) {
        return {nullptr,
                "no block behind genesis is stored: there is nothing for -ibdbooster to do",
                may_change};
    }
    const HeaderNode& first = *end.Ancestor(1);
    return {
        nullptr,
        fmt::format("block {} at height 1 is not stored: there is nothing for -ibdbooster to do "
                    "before a peer has brought it; leave out -connect=0, or -ibdbooster",
                    first.hash.ToHex()),
        may_change};
}

HintsStanding FindBuriedTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                                 int64_t now)
{
    const HeaderNode& best = *headers.BestHeader();
    const ConsensusParams& params = headers.Params().consensus;
    const bool more = MoreAreToCome(best, trust, now);
    const HeaderNode* buried = &best;
    while (buried->height > 0 &&
           BlockProofEquivalentTime(best, *buried, best, params) <= kAssumeValidBuryTime) {
        buried = buried->prev;
    }
    if (buried->height > 0) return {buried, "", more};
    return {nullptr, "no block has two weeks of work on top", more};
}

namespace {

/** For full validation. With -prune no undo data is made up to the end of the hints, so a
 *  reorganisation must not reach there: it may be as long as in Core, where a pruned node keeps
 *  this many blocks. */
HintsStanding JudgePruned(const HintsInfo& hints, const HeaderNode& terminal,
                          const HeaderNode& best, const ChainManagerOptions& trust, bool more)
{
    const int32_t above = best.height - terminal.height;
    if (trust.prune_target == 0 || above >= kMinBlocksToKeep) return {&terminal, "", false};
    return {nullptr,
            fmt::format("{}: the hints end at height {}, {} blocks below the best header. With "
                        "-prune no undo data is made up to there, so {} blocks must be above it: "
                        "take hints of a lower block, or leave out -ibdboosterfile or -prune",
                        hints.path.string(), terminal.height, above, kMinBlocksToKeep),
            more};
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
                more && MayBecomeTerminal(hints, best, headers.Params().consensus),
                int64_t{hints.terminal_height} > best.height};
    const HeaderNode& terminal = **found;
    if (full_validation) return JudgePruned(hints, terminal, best, trust, more);
    const ScriptCheckReason reason =
        ScriptCheckFor(headers, terminal, trust.assume_valid, trust.minimum_work);
    if (reason == ScriptCheckReason::kSkip) return {&terminal, "", false};
    return {nullptr,
            fmt::format("{}: the hints end at block {}, height {}, whose scripts must be run ({}). "
                        "The booster works below the assumed-valid block only: {}; or add "
                        "-ibdboosterfullvalidation, or leave out -ibdboosterfile",
                        hints.path.string(), terminal.hash.ToHex(), terminal.height,
                        ScriptCheckReasonText(reason), Remedy(reason)),
            more && MayBecomeAssumed(reason), reason == ScriptCheckReason::kHashNotInHeaders};
}

} // namespace ibd

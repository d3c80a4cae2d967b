// See kept_call.h.
#include "booster/kept_call.h"

#include "join/join_state.h"
#include "swiftsync/checkpoint.h"
#include "util/found.h"
#include "util/strings.h"

namespace ibd {

namespace {

/** Whether a call for the state's height can resume its work: its block is on the active chain, or
 *  will be once the chain reaches that height. */
bool IsOrWillBeActive(const ChainManager& chain, const JoinState& state)
{
    const ChainReader reader = chain.Read();
    const HeaderNode* const node = reader.Find(state.terminal_hash);
    if (!node || node->Failed()) return false;
    if (reader.Active().Contains(node)) return true;
    // The chainstate is being rebuilt, or blocks are still to be connected.
    return (!chain.Tip() || chain.Tip()->height < node->height) &&
           reader.Tree().BestHeader()->Ancestor(node->height) == node;
}

/** The reason why no call can resume it; empty: one can. */
std::string WhyUseless(const ChainManager& chain, const Found<JoinState>& state)
{
    if (!state) return state.Message();
    if (!*state) return "the work has no state yet";
    if ((*state)->stage != JoinStage::kReading) return "it is not a join for hints";
    if (IsOrWillBeActive(chain, **state)) return "";
    return fmt::format("block {} is not on the chain any more", (*state)->terminal_hash.ToHex());
}

Result<> Tend(Env& env, Logger& log, const ChainManager& chain, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const auto bytes, BytesOfJoin(env, folder));
    if (!bytes) return {};
    const auto lock = LockBooster(env, folder);
    if (!lock) {
        log.Warning("dumptxouthints: '{}' has unfinished work of a call ({}), which is left alone: "
                    "{}",
                    folder.string(), FormatBytes(*bytes), lock.Message());
        return {};
    }
    const auto state = LoadJoinState(env, folder);
    IBD_RETURN_IF_SYSTEM_ERROR(state);
    const std::string useless = WhyUseless(chain, state);
    if (!useless.empty()) {
        log.Warning("dumptxouthints: removing the unfinished work of a call in '{}' ({}), which "
                    "no call can resume: {}",
                    folder.string(), FormatBytes(*bytes), useless);
        return RemoveJoin(env, folder);
    }
    log.Warning("dumptxouthints: '{}' has unfinished work of a call for height {} ({}): a call for "
                "that height resumes it, one for another height removes it",
                folder.string(), (*state)->terminal_height, FormatBytes(*bytes));
    return {};
}

} // namespace

void TendKeptCall(Env& env, Logger& log, const ChainManager& chain, const Path& folder)
{
    const Result<> done = Tend(env, log, chain, folder);
    if (done) return;
    log.Warning("dumptxouthints: leftovers of a call in '{}' could not be read or removed: {}",
                folder.string(), done.Message());
}

} // namespace ibd

// See join_job.h.
#include "join/join_job.h"

#include "join/join_state.h"

namespace ibd {

JoinState JoinJob::NewState() const
{
    JoinState state;
    state.network_magic = params.magic;
    state.terminal_height = static_cast<uint32_t>(terminal.height);
    state.terminal_hash = terminal.hash;
    state.rules = RulesId();
    env.RandomBytes(state.salt);
    return state;
}

bool JoinJob::IsOfSameChain(const JoinState& state) const
{
    return state.network_magic == params.magic && state.terminal_hash == terminal.hash &&
           state.terminal_height == static_cast<uint32_t>(terminal.height) &&
           state.rules == RulesId();
}

} // namespace ibd

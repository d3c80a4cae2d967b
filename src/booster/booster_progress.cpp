// See booster_progress.h.
#include "booster/booster_progress.h"

namespace ibd {

const char* BoosterProgress::StateName() const
{
    switch (state) {
    case BoosterState::kFold: return FoldStateName(fold.state);
    case BoosterState::kWaiting: return "waiting";
    case BoosterState::kJoining: return "joining";
    case BoosterState::kValidating: return "validating";
    }
    return "unknown";
}

const char* PhaseName(JoinProgress::Phase phase)
{
    switch (phase) {
    case JoinProgress::Phase::kIdle: return "starting";
    case JoinProgress::Phase::kReading: return "reading";
    case JoinProgress::Phase::kJoining: return "joining";
    case JoinProgress::Phase::kChecking: return "checking";
    case JoinProgress::Phase::kFetching: return "fetching";
    case JoinProgress::Phase::kWriting: // hints
    case JoinProgress::Phase::kUndo: return "writing";
    }
    return "unknown";
}

} // namespace ibd

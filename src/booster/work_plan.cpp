// See work_plan.h.
#include "booster/work_plan.h"

#include <algorithm>
#include <utility>

namespace ibd {

namespace {

// Seconds on one thread, measured: bench/README.md ("Time left"). Only their ratios matter.
constexpr double kReadPerByte = 2.35e-9;
// For blocks whose outputs all miss their inputs in memory.
constexpr double kJoinPerByte = 0.68e-9;
constexpr double kCheckPerByte = 0.34e-9;
constexpr double kUndoPerByte = 1.84e-9; //!< including the reading of coins
constexpr double kFoldPerByte = 1.30e-9;
constexpr double kFoldCheckedPerByte = 0.6e-9;
constexpr double kIndexPerByte = 1.7e-9;
constexpr double kIndexBesidesPerByte = 0.5e-9;
constexpr double kIndexKnownPerByte = 0.03e-9;
constexpr double kConnectPerByte = 6e-9;
constexpr double kLoadPerCoin = 0.3e-6;
constexpr double kScanPerByte = 1.4e-9; //!< for the coins that the last blocks spend

// Assumed, as they depend on the chain, the line or the disk. A step's own rate replaces them once
// a tenth of it is done.
constexpr double kScriptsPerByte = 100e-9;
constexpr double kConvertPerByte = 1.5e-9;
constexpr double kSurveyPerByte = 0.02e-9;
/** For a chain with an unknown number of coins. */
constexpr double kUsualBytesPerCoin = 4000;
constexpr double kPeersPerByte = 1e-7;
constexpr double kPeersPerHeader = 3e-4;

double CostPerByte(WorkStep step, bool checked, bool scripts)
{
    switch (step) {
    case WorkStep::kReadBlocks: return kReadPerByte;
    case WorkStep::kJoin: return kJoinPerByte;
    case WorkStep::kCheckRules: return kCheckPerByte;
    case WorkStep::kWriteUndo: return scripts ? kScriptsPerByte : kUndoPerByte;
    case WorkStep::kFold: return checked ? kFoldCheckedPerByte : kFoldPerByte;
    case WorkStep::kIndex: return checked ? kIndexKnownPerByte : kIndexPerByte;
    case WorkStep::kConnect: return kConnectPerByte;
    case WorkStep::kConvertHints: return kConvertPerByte;
    case WorkStep::kFetchCoins: return kScanPerByte;
    default: return 0;
    }
}

/** Whether the step runs on one thread. */
bool IsSequential(WorkStep step)
{
    return step == WorkStep::kIndex || step == WorkStep::kConnect ||
           step == WorkStep::kConvertHints;
}

double Seconds(WorkStep step, const WorkAmounts& amounts, bool checked)
{
    const auto bytes =
        static_cast<double>(step == WorkStep::kConnect ? amounts.above : amounts.bytes);
    if (step == WorkStep::kHeaders) return static_cast<double>(amounts.headers) * kPeersPerHeader;
    if (step == WorkStep::kLoad) {
        const auto known = static_cast<double>(amounts.coins);
        return (known > 0 ? known : bytes / kUsualBytesPerCoin) * kLoadPerCoin;
    }
    const double threads = IsSequential(step) ? 1 : std::max(1u, amounts.threads);
    return bytes * CostPerByte(step, checked, amounts.scripts) / threads;
}

/** Bytes of all blocks if the seconds of the step depend on it; else 0. */
double BytesPlannedFor(WorkStep step, const WorkAmounts& amounts)
{
    const bool independent = step == WorkStep::kHeaders ||
                             (step == WorkStep::kLoad && amounts.coins > 0) ||
                             (step == WorkStep::kConnect && amounts.above_missing == 0);
    return independent ? 0 : static_cast<double>(amounts.bytes);
}

double IndexingBesides(const WorkAmounts& amounts)
{
    return static_cast<double>(amounts.bytes) * kIndexBesidesPerByte /
           std::max(1u, amounts.threads);
}

} // namespace

PlannedStep SurveyStep(uint64_t bytes)
{
    return {WorkStep::kIndex, static_cast<double>(bytes) * kSurveyPerByte, false};
}

std::vector<PlannedStep> PlanOf(const std::vector<WorkStep>& steps, const WorkAmounts& amounts)
{
    std::vector<PlannedStep> plan;
    uint64_t missing = amounts.missing;
    bool indexes = amounts.indexes;
    bool checked = false; // a join has checked the blocks before they are folded
    const bool writes = std::find(steps.begin(), steps.end(), WorkStep::kWriteUndo) != steps.end();
    bool to_load = std::find(steps.begin(), steps.end(), WorkStep::kLoad) != steps.end();
    for (const WorkStep step : steps) {
        PlannedStep next{step, Seconds(step, amounts, checked), step == WorkStep::kHeaders};
        if (step == WorkStep::kLoad) to_load = false;
        if (step == WorkStep::kWriteUndo && amounts.last_undo > 0 && !to_load) {
            next.seconds = static_cast<double>(amounts.last_undo) * kUndoPerByte /
                           std::max(1u, amounts.threads);
        }
        if (step == WorkStep::kFold && amounts.scripts && !writes) {
            next.seconds = Seconds(WorkStep::kWriteUndo, amounts, checked);
        }
        next.bytes = BytesPlannedFor(step, amounts);
        if (step == WorkStep::kConnect && amounts.above_missing > 0) {
            next.seconds += static_cast<double>(amounts.above_missing) * kPeersPerByte;
            next.from_peers = true;
        }
        if (std::exchange(indexes, false)) next.seconds += IndexingBesides(amounts);
        if (step != WorkStep::kHeaders && missing > 0) {
            next.seconds += static_cast<double>(std::exchange(missing, 0)) * kPeersPerByte;
            next.from_peers = true;
        }
        plan.push_back(next);
        checked = checked || step == WorkStep::kReadBlocks || step == WorkStep::kFold;
    }
    return plan;
}

} // namespace ibd

// BoosterRun: the steps of a sync and their sizes, for the overall progress. See booster_run.h.
#include "booster/booster_run.h"

#include <algorithm>

namespace ibd {

namespace {

/** The bytes of `part` of `whole` headers. `whole` is an estimate, and may be too low. */
uint64_t PartOf(uint64_t bytes, uint64_t part, uint64_t whole)
{
    return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                                 static_cast<double>(std::max<uint64_t>({part, whole, 1})));
}

} // namespace

WorkAmounts BoosterRun::AmountsOf(const ChainManager& chain, const HeaderNode& terminal,
                                  const BoosterOptions& options) const
{
    const BlockBytes below = BytesUpTo(chain, terminal);
    const HeaderNode* const best = chain.Read().Tree().BestHeader();
    const BlockPlan above(*best, [&](int32_t height) { return height <= terminal.height; });
    const HeaderNode* node = &terminal;
    while (node->prev && node->HasUndo()) node = node->prev;
    return {.bytes = below.stored + below.missing,
            .missing = below.missing,
            .coins = m_hints ? m_hints->Info().unspent : 0,
            .threads = options.threads,
            .above = above.BytesToFold(),
            .scripts = options.full_validation,
            .lacks_undo = node->prev != nullptr};
}

WorkAmounts BoosterRun::AmountsOf(const BlockSurvey& survey, const HeaderNode& terminal,
                                  const BoosterOptions& options) const
{
    uint64_t below = 0;
    uint64_t above = 0;
    for (const SurveyedBlock& block : survey.Blocks()) {
        const bool is_above = block.node && block.node->height > terminal.height;
        (is_above ? above : below) += block.frame_size;
    }
    return {.bytes = below,
            .coins = m_hints ? m_hints->Info().unspent : 0,
            .threads = options.threads,
            .above = above,
            .indexes = true,
            .scripts = options.full_validation};
}

/** Amounts by the network's parameters, while the node waits for `headers`. */
WorkAmounts BoosterRun::AssumedAmounts(const ChainManager& chain, uint64_t headers,
                                       const BoosterOptions& options) const
{
    const auto best = static_cast<uint64_t>(chain.Read().Tree().BestHeader()->height);
    const uint64_t all = m_params.assumed_blockchain_size_gb * 1'000'000'000;
    return {.bytes = all,
            .missing = all - PartOf(all, best, headers),
            .headers = headers - std::min(headers, best),
            .threads = options.threads,
            .scripts = options.full_validation};
}

std::vector<WorkStep> BoosterRun::GivenSteps(bool joins) const
{
    if (joins) {
        return {WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo, WorkStep::kFold,
                WorkStep::kLoad};
    }
    return {WorkStep::kFold, WorkStep::kLoad};
}

/** `values`: the join for hints checks the rules; `joins`: they are checked while blocks are read
 *  again for undo data, and folded at the same time. */
std::vector<WorkStep> BoosterRun::OwnSteps(bool values, bool joins) const
{
    std::vector<WorkStep> steps = {WorkStep::kReadBlocks, WorkStep::kJoin};
    if (values) steps.push_back(WorkStep::kCheckRules);
    steps.push_back(joins ? WorkStep::kWriteUndo : WorkStep::kFold);
    steps.push_back(WorkStep::kLoad);
    return steps;
}

/** As the survey's user will plan, if nothing prevents it. */
void BoosterRun::PlanSurvey(uint64_t bytes, const BoosterOptions& options) const
{
    OverallProgress* const overall = options.progress.overall;
    if (!overall) return;
    overall->Plan({SurveyStep(bytes)});
    overall->Update(WorkStep::kIndex, 0, 1, 0);
    std::vector<WorkStep> steps = {WorkStep::kFold, WorkStep::kIndex, WorkStep::kLoad};
    if (!HasHints()) {
        const bool values = JoinsValues(options);
        steps = OwnSteps(values, options.full_validation);
        steps.insert(steps.begin() + (values ? 3 : 2), WorkStep::kIndex);
    }
    Plan(std::move(steps),
         {.bytes = bytes,
          .threads = options.threads,
          .indexes = true,
          .scripts = options.full_validation},
         options);
}

void BoosterRun::Plan(std::vector<WorkStep> steps, const WorkAmounts& amounts,
                      const BoosterOptions& options) const
{
    if (!options.progress.overall) return;
    const auto has = [&](WorkStep step) {
        return std::find(steps.begin(), steps.end(), step) != steps.end();
    };
    if (m_own_options.undo_first && amounts.lacks_undo && !has(WorkStep::kWriteUndo)) {
        steps.insert(steps.end(), {WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo});
    }
    if (amounts.above >= kLeastToConnect) steps.push_back(WorkStep::kConnect);
    options.progress.overall->Plan(PlanOf(steps, amounts));
}

} // namespace ibd

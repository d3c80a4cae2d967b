// ReindexSupply: the booster's blocks during -reindex, from a survey of the block files instead of
// an index. Every block of the survey's header tree is read once and checked by all rules that need
// no coins; those covered by the hints are also folded. Sound blocks are marked in the survey, so
// that indexing need not read them again; BlockImporter decides about the others. Owned by one
// sync. Threads: see BlockSupply.
#pragma once

#include "swiftsync/file_block_source.h"
#include "validation/block_survey.h"

namespace ibd {

class ReindexSupply final : public BlockSupply {
public:
    /** `terminal`: of the survey's tree. All arguments must outlive the supply. */
    ReindexSupply(Env& env, Logger& log, const BlockStore& store, BlockSurvey& survey,
                  const HeaderNode& terminal)
        : m_env(env), m_log(log), m_store(store), m_survey(survey), m_terminal(terminal)
    {
    }

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override;
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override { m_plan->Stop(); }
    size_t BlocksToFold() const override { return m_to_fold; }
    uint64_t EstimatedBytes() const override { return m_plan->EstimatedBytes(); }
    uint64_t BytesToFold() const override { return m_plan->BytesToFold(); }

private:
    Env& m_env;
    Logger& m_log;
    const BlockStore& m_store;
    BlockSurvey& m_survey;
    const HeaderNode& m_terminal;
    std::optional<BlockPlan> m_plan;
    size_t m_to_fold = 0;
};

} // namespace ibd

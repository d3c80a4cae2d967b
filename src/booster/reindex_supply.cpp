// See reindex_supply.h.
#include "booster/reindex_supply.h"

namespace ibd {

namespace {

class ReindexSource final : public BlockSource {
public:
    ReindexSource(Env& env, const BlockStore& store, BlockPlan& plan, BlockSurvey& survey)
        : m_files(env, store, plan), m_survey(survey)
    {
    }

    Result<bool> Next(SuppliedBlock& out) override { return m_files.Next(out); }
    Result<> Keep(const SuppliedBlock& block, const BlockView& view) override
    {
        m_survey.Checked(block.tag, static_cast<uint32_t>(view.Raw().size()),
                         static_cast<uint32_t>(view.Txs().size()));
        return {};
    }
    // Another copy of the block may be sound, and all other blocks must be indexed in any case.
    Result<bool> Reject(const SuppliedBlock&, const RuleViolation&) override { return true; }
    // The index is written after all blocks are read; an earlier start reads them again.
    Result<> Sync() override { return {}; }

private:
    FileBlockSource m_files;
    BlockSurvey& m_survey;
};

} // namespace

Result<> ReindexSupply::Begin(const std::function<bool(int32_t height)>& folded)
{
    const std::vector<SurveyedBlock>& blocks = m_survey.Blocks();
    // For each height, whether the block is still to be folded.
    std::vector<const HeaderNode*> wanted(static_cast<size_t>(m_terminal.height) + 1);
    m_to_fold = 0;
    for (const HeaderNode* node = &m_terminal; node->height > 0; node = node->prev) {
        if (folded(node->height)) continue;
        wanted[static_cast<size_t>(node->height)] = node;
        ++m_to_fold;
    }
    std::vector<PlannedBlock> planned;
    planned.reserve(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
        const SurveyedBlock& block = blocks[i];
        if (!block.node) continue;
        const auto height = static_cast<size_t>(block.node->height);
        const bool fold = height < wanted.size() && wanted[height] == block.node;
        if (fold) wanted[height] = nullptr; // ignores a second copy
        planned.push_back({.node = block.node,
                           .file = block.pos.file,
                           .offset = block.pos.offset,
                           .tag = static_cast<uint32_t>(i),
                           .fold = fold,
                           .indexed = false});
    }
    m_plan.emplace(std::move(planned));
    m_plan->Uncached().LogTo(&m_log);
    return {};
}

std::unique_ptr<BlockSource> ReindexSupply::MakeSource()
{
    return std::make_unique<ReindexSource>(m_env, m_store, *m_plan, m_survey);
}

} // namespace ibd

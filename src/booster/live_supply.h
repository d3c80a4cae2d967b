// LiveSupply: supplies a join with the stored blocks up to a block of a growing chain. Looks up the
// position of each block under the headers lock, then reads the block without the lock. Begin() on
// one thread; each source on its own thread. Memory: a BlockPlan.
#pragma once

#include "swiftsync/file_block_source.h"
#include "validation/chain_manager.h"

#include <optional>

namespace ibd {

class LiveSupply final : public BlockSupply {
public:
    LiveSupply(Env& env, Logger& log, const ChainManager& chain, const HeaderNode& terminal,
               PlanOrder order)
        : m_env(env), m_log(log), m_chain(chain), m_terminal(terminal), m_order(order)
    {
    }

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override
    {
        std::vector<PlannedBlock> blocks;
        const HeaderNode* missing = nullptr; // the lowest
        for (const HeaderNode* node = &m_terminal; node->height > 0; node = node->prev) {
            if (folded(node->height)) continue;
            const FilePos pos = m_chain.Where(*node).data;
            if (pos.IsNull()) missing = node;
            blocks.push_back({.node = node, .file = pos.file, .offset = pos.offset});
        }
        if (missing) {
            return BadData("block {} at height {} is not stored (pruned data)",
                           missing->hash.ToHex(), missing->height);
        }
        m_plan.emplace(std::move(blocks), m_order);
        m_plan->Uncached().LogTo(&m_log);
        return {};
    }
    std::unique_ptr<BlockSource> MakeSource() override
    {
        return std::make_unique<FileBlockSource>(m_env, m_chain.Blocks(), *m_plan);
    }
    void Stop() override { m_plan->Stop(); }
    size_t BlocksToFold() const override { return m_plan->Blocks(); }
    uint64_t EstimatedBytes() const override { return m_plan->EstimatedBytes(); }

private:
    Env& m_env;
    Logger& m_log;
    const ChainManager& m_chain;
    const HeaderNode& m_terminal;
    const PlanOrder m_order;
    std::optional<BlockPlan> m_plan;
};

} // namespace ibd

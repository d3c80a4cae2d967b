// BlockPlan: each block is handed out once, in the order asked for; by height against a plain map.
#include "swiftsync/block_plan.h"

#include "support/testdata.h"

#include <algorithm>
#include <deque>
#include <map>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint32_t kBlockBytes = 100; // of each

/** Blocks of a chain that lie in files in any order. */
class Disorder {
public:
    Disorder(size_t blocks, size_t per_file)
    {
        std::vector<int32_t> heights(blocks);
        for (size_t i = 0; i < blocks; ++i) heights[i] = static_cast<int32_t>(i + 1);
        std::shuffle(heights.begin(), heights.end(), TestRng());
        for (size_t i = 0; i < blocks; ++i) {
            m_nodes.emplace_back().height = heights[i];
            m_blocks.push_back({.node = &m_nodes.back(),
                                .file = static_cast<int32_t>(i / per_file),
                                .offset = static_cast<uint32_t>(8 + i % per_file * kBlockBytes)});
        }
    }
    BlockPlan Plan(PlanOrder order) const
    {
        auto blocks = m_blocks;
        std::shuffle(blocks.begin(), blocks.end(), TestRng());
        return BlockPlan(std::move(blocks), order);
    }
    const PlannedBlock& At(size_t index) const { return m_blocks[index]; }
    /** The position of a block among all blocks. */
    size_t IndexOf(const PlannedBlock& block) const
    {
        for (size_t i = 0; i < m_blocks.size(); ++i) {
            if (m_blocks[i].file == block.file && m_blocks[i].offset == block.offset) return i;
        }
        FAIL("no block lies there");
        return 0;
    }

private:
    std::deque<HeaderNode> m_nodes;
    std::vector<PlannedBlock> m_blocks; //!< by file and offset
};

} // namespace

TEST_CASE("Plan: in files' order stretches cover all, each of one file and of the size asked for")
{
    const Disorder disorder(95, 30);
    BlockPlan plan = disorder.Plan(PlanOrder::OfFiles(5 * kBlockBytes));
    size_t next = 0;
    for (auto got = plan.Claim(); !got.blocks.empty(); got = plan.Claim()) {
        CHECK(got.blocks.size() == 5);
        CHECK(got.ahead.empty());
        for (const PlannedBlock& block : got.blocks) {
            CHECK(block.file == got.blocks.front().file);
            CHECK(plan.BytesOf(block) == kBlockBytes);
            CHECK(disorder.IndexOf(block) == next++);
        }
    }
    CHECK(next == 95);
    CHECK(plan.EstimatedBytes() == 95 * kBlockBytes);
}

TEST_CASE("Plan: by height it is the lowest in the window, and what comes in is to be read ahead")
{
    constexpr size_t kBlocks = 95;
    for (const size_t room : {1u, 2u, 20u, 94u, 95u, 1000u}) {
        const Disorder disorder(kBlocks, 2 + TestRng().Below(100));
        BlockPlan plan = disorder.Plan(PlanOrder::OfChain(room * kBlockBytes));
        std::map<int32_t, size_t> window; // index by height
        size_t in = 0;
        for (size_t out = 0; out < kBlocks; ++out) {
            const size_t before = in;
            for (; window.size() < room && in < kBlocks; ++in) {
                window[disorder.At(in).node->height] = in;
            }
            const auto [blocks, ahead] = plan.Claim();
            REQUIRE(blocks.size() == 1);
            CHECK(disorder.IndexOf(blocks[0]) == window.begin()->second);
            window.erase(window.begin());
            REQUIRE(ahead.size() == in - before);
            if (!ahead.empty()) CHECK(disorder.IndexOf(ahead.front()) == before);
        }
        CHECK(plan.Claim().blocks.empty());
        CHECK(in == kBlocks);
    }
}

TEST_CASE("Plan: where no size is known a block is as large as may be")
{
    const Disorder disorder(5, 1);
    BlockPlan plan = disorder.Plan(PlanOrder::OfChain(2 * kMaxStoredBlockSize));
    CHECK(plan.Claim().ahead.size() == 2);
    CHECK(plan.Claim().ahead.size() == 1);
}

TEST_CASE("Plan: a stretch does not reach over a hole that is larger")
{
    const std::array<HeaderNode, 2> nodes{};
    BlockPlan plan({{.node = &nodes[0], .file = 0, .offset = 8},
                    {.node = &nodes[1], .file = 0, .offset = 100 << 20}});
    CHECK(plan.Claim().blocks.size() == 1);
    CHECK(plan.Claim().blocks.size() == 1);
    CHECK(plan.Claim().blocks.empty());
}

TEST_CASE("Plan: nothing is handed out once it is stopped, or if nothing is planned")
{
    for (const PlanOrder order : {PlanOrder::OfFiles(kBlockBytes), PlanOrder::OfChain()}) {
        const Disorder disorder(10, 10);
        BlockPlan plan = disorder.Plan(order);
        CHECK(!plan.Claim().blocks.empty());
        plan.Stop();
        CHECK(plan.Claim().blocks.empty());
        CHECK(plan.Claim().ahead.empty());
        CHECK(BlockPlan(std::vector<PlannedBlock>{}, order).Claim().blocks.empty());
    }
}

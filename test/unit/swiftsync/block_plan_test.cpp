// BlockPlan: each block is handed out once, in the order asked for; what the system is to read
// ahead are those of the next window as they lie.
#include "swiftsync/block_plan.h"

#include "support/testdata.h"

#include <algorithm>
#include <deque>
#include <set>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint32_t kBlockBytes = 100; // of each but the last of a file, which may be any

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
    /** Where a block lies among all. */
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
    for (auto stretch = plan.Claim(); !stretch.empty(); stretch = plan.Claim()) {
        CHECK(stretch.size() == 5);
        CHECK(!plan.AheadOf(stretch).block);
        for (const PlannedBlock& block : stretch) {
            CHECK(block.file == stretch.front().file);
            CHECK(disorder.IndexOf(block) == next++);
        }
    }
    CHECK(next == 95);
    CHECK(plan.EstimatedBytes() == 95 * kBlockBytes);
}

TEST_CASE("Plan: by height within windows, which may reach over files")
{
    constexpr size_t kBlocks = 95, kWindow = 20;
    const Disorder disorder(kBlocks, 200); // in one file windows are of one size
    BlockPlan plan = disorder.Plan(PlanOrder::OfChain(kWindow * kBlockBytes));
    std::set<size_t> claimed;
    size_t ahead = 0;
    int32_t height = 0;
    for (auto block = plan.Claim(); !block.empty(); block = plan.Claim()) {
        REQUIRE(block.size() == 1);
        const size_t window = claimed.size() / kWindow;
        if (claimed.size() % kWindow > 0) CHECK(block[0].node->height > height);
        height = block[0].node->height;
        CHECK(disorder.IndexOf(block[0]) / kWindow == window);
        CHECK(claimed.insert(disorder.IndexOf(block[0])).second);
        if (const auto next = plan.AheadOf(block); next.block) {
            CHECK(next.bytes == kBlockBytes);
            const size_t index = disorder.IndexOf(*next.block);
            CHECK(index == kWindow + ahead++);
        }
    }
    CHECK(claimed.size() == kBlocks);
    CHECK(ahead == kBlocks - kWindow); // nobody asks for the first

    const Disorder files(kBlocks, 7);
    BlockPlan over = files.Plan(PlanOrder::OfChain(1 << 20)); // all in one window
    height = 0;
    for (auto block = over.Claim(); !block.empty(); block = over.Claim()) {
        CHECK(block[0].node->height == ++height);
        CHECK(!over.AheadOf(block).block);
    }
    CHECK(height == kBlocks);
}

TEST_CASE("Plan: nothing is handed out once it is stopped, or if nothing is planned")
{
    for (const PlanOrder order : {PlanOrder::OfFiles(kBlockBytes), PlanOrder::OfChain()}) {
        const Disorder disorder(10, 10);
        BlockPlan plan = disorder.Plan(order);
        CHECK(!plan.Claim().empty());
        plan.Stop();
        CHECK(plan.Claim().empty());
        CHECK(BlockPlan(std::vector<PlannedBlock>{}, order).Claim().empty());
    }
}

// See prepared_ahead.h.
#include "index/prepared_ahead.h"

namespace ibd {

void PreparedAhead::Add(const HeaderNode& node, const StoredBlock& place)
{
    CHECK(Room() > 0);
    const auto block = std::make_shared<Block>(&node, place);
    m_blocks.push_back(block);
    m_pool.Submit([this, block] {
        PrepareOutcome outcome;
        if (!block->forgotten) outcome = m_prepare(block->place);
        const Lock lock(m_mutex);
        block->outcome = std::move(outcome);
        block->done = true;
        m_done.notify_all();
    });
}

PrepareOutcome PreparedAhead::Take()
{
    const std::shared_ptr<Block> block = std::move(m_blocks.front());
    m_blocks.pop_front();
    const Lock lock(m_mutex);
    while (!block->done) m_done.wait(m_mutex);
    return std::move(block->outcome);
}

void PreparedAhead::Clear()
{
    for (const auto& block : m_blocks) block->forgotten = true;
    m_blocks.clear();
}

} // namespace ibd

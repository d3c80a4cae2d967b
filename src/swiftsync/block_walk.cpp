// See block_walk.h.
#include "swiftsync/block_walk.h"

#include "consensus/block_check.h"
#include "swiftsync/terminal.h"
#include "util/threads.h"

#include <algorithm>
#include <thread>

namespace ibd {

FoldRules BlockWalk::Rules(HintsCounting counting) const
{
    return FoldRulesOf(m_terminal, counting, m_params);
}

Result<> BlockWalk::Load(uint32_t height, BlockSlot& slot) const
{
    const HeaderNode& node = *m_terminal.Ancestor(static_cast<int>(height));
    const FilePos place{node.file, node.data_pos};
    IBD_ASSIGN_OR_RETURN(slot.bytes, m_store.ReadBlock(place, &node.hash));
    IBD_RETURN_IF_ERROR(slot.view.Parse(slot.bytes));
    const BlockCheckOptions options{.check_pow = false, .check_merkle_root = true};
    if (const auto broken = CheckBlock(slot.view, m_params, options)) {
        return m_store.DamagedBlock(place, node.hash, node.height, broken->reason);
    }
    return {};
}

Result<> BlockWalk::ForEach(uint32_t first, const Step& work, const Step& take,
                            std::optional<uint32_t> last) const
{
    const size_t threads = std::max(1u, std::thread::hardware_concurrency());
    ThreadPool pool("hints", threads - 1);
    std::vector<BlockSlot> slots(threads * kSlotsPerThread);
    const uint32_t end = last.value_or(static_cast<uint32_t>(m_terminal.height)) + 1;
    for (uint32_t start = first; start < end; start += static_cast<uint32_t>(slots.size())) {
        const size_t count = std::min<size_t>(slots.size(), end - start);
        pool.ParallelFor(count, [&](size_t i) {
            BlockSlot& slot = slots[i];
            const auto height = start + static_cast<uint32_t>(i);
            Result<> done = Load(height, slot);
            if (done) done = work(height, slot);
            slot.error.reset();
            if (!done) slot.error = done.GetError();
        });
        for (size_t i = 0; i < count; ++i) {
            if (slots[i].error) return *slots[i].error;
            IBD_RETURN_IF_ERROR(take(start + static_cast<uint32_t>(i), slots[i]));
        }
    }
    return {};
}

} // namespace ibd

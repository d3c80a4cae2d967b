// FreshBlock: keeps the last stored block whose parent is the tip, so that it need not be read from
// the disk to be connected. Memory: one block. Owned by the ChainManager; any thread.
#pragma once

#include "util/mutex.h"
#include "validation/block_reader.h"

namespace ibd {

class FreshBlock {
public:
    /** Replaces the kept block. `block` has passed CheckBlock and is stored. */
    void Keep(const HeaderNode& node, std::unique_ptr<LoadedBlock> block)
    {
        const Lock lock(m_mutex);
        m_node = &node;
        m_block = std::move(block);
    }

    /** Returns the kept block if it belongs to this node, else null. Nothing is kept afterwards. */
    std::unique_ptr<LoadedBlock> Take(const HeaderNode& node)
    {
        const Lock lock(m_mutex);
        std::unique_ptr<LoadedBlock> out = std::move(m_block);
        return m_node == &node ? std::move(out) : nullptr;
    }

private:
    Mutex m_mutex;
    const HeaderNode* m_node IBD_GUARDED_BY(m_mutex) = nullptr;
    std::unique_ptr<LoadedBlock> m_block IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

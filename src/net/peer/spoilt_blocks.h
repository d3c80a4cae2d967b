// SpoiltBlocks: the blocks for which a peer sent wrong bytes. They are not requested from it again:
// a peer named by the user is never disconnected for that, so the requests would not end. Owned by
// the SpoiltRecord, one thread. Memory: kMost pointers.
#pragma once

#include "chain/header_tree.h"

#include <set>

namespace ibd {

class SpoiltBlocks {
public:
    static constexpr size_t kMost = 16; //!< with this many, no block is requested from the peer

    /** False: it was known already. */
    bool Add(const HeaderNode& block) { return !IsFull() && m_blocks.insert(&block).second; }
    bool Contains(const HeaderNode& block) const { return IsFull() || m_blocks.contains(&block); }
    bool IsFull() const { return m_blocks.size() >= kMost; }

private:
    std::set<const HeaderNode*> m_blocks;
};

} // namespace ibd

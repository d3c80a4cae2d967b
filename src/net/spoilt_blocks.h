// SpoiltBlocks: the blocks for which a peer sent other bytes than theirs. It is asked for none of
// them again, in no way: a peer that may not be sent away, as the user named it, would be asked for
// ever. Owned by the PeerManager, one thread. Memory: kMost pointers.
#pragma once

#include "chain/header_tree.h"

#include <set>

namespace ibd {

class SpoiltBlocks {
public:
    static constexpr size_t kMost = 16; //!< a peer that spoilt so many is asked for no block at all

    /** False: it was known. */
    bool Add(const HeaderNode& block) { return !IsFull() && m_blocks.insert(&block).second; }
    bool Contains(const HeaderNode& block) const { return IsFull() || m_blocks.contains(&block); }
    bool IsFull() const { return m_blocks.size() >= kMost; }

private:
    std::set<const HeaderNode*> m_blocks;
};

} // namespace ibd

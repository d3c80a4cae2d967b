// TipNews: the last change of the active chain's tip, until the thread of the peers takes it. Owned
// by PeerNetwork.
#pragma once

#include "chain/header_node.h"
#include "util/mutex.h"

#include <optional>
#include <utility>

namespace ibd {

class TipNews {
public:
    struct Change {
        const HeaderNode* tip;
        const HeaderNode* fork; //!< where the old chain was left
    };

    /** Any thread. */
    void Put(const HeaderNode& tip, const HeaderNode& fork)
    {
        const Lock lock(m_mutex);
        // Two pending changes are merged: the lower of their forks is the fork of both.
        const HeaderNode* lower = &fork;
        if (m_change && m_change->fork->height < fork.height) lower = m_change->fork;
        m_change = Change{&tip, lower};
    }
    /** Nothing: it has not changed since the last call. */
    std::optional<Change> Take()
    {
        const Lock lock(m_mutex);
        return std::exchange(m_change, std::nullopt);
    }

private:
    Mutex m_mutex;
    std::optional<Change> m_change IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

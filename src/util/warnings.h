// NodeWarnings: lasting problems of the node, as shown by getblockchaininfo and others. Set by the
// code that finds them. Any thread. Memory: one line for each kind.
#pragma once

#include "util/mutex.h"

#include <map>
#include <string>
#include <vector>

namespace ibd {

/** In the order of display. */
enum class NodeWarning {
    kUnknownRules,   //!< unknown version bits were activated; never cleared
    kInvalidChain,   //!< a chain that broke a rule has much more work than ours
    kClockOutOfSync, //!< the clocks of most outbound peers differ from ours
    kMissingUndo,    //!< a chain with more work must wait: undo data is missing, or a block damaged
};

class NodeWarnings {
public:
    /** Keeps the first text of a kind until it is cleared; returns true if it is new. */
    bool Set(NodeWarning kind, const std::string& text);
    void Clear(NodeWarning kind);
    std::vector<std::string> Messages() const;

private:
    mutable Mutex m_mutex;
    std::map<NodeWarning, std::string> m_texts IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

// NodeWarnings: what is wrong with the node for longer, as getblockchaininfo and others show it.
// Set by whoever finds it, shown by RPC. Any thread. Memory: one line for each kind.
#pragma once

#include "util/mutex.h"

#include <map>
#include <string>
#include <vector>

namespace ibd {

/** In the order in which they are shown. */
enum class NodeWarning {
    kUnknownRules,   //!< version bits that we do not know were activated; never cleared
    kInvalidChain,   //!< a chain that broke a rule has much more work than ours
    kClockOutOfSync, //!< most of those whom we called have another time
    kMissingUndo,    //!< a chain with more work cannot be followed: undo data on the way is missing
};

class NodeWarnings {
public:
    /** Keeps the first text of a kind until it is cleared; true if it did not hold before. */
    bool Set(NodeWarning kind, const std::string& text);
    void Clear(NodeWarning kind);
    std::vector<std::string> Messages() const;

private:
    mutable Mutex m_mutex;
    std::map<NodeWarning, std::string> m_texts IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

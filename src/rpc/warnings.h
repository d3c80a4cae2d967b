// NodeWarnings: what is wrong with the node for longer, as getblockchaininfo and others show it.
// Set by whoever finds it, shown by RPC. Any thread. Memory: one line for each kind.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <univalue.h>

namespace ibd {

/** In the order in which they are shown. */
enum class NodeWarning { kUnknownRules, kInvalidChain, kMissingUndo, kNoBlocks };

class NodeWarnings {
public:
    /** Called with the text of each new warning: be quick. Set before anybody warns. */
    void OnNew(std::function<void(const std::string&)> call) { m_on_new = std::move(call); }

    /** Keeps the first text of a kind until it is cleared. */
    void Set(NodeWarning kind, const std::string& text);
    void Clear(NodeWarning kind);
    std::vector<std::string> Messages() const;
    /** An array of strings; with `deprecated` (-deprecatedrpc=warnings) the last alone, or "". */
    UniValue Json(bool deprecated) const;

private:
    std::function<void(const std::string&)> m_on_new;
    mutable std::mutex m_mutex;
    std::map<NodeWarning, std::string> m_texts; //!< guarded by m_mutex
};

} // namespace ibd

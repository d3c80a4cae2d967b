// Headers: the header tree, the active chain in it, and their lock. ChainReader: the only access
// for code that does not change them. Headers is owned by the ChainManager, whose thread changes
// the active chain; any thread may hold a ChainReader. Hold it for microseconds: read and copy
// nodes, without disk access or another lock.
#pragma once

#include "chain/chain.h"
#include "util/mutex.h"

#include <atomic>

namespace ibd {

/** A tip as a value. */
struct TipInfo {
    BlockHash hash;
    int32_t height = -1; //!< -1: none yet

    bool operator==(const TipInfo&) const = default;
};

/** The data under the headers lock, besides the changeable fields of nodes. */
struct Headers {
    explicit Headers(const ChainParams& params) : tree(params) {}

    /** Makes `node` the tip of the active chain. */
    void SetTip(HeaderNode* node) IBD_REQUIRES(mutex)
    {
        active.SetTip(node);
        tip = node;
    }

    mutable SharedMutex mutex;
    HeaderTree tree IBD_GUARDED_BY(mutex);
    Chain active IBD_GUARDED_BY(mutex);
    /** The tip of `active`, readable without the lock, since members fixed at insertion may always
     *  be read. Null: none yet. */
    std::atomic<HeaderNode*> tip = nullptr;
};

/** Prevents changes of the headers and the active chain as long as it lives. */
class ChainReader {
public:
    explicit ChainReader(const Headers& headers) : m_lock(headers.mutex), m_headers(headers) {}
    ChainReader(const ChainReader&) = delete;
    ChainReader& operator=(const ChainReader&) = delete;

    // The lock is held as long as this object exists, which clang cannot derive for a member.
    const HeaderTree& Tree() const IBD_NO_THREAD_CHECK { return m_headers.tree; }
    const Chain& Active() const IBD_NO_THREAD_CHECK { return m_headers.active; }
    /** Null: none yet. */
    const HeaderNode* Tip() const { return Active().Tip(); }
    /** Null: unknown. */
    const HeaderNode* Find(const BlockHash& hash) const { return Tree().Find(hash); }

private:
    const std::shared_lock<SharedMutex> m_lock;
    const Headers& m_headers;
};

} // namespace ibd

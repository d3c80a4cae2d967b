// Headers: the header tree, the active chain in it, and the lock over both; ChainReader: the only
// way in for whoever does not change them. Headers is owned by the ChainManager, whose thread
// changes the active chain; any thread may hold a ChainReader. The lock is held for microseconds:
// whoever holds a ChainReader reads nodes and copies, and touches neither disk nor another lock.
#pragma once

#include "chain/chain.h"
#include "util/mutex.h"

#include <atomic>

namespace ibd {

/** A tip as a value. */
struct TipInfo {
    BlockHash hash;
    int32_t height = -1; //!< -1: there is none yet

    bool operator==(const TipInfo&) const = default;
};

/** What the headers lock guards besides the fields of nodes that are not fixed at insertion. */
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
    /** Of `active`, without the lock: what is fixed at insertion may be read at any time. Null:
     *  none yet. */
    std::atomic<HeaderNode*> tip = nullptr;
};

/** Keeps headers and the active chain as they are for as long as it lives. */
class ChainReader {
public:
    explicit ChainReader(const Headers& headers) : m_lock(headers.mutex), m_headers(headers) {}
    ChainReader(const ChainReader&) = delete;
    ChainReader& operator=(const ChainReader&) = delete;

    // The lock is held as long as this exists, which clang cannot know of a member.
    const HeaderTree& Tree() const IBD_NO_THREAD_CHECK { return m_headers.tree; }
    const Chain& Active() const IBD_NO_THREAD_CHECK { return m_headers.active; }
    /** Null: there is none yet. */
    const HeaderNode* Tip() const { return Active().Tip(); }
    /** Null: unknown. */
    const HeaderNode* Find(const BlockHash& hash) const { return Tree().Find(hash); }

private:
    const std::shared_lock<SharedMutex> m_lock;
    const Headers& m_headers;
};

} // namespace ibd

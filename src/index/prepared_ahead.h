// PreparedAhead: prepares the next blocks for an index (Index::Prepare()) on all cores, while the
// index's follower connects earlier ones in order. Owned by the follower, which alone calls it.
// Memory: for each thread a block and its undo data; for each block ahead what Prepare() returns.
#pragma once

#include "chain/header_node.h"
#include "index/index.h"
#include "util/threads.h"

#include <deque>

namespace ibd {

/** The result of reading and preparing a block. */
struct PrepareOutcome {
    Result<> status;
    const char* failed = nullptr; //!< if it failed: the user's text, {} for the block's hash
    std::unique_ptr<PreparedBlock> block;
};

class PreparedAhead {
public:
    /** Blocks prepared ahead for each thread, because some blocks are slow. */
    static constexpr size_t kBlocksPerThread = 8;

    /** `prepare`: called on any thread. */
    PreparedAhead(const std::string& thread, size_t threads,
                  std::function<PrepareOutcome(const StoredBlock&)> prepare)
        : m_prepare(std::move(prepare)), m_most(kBlocksPerThread * threads), m_pool(thread, threads)
    {
    }
    ~PreparedAhead() { Clear(); }

    /** The next block to connect, and the last prepared one; null: none. */
    const HeaderNode* First() const { return m_blocks.empty() ? nullptr : m_blocks.front()->node; }
    const HeaderNode* Last() const { return m_blocks.empty() ? nullptr : m_blocks.back()->node; }
    size_t Room() const { return m_most - m_blocks.size(); }
    size_t Most() const { return m_most; }

    /** Adds a block behind the last one. There must be space. */
    void Add(const HeaderNode& node, const StoredBlock& place);
    /** Waits for the outcome of First(), and removes it. */
    PrepareOutcome Take();
    /** Forgets all blocks. */
    void Clear();

private:
    struct Block {
        Block(const HeaderNode* of, const StoredBlock& at) : node(of), place(at) {}

        const HeaderNode* const node;
        const StoredBlock place;
        std::atomic<bool> forgotten = false;
        bool done = false; //!< under m_mutex, like the outcome
        PrepareOutcome outcome = {};
    };

    const std::function<PrepareOutcome(const StoredBlock&)> m_prepare;
    const size_t m_most;
    std::deque<std::shared_ptr<Block>> m_blocks;
    Mutex m_mutex;
    std::condition_variable_any m_done;
    ThreadPool m_pool; //!< last member, because its threads use the others
};

} // namespace ibd

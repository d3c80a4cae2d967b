// IndexFollower: keeps one index at the tip of the active chain, on a thread of its own and of low
// priority. It reads the blocks one by one from the block files, so the chain never waits for it;
// events only wake it up. A batch of records and the best block are one atomic write. The index's
// best block is never ahead of the coins on disk, so that after a crash the index need not undo
// blocks unknown to the node. Records may be ahead of the best block; after a crash they are
// written again. Owned by Indexes.
//
// Threads: Open(), Start() and Stop() on the owner's; all others on any. Memory: kBatchBytes of
// records, up to four times that while they are sorted, one block and its undo data (for each core
// while many blocks are missing, see PreparedAhead), and the caches of the database.
#pragma once

#include "index/index.h"
#include "index/index_chain.h"
#include "index/prepared_ahead.h"
#include "util/log.h"
#include "util/threads.h"

#include <map>

namespace ibd {

struct IndexSummary {
    std::string name;
    bool synced = false; //!< whether it has reached the tip since the start
    int32_t height = 0;
    BlockHash hash; //!< genesis before the first block
    int32_t blocks_left = 0;                  //!< number of active blocks that it lacks
    std::optional<int64_t> seconds_left = {}; //!< to the tip; nothing: unknown yet
    std::optional<double> built = {};         //!< done share of an IndexBuild; nothing: none runs
};

/** The remedy for a damaged database. */
std::string IndexRemedy(const Path& folder, std::string_view option);

class IndexFollower {
public:
    /** Size of a batch of records while many blocks are missing, bytes. */
    static constexpr size_t kBatchBytes = 4 << 20;
    /** With this many missing blocks Index::Prepare() gets threads of its own. */
    static constexpr int32_t kManyBlocks = 32;

    /** `failed`: called once, on the thread, with an error that ends the index; the node stops. All
     *  arguments outlive it. */
    IndexFollower(Index& index, const IndexChain& chain, Env& env, Logger& log,
                  std::function<void(const Error&)> failed)
        : m_index(index), m_chain(chain), m_env(env), m_log(log), m_failed(std::move(failed))
    {
    }
    ~IndexFollower() { Stop(); }

    /** Reads the best block of the index. The block index must be loaded. */
    Result<> Open();
    /** Call it after Open() and before Start() if the index has a new database with the records of
     *  all blocks up to `best`: continues there. */
    Result<> GoOnFrom(const HeaderNode& best);
    void Start();
    /** Ends the thread after the current block, and saves. */
    void Stop();
    /** Call it when there may be a new tip. */
    void Wake();

    IndexSummary Summary() const;
    /** Estimated additional disk space until the index reaches the tip, bytes. */
    uint64_t DiskNeeded() const;
    /** Whether the index has this block, or the block has left the active chain. */
    bool HasReached(const HeaderNode* tip) const;
    /** Waits until the index has the block that is the tip now, or the node stops. Returns whether
     *  the index is synced (IndexSummary); if it is not, the call does not wait. */
    bool WaitForTip() const;
    /** The last block with written records; null: none. */
    const HeaderNode* Best() const { return m_shown; }

    // For pruning.

    /** Height of the last block of the active chain that is indexed; 0: none. */
    int32_t Height() const { return HeightOf(m_shown); }
    /** Makes the thread, if it runs, write all records up to the block of the coins on disk, and
     *  waits for that. */
    void Settle();
    /** The value of Height() after a crash. */
    int32_t SavedHeight() const { return std::min(Height(), HeightOf(m_saved)); }
    /** The block of the active chain from which the index must continue, if pruning has deleted
     *  data of that block or of a later one. Null: the index can reach the tip. Call it before
     *  Start(). */
    const HeaderNode* LeftBehind() const;

    // Called by its thread; tests call them without Start().

    /** Goes to the tip. */
    Result<> CatchUp();
    /** Writes all records that are only in memory. */
    Result<> Save() { return Write(NameBest::kIfNew); }

private:
    /** The next block to connect. */
    struct Next {
        const HeaderNode* fork = nullptr; //!< last block in common; null: none yet
        const HeaderNode* node = nullptr;
        StoredBlock place;
        int32_t tip = 0;
    };
    /** The block passed to an index, and the data behind its pointers. */
    struct BlockData {
        IndexedBlock block;
        UnzeroedBytes raw = {};
        BlockView view = {};
        BlockUndo undo = {};
    };

    void Run();
    void WaitToBeWoken();
    std::optional<Next> FindNext() const;
    bool Lacks(const StoredBlock& place) const;
    /** Whether its records refer to positions of blocks. */
    bool HasPositions() const { return !m_index.Traits().allows_prune; }
    const HeaderNode* LowestMissing() const;
    Result<> GoBack(const HeaderNode* lowest);
    Result<> GoBelowDamage();
    Result<> Follow();
    Result<> ReadBlock(const StoredBlock& place, BlockData& out) const;
    Result<> ReadUndo(const StoredBlock& place, BlockData& out) const;
    Result<> TakeBack(const StoredBlock& place);
    Result<> Rewind(const HeaderNode* fork);
    Result<> ConnectNext(const Next& next);
    Result<> ConnectRead(const Next& next);
    Result<> ConnectPrepared(const Next& next);
    PrepareOutcome ReadAndPrepare(const StoredBlock& place) const;
    PrepareOutcome TakePrepared(const Next& next);
    void PrepareAhead(const Next& next);
    Result<> WriteBatch(bool named);
    int32_t HeightOf(const HeaderNode* best) const;
    enum class NameBest { kIfNew, kAgain };
    Result<> Write(NameBest name);
    bool MaySave() const;
    std::optional<int64_t> SecondsLeft(int32_t height, int32_t tip) const;
    void LogProgress(const Next& next);
    /** The error for the user, with the remedy. */
    Error Explain(const Error& error) const;
    Error Failed(std::string words, const Error& cause) const;
    Result<> FailedAt(const char* words, const StoredBlock& place, const Result<>& result) const;
    Result<> Explained(const Result<>& result) const
    {
        return result ? Result<>() : Explain(result.GetError());
    }

    Index& m_index;
    const IndexChain& m_chain;
    Env& m_env;
    Logger& m_log;
    const std::function<void(const Error&)> m_failed;

    // Used by the thread.
    const HeaderNode* m_best = nullptr;    //!< the last block in the index or its batch
    const HeaderNode* m_flushed = nullptr; //!< the coins on disk at the last write
    std::optional<KvBatch> m_batch;
    std::unique_ptr<PreparedAhead> m_ahead; //!< null: few blocks are missing
    /** Where the blocks of IndexChain::Damaged() that it knows were; a block is there once. */
    std::map<BlockHash, FilePos> m_damaged;
    const HeaderNode* m_lacking = nullptr;  //!< the block whose data is awaited
    int64_t m_logged_micros = 0;

    // Written by the thread.
    std::atomic<const HeaderNode*> m_saved = nullptr; //!< the block that the database names
    std::atomic<const HeaderNode*> m_shown = nullptr;
    std::atomic<int64_t> m_started_micros = 0; //!< start of the current CatchUp()
    std::atomic<int32_t> m_start_height = 0;   //!< height of the best block then; -1: none
    std::atomic<bool> m_synced{false};
    std::atomic<bool> m_stop{false};
    mutable Mutex m_mutex;
    mutable std::condition_variable_any m_changed;
    bool m_woken IBD_GUARDED_BY(m_mutex) = false;
    bool m_started IBD_GUARDED_BY(m_mutex) = false;
    /** The block of the coins on disk at the last finished write. */
    const HeaderNode* m_settled IBD_GUARDED_BY(m_mutex) = nullptr;
    bool m_ended IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd

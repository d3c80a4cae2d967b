// ChainManager: the serial engine. Owns the header tree, the active chain and the coins; takes
// blocks and headers, and keeps the chain of most work among the valid ones connected. Code that
// only reads uses what it inherits from ChainView. Topics with a state of their own are classes,
// such as BlockAcceptor, BlockPruner, BlockRepair, IndexWriter, UndoKeeper, CoinsPrefetch,
// ScriptChoice. Owned by the node.
//
// Threads: every public method may be called from any thread. In the node, only ChainThread calls
// those that change the chain. Locks, in the order in which they are taken:
//   activation  one change of the active chain at a time
//   state       the coins and what is connected: held while a block is connected or disconnected,
//               and while coins are written, but not from one block of a reorganisation to the
//               next; CoinsGuard holds it for reading
//   saving      the block index is written by one thread at a time
//   storing     one block is stored at a time
//   headers     tree, statuses, active chain: for microseconds; ChainReader holds it for reading
// Memory: the header tree, the coins cache (cache_bytes), the read-ahead of BlockReader, and one
// block (FreshBlock).
//
// Errors (Result) are of the disk, or of data that this node itself stored: the node must stop. A
// fault of a block from outside is a RuleResult.
#pragma once

#include "consensus/rule_verdict.h"
#include "consensus/versionbits.h"
#include "validation/block_acceptor.h"
#include "validation/block_pruner.h"
#include "validation/block_reader.h"
#include "validation/block_repair.h"
#include "validation/coins_prefetch.h"
#include "validation/connect_block.h"
#include "validation/fresh_block.h"
#include "validation/script_choice.h"
#include "validation/snapshot_marks.h"
#include "validation/undo_keeper.h"

namespace ibd {

enum class FlushMode {
    kIfNeeded, //!< the cache exceeds its bound, or the last write was long ago
    kAlways,
};

/** Whether to stop between two blocks; empty: never. */
using Pause = std::function<bool()>;

/** The coins, and the block that they are at (during a reorganisation not the visible tip). While
 *  it exists, no block is connected and no coins are written. Construction waits for a block that
 *  is being connected, or for a write. */
class CoinsGuard {
public:
    /** `lock`: of the state. Use ChainManager::HoldCoins(). */
    CoinsGuard(std::shared_lock<SharedMutex> lock, const CoinsCache& cache, const HeaderNode& tip)
        : m_lock(std::move(lock)), m_cache(cache), m_tip(tip)
    {
    }
    CoinsGuard(const CoinsGuard&) = delete;

    const CoinsCache& Cache() const { return m_cache; }
    const HeaderNode& Tip() const { return m_tip; }

private:
    const std::shared_lock<SharedMutex> m_lock;
    const CoinsCache& m_cache;
    const HeaderNode& m_tip;
};

class ChainManager : public ChainView {
public:
    ChainManager(const ChainParams& params, ChainStores stores, const ChainManagerOptions& options,
                 const std::atomic<bool>& interrupt);
    ~ChainManager();

    // Start-up, in this order, on one thread.

    /** Reads the block index. */
    Result<> LoadIndex();
    /** Stores the genesis block unless the block files have it. A pruned genesis block is stored
     *  again only with `pruned_too`. */
    Result<> StoreGenesis(bool pruned_too = false);
    /** Takes over the coins and makes their best block the tip. First completes a write that a
     *  crash interrupted, from the blocks. `snapshot`: the snapshot from which the coins started. A
     *  second call, on the thread that changes the chain, switches to the coins of a snapshot whose
     *  block has more work than the tip; the older coins stay open. On an error the node must stop.
     */
    Result<> AttachCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart* snapshot = nullptr);
    /** Any thread. Write the index afterwards. */
    SnapshotMarks& Snapshot() { return m_snapshot; }
    /** `checker` runs input scripts. Without one, a block whose scripts must run is an error. Must
     *  outlive the manager. */
    void SetScriptChecker(ScriptChecker* checker) { m_scripts.SetChecker(checker); }
    void SetObserver(ChainObserver* observer) { m_news.SetObserver(observer); }

    // Blocks and headers.

    /** Adds a header. `out`, if given, gets its node on success. */
    RuleResult AcceptHeader(const BlockHeader& header, const HeaderNode** out = nullptr)
    {
        return m_acceptor.AcceptHeader(header, out);
    }
    /** Checks a block without its coins and stores it, without connecting it. `stored`: its
     *  position on disk (reindex). */
    Result<BlockOutcome> AcceptBlock(ByteSpan raw, const FilePos* stored = nullptr)
    {
        return m_acceptor.AcceptBytes(raw, stored);
    }
    /** The same for a block at `stored` that has already passed CheckBlock and
     *  ContextualCheckBlock. */
    Result<BlockOutcome> AcceptSound(const SoundBlock& block, const FilePos& stored)
    {
        return m_acceptor.AcceptSound(block, stored);
    }
    /** Stores a block of the tree, unless it is stored already. The block has already passed
     *  CheckBlock and ContextualCheckBlock. For blocks that will not be connected: their bytes are
     *  dropped from the system's cache. */
    Result<> StoreSound(const BlockView& block, const HeaderNode& node)
    {
        return m_acceptor.StoreSound(block, node);
    }
    /** Writes the undo record of a stored block, as connecting the block would, unless it exists or
     *  the block was found damaged. The caller must have checked the record against the block. Any
     *  thread. */
    Result<> PutUndo(const HeaderNode& node, const UndoRecord& undo)
    {
        return m_undo.Put(node, undo);
    }
    /** Sets a function that starts making missing or damaged undo data from the blocks. It is
     *  called on the thread that changes the chain, without the headers lock. It returns false if
     *  it cannot; otherwise TryLeftAside() is called later. Without it no undo data is made. */
    void SetUndoMaker(std::function<bool()> maker) { m_undo.SetMaker(std::move(maker)); }
    /** Call it when undo data of the active chain was made, or when that failed: branches that were
     *  set aside for lack of it become candidates again, for the next ActivateBestChain(). Any
     *  thread. */
    void TryLeftAside();
    /** Marks a block of the active chain as invalid in the database only: it breaks a rule that was
     *  skipped when the coins were made. The next start then refuses the coins; the running
     *  process, which is about to stop, keeps its chain. On an error the next flush tries again.
     *  Any thread. */
    Result<> NoteBroken(const HeaderNode& node);
    /** Like StoreSound(), but records the block as pruned instead of storing it. */
    Result<> NotePruned(const BlockView& block, const HeaderNode& node);
    /** For blocks from peers: CheckBlock, AcceptBlock, ActivateBestChain. A block that fails
     *  CheckBlock is not recorded, because other bytes with the same hash may be valid. */
    Result<BlockOutcome> ProcessBlock(ByteSpan raw);
    /** The first two steps of ProcessBlock(); the caller has the block connected later. */
    Result<BlockOutcome> TakeBlock(Bytes raw);
    /** Checks a block on the tip without accepting it, and without its proof of work and signet
     *  solution. `check_merkle_root`: also check the root in its header. There must be a tip. Runs
     *  scripts, so call it on the connecting thread. */
    RuleVerdict TestBlock(const BlockView& block, bool check_merkle_root);
    /** Connects and disconnects blocks until the tip is the best known block. Returns early,
     *  without error, when interrupted or when `pause` (called between blocks) returns true. A
     *  better branch is set aside, with a warning, if a block on the way to it cannot be
     *  disconnected: its undo data is missing and must be made first, or the block is damaged and
     *  must be received again. If the node cannot do that (no maker of undo data, no network), the
     *  call fails and no block is disconnected. */
    Result<> ActivateBestChain(const Pause& pause = {});

    /** Marks a block invalid permanently and moves off it; ignores genesis, as Core does. Changes
     *  nothing if a block on the way cannot be disconnected. After an interrupt the next start
     *  moves off it. */
    Result<Obstacle> InvalidateBlock(const HeaderNode& node);
    /** Undoes InvalidateBlock(), or a failed check. */
    Result<> ReconsiderBlock(const HeaderNode& node);
    /** Treats a block as if it had been received before others of the same work. */
    Result<> PreciousBlock(const HeaderNode& node);

    // Damaged block files; block_repair.h.

    /** Reads the files in which damage was found since the last call, and requests their damaged
     *  blocks again from peers. Those are marked as missing. Connected ones count as lost instead:
     *  they keep their position, because undo data refers to it, until a sound copy is stored. The
     *  marks are in memory only, so that the next start accepts a repaired file; they become
     *  durable when the block is stored again. Returns these blocks; the log names them. Fails on
     *  an I/O error, or if a block is damaged a second time. Any thread. */
    Result<std::vector<const HeaderNode*>> ForgetDamaged() { return m_repair.ForgetDamaged(); }
    /** Notes that indexing found the block `hash` damaged in a block file, for DescribeMissing().
     *  Kept in memory only. */
    void NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why)
    {
        m_repair.NoteLeftOut(hash, pos, why);
    }
    /** Text about a block that is not stored: "block ... at height ...", and the position of a
     *  damaged copy. */
    std::string DescribeMissing(const HeaderNode& node) const
    {
        return m_repair.DescribeMissing(node);
    }

    // Durability.

    Result<> Flush(FlushMode mode);
    /** Writes only the block index, not the coins. Any thread. It blocks connecting and storing of
     *  blocks only if these write the index too. */
    Result<> FlushIndex();
    /** Makes the next kIfNeeded flush, after the block being connected, write everything. */
    void FlushSoon() { m_flush_soon = true; }
    /** Writes all coins and calls `visit` with the database before any other block is connected. */
    Result<>
    VisitFlushed(const std::function<Result<>(CoinsDb& coins, const CoinsCache& cache)>& visit);

    // Pruning; see pruning.h.

    /** Whether block files of this directory were ever deleted. */
    bool HasPruned() const { return m_pruner.HasPruned(); }
    /** In prune mode: deletes, as far as allowed, files without a block above `height`. */
    Result<> PruneTo(int32_t height);
    /** Deletes files until the rest fits into -prune=<n>, and those left over from an earlier
     *  start. */
    Result<> PruneAtStart();
    // The coins.

    /** Number of blocks connected and disconnected so far. */
    uint64_t Steps() const { return m_steps; }
    /** There must be a tip. */
    CoinsGuard HoldCoins() const IBD_NO_THREAD_CHECK;
    bool HasCoins() const { return m_tree.has_coins; }
    /** The block of the coins on disk. While blocks below a snapshot's base are missing: the last
     *  block up to which all positions are on disk. Null: none. Any thread, without a lock. */
    const HeaderNode* Flushed() const { return m_flushed; }
    /** Estimated bytes of the coins database. */
    uint64_t EstimateCoinsSize() const
    {
        const SharedLock state(m_state);
        return m_coins->EstimateSize();
    }
    /** The checker for a block's scripts; null: they need not run. For the connecting code. */
    Result<ScriptChecker*> CheckerFor(const HeaderNode& node) { return m_scripts.CheckerFor(node); }

    // For single-threaded programs, such as tests.

    CoinsCache& Coins() IBD_NO_THREAD_CHECK { return *m_cache; }
    CoinsDb& CoinsDatabase() IBD_NO_THREAD_CHECK { return *m_coins; }
    BlockIndex& Index() IBD_NO_THREAD_CHECK { return m_tree.index; }

private:
    // chain_durability.cpp
    Result<> TakeCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart* snapshot)
        IBD_EXCLUDES(m_state);
    Result<> SwitchCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart& snapshot)
        IBD_REQUIRES(m_activation);
    Result<> LoadTip(const BlockHash& best) IBD_REQUIRES(m_state);
    Result<> FlushHeld(FlushMode mode) IBD_REQUIRES(m_state);
    Result<> WriteAll(bool drop_coins) IBD_REQUIRES(m_state);

    // chain_activation.cpp
    Result<> Activate(const Pause& pause) IBD_REQUIRES(m_activation);
    /** Only the thread that holds `activation` changes it, so that thread may read it without the
     *  state lock. */
    HeaderNode* Connected() const IBD_REQUIRES(m_activation) IBD_NO_THREAD_CHECK
    {
        return m_connected;
    }
    HeaderNode* ChooseTarget() IBD_REQUIRES(m_activation);
    Result<> Reorganise() IBD_REQUIRES(m_activation);
    Result<> Move(const std::function<Result<>()>& move) IBD_REQUIRES(m_activation);
    Result<> MoveToBetter() IBD_REQUIRES(m_activation);
    /** Looks, before the first disconnect, for an obstacle to disconnecting the blocks above
     *  `fork`. */
    Result<Obstacle> FindObstacle(const HeaderNode* fork) IBD_REQUIRES(m_activation);
    /** Sets aside branches that can be reached only by disconnecting the obstacle. `rebuilds`: of
     *  the candidates, before the obstacle was found. */
    void LeaveAside(const HeaderNode& target, const Obstacle& obstacle, uint64_t rebuilds)
        IBD_REQUIRES(m_activation);
    std::vector<HeaderNode*> PathTo(HeaderNode& target) const IBD_REQUIRES(m_activation);
    Result<> ConnectHidden(HeaderNode& target, const HeaderNode& start) IBD_REQUIRES(m_activation);
    Result<> Extend(const std::vector<HeaderNode*>& path, const Pause& pause)
        IBD_REQUIRES(m_activation);
    bool StillWanted(const HeaderNode& node) const IBD_REQUIRES(m_state);

    // chain_tip.cpp
    RuleVerdict Judge(HeaderNode& node, LoadedBlock& block) IBD_REQUIRES(m_state);
    Result<bool> ConnectTip(HeaderNode& node, LoadedBlock& block, bool shown) IBD_REQUIRES(m_state);
    /** An interrupt stops it at a block. */
    Result<> DisconnectTo(const HeaderNode& node) IBD_REQUIRES(m_activation);
    Result<> DisconnectTip() IBD_REQUIRES(m_activation) IBD_EXCLUDES(m_state);
    Result<> Disconnect(HeaderNode& node, const BlockView& block, BlockUndo undo)
        IBD_EXCLUDES(m_state);
    void SetTip(HeaderNode& node, bool shown) IBD_REQUIRES(m_state);
    void ShowTip() IBD_REQUIRES(m_activation);
    std::string NoteUnknownRules() IBD_REQUIRES(m_state);
    void LogTip(const std::string& warning) const IBD_REQUIRES(m_state);

    const ChainStores m_stores;
    BlockTree m_tree;

    Mutex m_activation;
    mutable SharedMutex m_state IBD_ACQUIRED_AFTER(m_activation);

    ChainNews m_news;
    ScriptChoice m_scripts;
    IndexWriter m_writer;
    UndoKeeper m_undo;
    BlockAcceptor m_acceptor;
    FreshBlock m_fresh;
    BlockRepair m_repair;
    SnapshotMarks m_snapshot;
    BlockPruner m_pruner;
    CoinsPrefetch m_prefetch IBD_GUARDED_BY(m_state);

    int32_t m_next_precious IBD_GUARDED_BY(m_tree.headers.mutex) = -1;
    /** Work of the tip at the last PreciousBlock(). */
    Arith256 m_precious_work IBD_GUARDED_BY(m_tree.headers.mutex);

    std::unique_ptr<CoinsDb> m_coins IBD_GUARDED_BY(m_state);
    /** The older coins, replaced by those of a snapshot; kept open because walks over them may be
     *  running. */
    std::unique_ptr<CoinsDb> m_older_coins IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsDbReader> m_coins_reader IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsCache> m_cache IBD_GUARDED_BY(m_state);
    /** The block that the coins are at; null: none yet. It changes during a reorganisation, while
     *  the visible tip does not. */
    HeaderNode* m_connected IBD_GUARDED_BY(m_state) = nullptr;
    /** The block that the coins on disk are at. */
    std::atomic<const HeaderNode*> m_flushed = nullptr;
    int64_t m_last_flush IBD_GUARDED_BY(m_state) = 0; //!< MonotonicMicros
    VersionBitsCache m_version_bits IBD_GUARDED_BY(m_state);
    /** The block that ProcessBlock() waits for, and its verdict. */
    const HeaderNode* m_submitted IBD_GUARDED_BY(m_state) = nullptr;
    std::optional<RuleResult> m_submitted_verdict IBD_GUARDED_BY(m_state);

    std::atomic<uint64_t> m_steps{0};
    std::atomic<bool> m_flush_soon{false};
};

} // namespace ibd

// ChainManager: the serial engine. Owns the header tree, the active chain and the coins; takes
// blocks and headers, and keeps the chain of most work among the valid ones connected. Owned by
// the node.
//
// Threads: every public method may be called from any thread; in the node ChainThread alone calls
// those that change the chain. Locks, in the order in which they are taken:
//   activation  one change of the active chain at a time
//   state       the coins and what is connected: held while a block is connected, and while coins
//               are written; CoinsGuard holds it for reading
//   saving      the block index is written by one thread at a time
//   storing     one block is stored at a time
//   headers     tree, statuses, active chain: for microseconds; ChainReader holds it for reading
// Memory: the header tree, the coins cache (cache_bytes) and the read-ahead of BlockReader.
//
// Errors (Result) are of the disk, or of data that this node itself stored: the node must stop.
// What is wrong with a block that somebody gave us is a RuleResult.
#pragma once

#include "chain/assume_valid.h"
#include "chain/chain_reader.h"
#include "consensus/versionbits.h"
#include "util/env.h"
#include "util/log.h"
#include "validation/block_index.h"
#include "validation/block_reader.h"
#include "validation/candidate_set.h"
#include "validation/chain_warnings.h"
#include "validation/coins_cache.h"
#include "validation/connect_block.h"
#include "validation/pruning.h"

#include <atomic>
#include <functional>
#include <unordered_set>

namespace ibd {

/** Who wants to know what happens to the chain. Called under the state lock, on the thread that
 *  changes the chain: copy and be gone. */
class ChainObserver {
public:
    virtual ~ChainObserver() = default;
    virtual void BlockConnected(const HeaderNode&, const BlockView&) {}
    virtual void BlockDisconnected(const HeaderNode&, const BlockView&) {}
    virtual void TipChanged(const HeaderNode&) {}
    /** The verdict on a block that was submitted or connected. */
    virtual void BlockChecked(const BlockHash&, const RuleResult&) {}
    /** A warning that did not hold before; `text` is for the user. */
    virtual void WarningSet(NodeWarning, const std::string& /*text*/) {}
    virtual void WarningCleared(NodeWarning) {}
};

struct ChainManagerOptions {
    size_t cache_bytes = 450 << 20;     //!< bound of the coins cache (-dbcache less LevelDB's part)
    BlockHash assume_valid;             //!< -assumevalid; null: run all scripts
    Arith256 minimum_work;              //!< -minimumchainwork
    SipKey hash_key{};                  //!< random, keys the coins table
    size_t threads = 1;                 //!< for reading coins ahead, the caller's too
    int64_t max_tip_age = 24 * 60 * 60; //!< -maxtipage, seconds
    /** Bytes of block and undo files to stay below (-prune); 0: none is deleted, kManualPruning:
     *  only on request. */
    uint64_t prune_target = 0;
    /** There is a network: a stored block that turns out damaged is fetched again. */
    bool peers_bring_blocks = false;
};

/** The machine and the stores a manager works on; all outlive it. */
struct ChainStores {
    Env& env;
    Logger& log;
    BlockStore& blocks;
    BlockIndexDb& index;
};

/** What became of a block that was handed in. */
struct BlockOutcome {
    RuleResult violation;             //!< why it was refused
    bool is_new = false;              //!< stored now; false: we had it
    const HeaderNode* node = nullptr; //!< its header, if that was accepted
    /** ProcessBlock only: what connecting it said; nothing if it came not to that. */
    std::optional<RuleResult> verdict;
};

/** What there is to know of a block that kept all rules which need no coins, when its bytes are no
 *  longer at hand. */
struct SoundBlock {
    BlockHeader header;
    uint32_t size = 0; //!< bytes
    uint32_t tx_count = 0;
};

enum class FlushMode {
    kIfNeeded, //!< cache over its bound, or long not written
    kAlways,
};

/** What is in the way of taking blocks back. */
struct MissingUndo {
    const HeaderNode* block = nullptr; //!< the highest that has none; null: nothing is
    bool is_made = false;              //!< from the blocks, for the next time
};

/** Whether to stop between two blocks; nothing: never. */
using Pause = std::function<bool()>;

/** The coins, and the block after which they are so. Nothing is connected and nothing written while
 *  it lives; making one waits for a block that is being connected, or for a write. */
class CoinsGuard {
public:
    const CoinsCache& Cache() const { return m_cache; }
    const HeaderNode& Tip() const { return m_tip; }

private:
    friend class ChainManager;
    CoinsGuard(SharedMutex& state, const CoinsCache& cache, const HeaderNode& tip)
        : m_lock(state, std::adopt_lock), m_cache(cache), m_tip(tip)
    {
    }

    const std::shared_lock<SharedMutex> m_lock;
    const CoinsCache& m_cache;
    const HeaderNode& m_tip;
};

class ChainManager {
public:
    ChainManager(const ChainParams& params, ChainStores stores, ChainManagerOptions options,
                 const std::atomic<bool>& interrupt);
    ~ChainManager();
    ChainManager(const ChainManager&) = delete;
    ChainManager& operator=(const ChainManager&) = delete;

    // Start-up, in this order, on one thread.

    /** Reads the block index. */
    Result<> LoadIndex();
    /** Stores the genesis block if it is not in the block files yet. */
    Result<> StoreGenesis();
    /** Takes the coins and makes their best block the tip; first completes a write that a crash
     *  interrupted, from the blocks. */
    Result<> AttachCoins(std::unique_ptr<CoinsDb> coins);
    /** `checker` runs input scripts; without one a block whose scripts must run is an error.
     *  Must outlive the manager. */
    void SetScriptChecker(ScriptChecker* checker) { m_checker = checker; }
    void SetObserver(ChainObserver* observer) { m_observer = observer; }

    // Blocks and headers.

    /** Adds a header. `out`, if given, gets its node on success. */
    RuleResult AcceptHeader(const BlockHeader& header, const HeaderNode** out = nullptr);
    /** Checks a block without its coins and stores it; does not connect it. `stored` says where it
     *  lies already (reindex). */
    Result<BlockOutcome> AcceptBlock(ByteSpan raw, const FilePos* stored = nullptr);
    /** The same for a block that lies at `stored` and that CheckBlock and ContextualCheckBlock have
     *  passed in its place. */
    Result<BlockOutcome> AcceptSound(const SoundBlock& block, const FilePos& stored);
    /** Stores a block of the tree, whose bytes CheckBlock and ContextualCheckBlock have passed in
     *  its place, unless it is stored already. For blocks that nobody connects: they leave the
     *  system's cache again. */
    Result<> StoreSound(const BlockView& block, const HeaderNode& node);
    /** Writes the undo record of a stored block, as connecting the block would have left it, unless
     *  it is there. The record must have been held against the block. Any thread. */
    Result<> PutUndo(const HeaderNode& node, const UndoRecord& undo);
    /** Who makes undo data that is missing, or damaged, from the blocks. Asked by the thread that
     *  changes the chain, without the headers lock: false if that cannot be, else TryLeftAside()
     *  follows. Without one nobody makes any. */
    void SetUndoMaker(std::function<bool()> maker) { m_undo_maker = std::move(maker); }
    /** Undo data of blocks of the active chain has come, or will not come any more: branches that
     *  were left aside for want of it are candidates again, for the next ActivateBestChain(). Any
     *  thread. */
    void TryLeftAside();
    /** A block of the active chain breaks a rule that was left out when its coins came: marks it in
     *  the database, so that the next start refuses the coins. This process, which is to end, goes
     *  on as before. An error: the next flush tries again. Any thread. */
    Result<> NoteBroken(const HeaderNode& node);
    /** StoreSound() for a block that is not to be stored, as if it had been pruned since. */
    Result<> NotePruned(const BlockView& block, const HeaderNode& node);
    /** For blocks of strangers: CheckBlock, AcceptBlock, ActivateBestChain. A block that fails the
     *  first leaves no trace, since what is wrong may be these bytes and not the block. */
    Result<BlockOutcome> ProcessBlock(ByteSpan raw);
    /** The first two steps of that, for whoever has it connected later. */
    Result<BlockOutcome> TakeBlock(ByteSpan raw);
    /** What the chain would say to a block on its tip, proof of work and signet solution aside,
     *  without taking it. `check_merkle_root`: also to the root in its header. There is a tip. It
     *  runs scripts, so it is a matter for the thread that connects. */
    Result<RuleResult> TestBlock(const BlockView& block, bool check_merkle_root);
    /** Connects and disconnects blocks until the tip is the best block we have. Returns early,
     *  without error, when interrupted or when `pause` (asked between blocks) says so. Where a
     *  block on the way to a better branch cannot be taken back for want of undo data, that branch
     *  is left aside, with a warning, until the undo data is made; an error, before anything is
     *  taken back, if nobody makes it. */
    Result<> ActivateBestChain(const Pause& pause = {});

    /** Marks a block invalid for good and moves off it; does nothing to genesis, as Core. Where
     *  undo data is missing on the way nothing is changed. */
    Result<MissingUndo> InvalidateBlock(const HeaderNode& node);
    /** Takes InvalidateBlock, or a failed check, back. */
    Result<> ReconsiderBlock(const HeaderNode& node);
    /** Treats a block as if it had come before others of the same work. */
    Result<> PreciousBlock(const HeaderNode& node);

    // Damaged block files; chain_repair.cpp.

    /** Reads the files in which damage was found since the last call, and takes the damaged blocks
     *  of them that are not connected for missing, so that they can be fetched. In memory alone, so
     *  that the next start takes a file that was mended; durable once the block is stored again.
     *  Returns these blocks; the log names them. An error: the machine's, or that a block is
     *  damaged once more although it was fetched. Any thread. */
    Result<std::vector<const HeaderNode*>> ForgetDamaged();
    /** Who indexes block files found `hash` damaged there. For DescribeMissing(), while the node
     *  runs. */
    void NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why);
    /** Of a block that is not stored: "block ... at height ...", and where it lies damaged. */
    std::string DescribeMissing(const HeaderNode& node) const;
    /** Whether blocks are stored above one that is not, whose header is known. O(headers). */
    bool HasHoles() const;
    bool IsStored(const BlockHash& hash) const;

    // Durability.

    Result<> Flush(FlushMode mode);
    /** Writes the block index only; the coins may stay behind it. Any thread; nobody who connects
     *  or stores blocks waits for it, unless they write the index too. */
    Result<> FlushIndex();
    /** Makes the next flush of mode kIfNeeded, after the block being connected, write all. */
    void FlushSoon() { m_flush_soon = true; }
    /** Writes all coins and calls `visit` with the database before anything else is connected. */
    Result<>
    VisitFlushed(const std::function<Result<>(CoinsDb& coins, const CoinsCache& cache)>& visit);

    // Pruning; see pruning.h.

    bool IsPruneMode() const { return m_options.prune_target != 0; }
    /** The option that makes the chainstate anew: -prune forbids -reindex-chainstate. */
    const char* RebuildOption() const;
    /** What helps where undo data is missing and nobody makes it: "restart with ...". */
    std::string UndoRemedy() const;
    /** Block files of this directory were deleted once. */
    bool HasPruned() const { return m_has_pruned; }
    /** Deletes files that hold no block above `height`, as far as they may go; in prune mode. */
    Result<> PruneTo(int32_t height);
    /** Deletes what -prune has go now, and what an earlier start left of files that it forgot. */
    Result<> PruneAtStart();
    /** The last block of the active chain without block or undo data; nothing if all above genesis
     *  have both. O(blocks that are stored). */
    std::optional<int32_t> LastWithoutData() const;

    // Views.

    ChainReader Read() const { return ChainReader(m_headers); }
    /** The tip, without waiting for anything. In a reorganisation it is the old one until the new
     *  one is as good. */
    TipInfo Current() const;
    /** Blocks connected and taken back so far. */
    uint64_t Steps() const { return m_steps; }
    /** The same as a node, of which only what is fixed at insertion may be read; null: none yet. */
    const HeaderNode* Tip() const { return m_headers.tip; }
    /** There is a tip. */
    CoinsGuard HoldCoins() const IBD_NO_THREAD_CHECK;
    /** Bytes of the coins database, estimated: it needs no lock to be asked. */
    uint64_t EstimateCoinsSize() const IBD_NO_THREAD_CHECK { return m_coins->EstimateSize(); }
    /** For programs of one thread, such as tests. */
    CoinsCache& Coins() IBD_NO_THREAD_CHECK { return *m_cache; }
    CoinsDb& CoinsDatabase() IBD_NO_THREAD_CHECK { return *m_coins; }
    BlockIndex& Index() IBD_NO_THREAD_CHECK { return m_index; }
    const BlockStore& Blocks() const { return m_stores.blocks; }
    Logger& Log() const { return m_stores.log; }
    /** Seconds since 1970. */
    int64_t Now() const { return m_stores.env.UnixTime(); }
    const ChainParams& Params() const { return m_params; }
    const ChainManagerOptions& Options() const { return m_options; }
    bool HasCoins() const { return m_has_coins; }
    bool Interrupted() const { return m_interrupt; }

    /** The tip is old or has little work: most of the chain is yet to come. Turns false once, and
     *  not while blocks are imported. */
    bool IsInitialBlockDownload() const;
    void SetImporting(bool importing) { m_importing = importing; }
    /** Blocks are read from files now. */
    bool IsImporting() const { return m_importing; }
    /** Estimated share of the chain's transactions that is verified at `node`, a block of the
     *  active chain or null, 0 to 1. */
    double VerificationProgress(const HeaderNode* node) const;
    /** Where a block lies. */
    StoredBlock Where(const HeaderNode& node) const;
    /** Block and undo data of a block of the tree. Errors name it. */
    Result<Bytes> ReadBlock(const HeaderNode& node) const;
    Result<BlockUndo> ReadUndo(const HeaderNode& node) const;
    /** Who runs the scripts of a block; null: nobody needs to. For whoever connects it. */
    Result<ScriptChecker*> CheckerFor(const HeaderNode& node);

private:
    // chain_manager.cpp
    RuleResult AddHeader(const BlockHeader& header, HeaderNode** out) IBD_REQUIRES(m_headers.mutex);
    Result<BlockOutcome> Accept(const BlockView& view, const FilePos* stored, bool checked)
        IBD_EXCLUDES(m_storing, m_headers.mutex);
    void LogRefused(const RuleViolation& violation) const;
    /** For -debug=validation. */
    void LogRefusedHeader(const BlockHeader& header, const RuleViolation& why) const;
    RuleResult CheckStranger(ByteSpan raw, BlockView& view);
    Result<BlockOutcome> AcceptAlone(const BlockView& view, const FilePos* stored, bool checked)
        IBD_REQUIRES(m_storing);
    RuleResult Check(const BlockView& view, HeaderNode& node, bool checked);
    Result<> Store(const BlockView& view, HeaderNode& node, const FilePos* stored, ReadAgain again)
        IBD_REQUIRES(m_storing);
    void SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count);
    void Link(HeaderNode& node) IBD_REQUIRES(m_headers.mutex);
    void TellChecked(const BlockHash& hash, const RuleResult& verdict);
    bool HasFailed(const HeaderNode& node) const;
    Result<> LoadTip(const BlockHash& best) IBD_REQUIRES(m_state);
    Result<> ReplayInterruptedWrite(const std::vector<BlockHash>& heads) IBD_REQUIRES(m_state);
    Result<> RollForward(const HeaderNode& node, CoinsCache& coins);
    Result<> FlushHeld(FlushMode mode) IBD_REQUIRES(m_state);
    Result<> WriteAll(bool drop_coins) IBD_REQUIRES(m_state);
    Result<> CheckSpace() const IBD_REQUIRES(m_state);
    Result<> SaveIndex() IBD_EXCLUDES(m_saving, m_headers.mutex);
    Result<> WriteIndex(const BlockIndex::Nodes& nodes) IBD_REQUIRES(m_saving);
    Result<> WriteRecords(BlockIndexUpdate update);

    // chain_pruning.cpp
    std::vector<int32_t> FilesToPrune() const IBD_REQUIRES_SHARED(m_state);
    Result<> SetPruned();
    Result<> Prune(const std::vector<int32_t>& files) IBD_REQUIRES(m_state);
    std::vector<int32_t> ForgottenFiles() const;
    void DeleteFiles(const std::vector<int32_t>& files);

    // chain_repair.cpp
    struct Stored {
        HeaderNode* node = nullptr;
        StoredBlock place;
    };
    std::vector<Stored> NotConnectedIn(const std::vector<int32_t>& files) const;
    Result<std::optional<Error>> FindDamage(const StoredBlock& block) const;
    Result<> ForgetBlock(const Stored& block, const Error& damage);
    /** Whether the chain can go on although `error` ended a step: if it was a damaged block. */
    Result<> LeaveToPeers(const Error& error);

    // chain_undo.cpp
    /** On the way from the tip down to `fork`. The index forgets records that are damaged. */
    Result<MissingUndo> FindMissingUndo(const HeaderNode* fork) IBD_REQUIRES(m_state);
    Result<bool> HasUsableUndo(HeaderNode& node) IBD_REQUIRES(m_state);
    Result<> ForgetUndo(HeaderNode& node, const std::string& why) IBD_REQUIRES(m_state);
    Error CannotDisconnect(const HeaderNode& stuck) const;
    /** Leaves aside what can only be reached by taking `stuck` back. */
    void LeaveAside(const HeaderNode& target, const HeaderNode& stuck) IBD_REQUIRES(m_state);
    Result<> StoreUndo(HeaderNode& node, const BlockUndo& undo, bool intact);

    // chain_activation.cpp
    Result<> Activate(const Pause& pause) IBD_REQUIRES(m_activation);
    HeaderNode* ChooseTarget() IBD_REQUIRES(m_state);
    Result<> Reorganise() IBD_REQUIRES(m_state);
    std::vector<HeaderNode*> PathTo(HeaderNode& target) const IBD_REQUIRES_SHARED(m_state);
    std::vector<StoredBlock> Where(const std::vector<HeaderNode*>& path) const;
    Result<> ConnectHeld(HeaderNode& target, const HeaderNode& start) IBD_REQUIRES(m_state);
    Result<> Extend(const std::vector<HeaderNode*>& path, const Pause& pause)
        IBD_REQUIRES(m_activation);
    bool StillWanted(const HeaderNode& node) const IBD_REQUIRES(m_state);
    bool IsWorse(const HeaderNode& node, const HeaderNode& other) const;
    Result<> CheckWitnessIntact(const HeaderNode& node, const BlockView& block,
                                const RuleViolation& found) const;
    Result<RuleResult> Judge(HeaderNode& node, LoadedBlock& block) IBD_REQUIRES(m_state);
    Result<bool> ConnectTip(HeaderNode& node, LoadedBlock& block, bool shown) IBD_REQUIRES(m_state);
    Result<> DisconnectTip() IBD_REQUIRES(m_state);
    Result<> PrefetchInputs(const BlockView& block) IBD_REQUIRES(m_state);
    void LogScriptCheck(const HeaderNode& node, ScriptCheckReason reason);
    void MarkInvalid(HeaderNode& node, const RuleViolation& violation)
        IBD_EXCLUDES(m_headers.mutex);
    void SetTip(HeaderNode& node, bool shown) IBD_REQUIRES(m_state);
    void ShowTip() IBD_REQUIRES(m_state);
    std::string NoteUnknownRules() IBD_REQUIRES(m_state);
    void TellWarnings(const std::vector<ChainWarnings::News>& news);
    void LogTip(const char* what, const std::string& warning) const IBD_REQUIRES(m_state);

    const ChainParams& m_params;
    const ChainStores m_stores;
    const ChainManagerOptions m_options;
    const std::atomic<bool>& m_interrupt;
    ScriptChecker* m_checker = nullptr;
    ChainObserver* m_observer = nullptr;
    std::function<bool()> m_undo_maker;

    Mutex m_activation;
    mutable SharedMutex m_state IBD_ACQUIRED_AFTER(m_activation);
    Mutex m_saving IBD_ACQUIRED_AFTER(m_state);
    Mutex m_storing IBD_ACQUIRED_AFTER(m_state);
    Headers m_headers;

    BlockIndex m_index IBD_GUARDED_BY(m_headers.mutex);
    const HeaderNode* m_broken IBD_GUARDED_BY(m_headers.mutex) = nullptr; //!< by NoteBroken
    CandidateSet m_candidates IBD_GUARDED_BY(m_headers.mutex);
    /** Blocks that ForgetDamaged() gave up once. */
    std::set<const HeaderNode*> m_forgotten IBD_GUARDED_BY(m_headers.mutex);
    /** By NoteLeftOut(): where and why, for the first so many. */
    static constexpr size_t kMostLeftOut = 10'000;
    std::map<BlockHash, std::string> m_left_out IBD_GUARDED_BY(m_headers.mutex);
    ChainWarnings m_warnings IBD_GUARDED_BY(m_headers.mutex);
    int32_t m_next_precious IBD_GUARDED_BY(m_headers.mutex) = -1;
    /** Of the tip at the last PreciousBlock. */
    Arith256 m_precious_work IBD_GUARDED_BY(m_headers.mutex);

    std::unique_ptr<CoinsDb> m_coins IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsDbReader> m_coins_reader IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsCache> m_cache IBD_GUARDED_BY(m_state);
    ThreadPool m_pool IBD_GUARDED_BY(m_state);
    /** The block after which the coins are; null: none yet. In a reorganisation it moves while the
     *  tip that everybody sees stays. */
    HeaderNode* m_connected IBD_GUARDED_BY(m_state) = nullptr;
    int64_t m_last_flush IBD_GUARDED_BY(m_state) = 0; //!< MonotonicMicros
    VersionBitsCache m_version_bits IBD_GUARDED_BY(m_state);
    /** Blocks whose undo data was damaged. */
    std::unordered_set<const HeaderNode*> m_forgotten_undo IBD_GUARDED_BY(m_state);
    /** Whose verdict ProcessBlock waits for, and that verdict. */
    const HeaderNode* m_submitted IBD_GUARDED_BY(m_state) = nullptr;
    std::optional<RuleResult> m_submitted_verdict IBD_GUARDED_BY(m_state);

    /** Why the last block's scripts were run or not, as it was logged. */
    std::atomic<std::optional<ScriptCheckReason>> m_script_check{};
    std::atomic<uint64_t> m_steps{0};
    std::atomic<bool> m_has_coins{false};
    std::atomic<bool> m_flush_soon{false};
    std::atomic<bool> m_has_pruned{false};
    std::atomic<bool> m_importing{false};
    mutable std::atomic<bool> m_initial_download{true};
};

} // namespace ibd

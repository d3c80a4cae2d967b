// ChainManager: the serial engine. Owns the header tree, the active chain and the coins; takes
// blocks and headers, and keeps the chain of most work among the valid ones connected. Owned by
// the node.
//
// Threads: every public method may be called from any thread. In the node, only ChainThread calls
// those that change the chain. Locks, in the order in which they are taken:
//   activation  one change of the active chain at a time
//   state       the coins and what is connected: held while a block is connected, and while coins
//               are written; CoinsGuard holds it for reading
//   saving      the block index is written by one thread at a time
//   storing     one block is stored at a time
//   headers     tree, statuses, active chain: for microseconds; ChainReader holds it for reading
// Memory: the header tree, the coins cache (cache_bytes) and the read-ahead of BlockReader.
//
// Errors (Result) are of the disk, or of data that this node itself stored: the node must stop. A
// fault of a block from outside is a RuleResult.
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

/** Observes the chain. Called under the state lock, on the thread that changes the chain: copy the
 *  data and return quickly. */
class ChainObserver {
public:
    virtual ~ChainObserver() = default;
    virtual void BlockConnected(const HeaderNode&, const BlockView&) {}
    virtual void BlockDisconnected(const HeaderNode&, const BlockView&) {}
    virtual void TipChanged(const HeaderNode&) {}
    /** The verdict on a submitted or connected block. */
    virtual void BlockChecked(const BlockHash&, const RuleResult&) {}
    /** A new warning; `text` is for the user. */
    virtual void WarningSet(NodeWarning, const std::string& /*text*/) {}
    virtual void WarningCleared(NodeWarning) {}
};

struct ChainManagerOptions {
    size_t cache_bytes = 450 << 20;     //!< bound of the coins cache (-dbcache less LevelDB's part)
    BlockHash assume_valid;             //!< -assumevalid; null: run all scripts
    Arith256 minimum_work;              //!< -minimumchainwork
    SipKey hash_key{};                  //!< random, keys the coins table
    size_t threads = 1;                 //!< for reading coins ahead, including the caller's
    int64_t max_tip_age = 24 * 60 * 60; //!< -maxtipage, seconds
    /** Bytes that block and undo files should stay below (-prune). 0: none is deleted;
     *  kManualPruning: only on request. */
    uint64_t prune_target = 0;
    /** There is a network: damaged stored blocks are fetched again. */
    bool peers_bring_blocks = false;
};

/** The machine and the stores of a manager; all outlive it. */
struct ChainStores {
    Env& env;
    Logger& log;
    BlockStore& blocks;
    BlockIndexDb& index;
};

/** The result for a block that was handed in. */
struct BlockOutcome {
    RuleResult violation;             //!< set: the block was refused
    bool is_new = false;              //!< stored now; false: stored before
    const HeaderNode* node = nullptr; //!< the node of its header; null: the header was refused
    /** ProcessBlock only: the verdict of connecting it; nothing: it was not connected. */
    std::optional<RuleResult> verdict;
};

/** The data of a block that keeps all rules which need no coins, when its bytes are not at hand. */
struct SoundBlock {
    BlockHeader header;
    uint32_t size = 0; //!< bytes
    uint32_t tx_count = 0;
};

enum class FlushMode {
    kIfNeeded, //!< the cache is over its bound, or the last write was long ago
    kAlways,
};

/** The obstacle to disconnecting blocks. */
struct Obstacle {
    enum class Kind {
        kNoUndo,     //!< the block's undo data is missing
        kUndoIsMade, //!< the same, and it is being made from the blocks, for a later attempt
        kDamaged,    //!< the block is damaged, and peers send it again, for a later attempt
    };
    const HeaderNode* block = nullptr; //!< the highest such block; null: none
    Kind kind = Kind::kNoUndo;
};

/** Whether to stop between two blocks; empty: never. */
using Pause = std::function<bool()>;

/** The coins, and the block that they are at. As long as it lives, no block is connected and no
 *  coins are written. Making one waits for a block that is being connected, or for a write. */
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
    /** Takes over the coins and makes their best block the tip. First completes a write that a
     *  crash interrupted, from the blocks. */
    Result<> AttachCoins(std::unique_ptr<CoinsDb> coins);
    /** `checker` runs input scripts. Without one, a block whose scripts must run is an error. Must
     *  outlive the manager. */
    void SetScriptChecker(ScriptChecker* checker) { m_checker = checker; }
    void SetObserver(ChainObserver* observer) { m_observer = observer; }

    // Blocks and headers.

    /** Adds a header. `out`, if given, gets its node on success. */
    RuleResult AcceptHeader(const BlockHeader& header, const HeaderNode** out = nullptr);
    /** Checks a block without its coins and stores it, without connecting it. `stored`: where it
     *  lies already (reindex). */
    Result<BlockOutcome> AcceptBlock(ByteSpan raw, const FilePos* stored = nullptr);
    /** The same for a block at `stored` that another caller has passed through CheckBlock and
     *  ContextualCheckBlock. */
    Result<BlockOutcome> AcceptSound(const SoundBlock& block, const FilePos& stored);
    /** Stores a block of the tree, unless it is stored already. The caller has passed it through
     *  CheckBlock and ContextualCheckBlock. For blocks that will not be connected: they are dropped
     *  from the system's cache. */
    Result<> StoreSound(const BlockView& block, const HeaderNode& node);
    /** Writes the undo record of a stored block, as connecting the block would, unless it is there.
     *  The caller must have checked the record against the block. Any thread. */
    Result<> PutUndo(const HeaderNode& node, const UndoRecord& undo);
    /** Sets the maker of missing or damaged undo data from blocks. It is called on the thread that
     *  changes the chain, without the headers lock. False: it cannot make any; otherwise
     *  TryLeftAside() follows. Without a maker, none is made. */
    void SetUndoMaker(std::function<bool()> maker) { m_undo_maker = std::move(maker); }
    /** Call when undo data of blocks of the active chain was made, or will not be: branches that
     *  were put aside without it are candidates again, for the next ActivateBestChain(). Any
     *  thread. */
    void TryLeftAside();
    /** Marks a block of the active chain in the database as broken, by a rule that was skipped when
     *  its coins were made; the next start then refuses the coins. This process, which is about to
     *  end, goes on unchanged. An error: the next flush tries again. Any thread. */
    Result<> NoteBroken(const HeaderNode& node);
    /** Like StoreSound(), but records the block as pruned instead of storing it. */
    Result<> NotePruned(const BlockView& block, const HeaderNode& node);
    /** For blocks from peers: CheckBlock, AcceptBlock, ActivateBestChain. A block that fails
     *  CheckBlock leaves no trace, because the fault may be in these bytes and not in the block. */
    Result<BlockOutcome> ProcessBlock(ByteSpan raw);
    /** The first two steps of ProcessBlock(); the caller has the block connected later. */
    Result<BlockOutcome> TakeBlock(ByteSpan raw);
    /** The verdict on a block on the tip, without proof of work and signet solution, without taking
     *  it. `check_merkle_root`: also check the root in its header. There must be a tip. Runs
     *  scripts, so call it on the connecting thread. */
    Result<RuleResult> TestBlock(const BlockView& block, bool check_merkle_root);
    /** Connects and disconnects blocks until the tip is the best known block. Returns early,
     *  without error, when interrupted or when `pause` (called between blocks) returns true. A
     *  better branch is put aside, with a warning, if a block on the way to it cannot be
     *  disconnected because its undo data is missing, until that is made, or because it is damaged,
     *  until a peer has sent it again. Without a maker or a network it is an error, and no block is
     *  disconnected. */
    Result<> ActivateBestChain(const Pause& pause = {});

    /** Marks a block invalid permanently and moves off it; ignores genesis, as Core does. Changes
     *  nothing if there is an obstacle on the way. */
    Result<Obstacle> InvalidateBlock(const HeaderNode& node);
    /** Undoes InvalidateBlock(), or a failed check. */
    Result<> ReconsiderBlock(const HeaderNode& node);
    /** Treats a block as if it had arrived before others of the same work. */
    Result<> PreciousBlock(const HeaderNode& node);

    // Damaged block files; chain_repair.cpp.

    /** Reads the files in which damage was found since the last call, and has their damaged blocks
     *  fetched again. They are marked as missing, except connected ones, which are lost: they keep
     *  their place, which undo data refers to, until a sound copy is stored. In memory only, so
     *  that the next start accepts a repaired file; durable once the block is stored again. Returns
     *  these blocks; the log names them. Fails on an I/O error, or if a block is damaged again
     *  after it was fetched. Any thread. */
    Result<std::vector<const HeaderNode*>> ForgetDamaged();
    /** The lowest lost block above height `after`; null: none. Any thread. */
    const HeaderNode* NextLost(int32_t after) const;
    bool IsLost(const HeaderNode& node) const;
    /** Notes that indexing found the block `hash` damaged in a block file, for DescribeMissing().
     *  Lost at the end of the process. */
    void NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why);
    /** Text about a block that is not stored: "block ... at height ...", and its damaged place. */
    std::string DescribeMissing(const HeaderNode& node) const;
    /** Whether a block is stored above a missing one with a known header. O(headers). */
    bool HasHoles() const;
    bool IsStored(const BlockHash& hash) const;

    // Durability.

    Result<> Flush(FlushMode mode);
    /** Writes only the block index; the coins may stay behind it. Any thread. Connecting and
     *  storing blocks do not wait for it, unless they write the index too. */
    Result<> FlushIndex();
    /** Makes the next kIfNeeded flush, after the block being connected, write everything. */
    void FlushSoon() { m_flush_soon = true; }
    /** Writes all coins and calls `visit` with the database before any other block is connected. */
    Result<>
    VisitFlushed(const std::function<Result<>(CoinsDb& coins, const CoinsCache& cache)>& visit);

    // Pruning; see pruning.h.

    bool IsPruneMode() const { return m_options.prune_target != 0; }
    /** The option that builds the chainstate again: -prune forbids -reindex-chainstate. */
    const char* RebuildOption() const;
    /** The remedy for missing undo data without a maker: "restart with ...". */
    std::string UndoRemedy() const;
    /** Whether block files of this directory were ever deleted. */
    bool HasPruned() const { return m_has_pruned; }
    /** Deletes, as far as allowed, files without a block above `height`; in prune mode. */
    Result<> PruneTo(int32_t height);
    /** Deletes the files that -prune has no room for, and those left over from an earlier start. */
    Result<> PruneAtStart();
    /** The last block of the active chain without block or undo data; nothing if all above genesis
     *  have both. O(stored blocks). */
    std::optional<int32_t> LastWithoutData() const;

    // Views.

    ChainReader Read() const { return ChainReader(m_headers); }
    /** The tip, without waiting. During a reorganisation it is the old one until the new one is as
     *  good. */
    TipInfo Current() const;
    /** Number of blocks connected and disconnected so far. */
    uint64_t Steps() const { return m_steps; }
    /** The tip as a node, of which only members fixed at insertion may be read; null: none yet. */
    const HeaderNode* Tip() const { return m_headers.tip; }
    /** There must be a tip. */
    CoinsGuard HoldCoins() const IBD_NO_THREAD_CHECK;
    /** Estimated bytes of the coins database; takes no lock. */
    uint64_t EstimateCoinsSize() const IBD_NO_THREAD_CHECK { return m_coins->EstimateSize(); }
    /** For single-threaded programs, such as tests. */
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

    /** Whether the tip is old or has little work, so that most of the chain is missing. Becomes
     *  false once, and not while blocks are imported. */
    bool IsInitialBlockDownload() const;
    void SetImporting(bool importing) { m_importing = importing; }
    /** Whether blocks are being read from files. */
    bool IsImporting() const { return m_importing; }
    /** Estimated share, 0 to 1, of the chain's transactions that is verified at `node`, a block of
     *  the active chain or null. */
    double VerificationProgress(const HeaderNode* node) const;
    /** The places of a block. */
    StoredBlock Where(const HeaderNode& node) const;
    /** Read the block or undo data of a block of the tree. Errors name it. */
    Result<Bytes> ReadBlock(const HeaderNode& node) const;
    Result<BlockUndo> ReadUndo(const HeaderNode& node) const;
    /** The checker for a block's scripts; null: they need not run. For the connecting code. */
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
    std::vector<Stored> StoredIn(const std::vector<int32_t>& files) const;
    /** Whether a block of the active chain is damaged and has not come again. */
    bool IsLostHeld(const HeaderNode& node) const IBD_REQUIRES_SHARED(m_headers.mutex);
    /** The block has a sound copy at `pos`. */
    void Replace(HeaderNode& node, const FilePos& pos) IBD_REQUIRES(m_headers.mutex);
    /** Undo data of a lost block, to be written beside its new copy. */
    std::optional<BlockUndo> UndoToMove(const HeaderNode& node) const;
    /** The highest damaged block on the way from the tip down to `fork`, after its fetching was
     *  arranged; null: none. */
    Result<const HeaderNode*> FindDamaged(const HeaderNode* fork) IBD_REQUIRES(m_state);
    Result<std::optional<Error>> FindDamage(const StoredBlock& block) const;
    Result<> ForgetBlock(const Stored& block, const Error& damage);
    /** After `error` ended a step: success if damaged blocks caused it and can be fetched again. */
    Result<> LeaveToPeers(const Error& error);

    // chain_undo.cpp
    /** Undo data on the way from the tip down to `fork`. The index forgets damaged records. */
    Result<Obstacle> FindMissingUndo(const HeaderNode* fork) IBD_REQUIRES(m_state);
    /** An obstacle to disconnecting the blocks above `fork`, before any is disconnected. */
    Result<Obstacle> FindObstacle(const HeaderNode* fork) IBD_REQUIRES(m_state);
    Result<bool> HasUsableUndo(HeaderNode& node) IBD_REQUIRES(m_state);
    Result<> ForgetUndo(HeaderNode& node, const std::string& why) IBD_REQUIRES(m_state);
    Error CannotDisconnect(const HeaderNode& stuck) const;
    /** Puts aside branches that can be reached only by disconnecting the obstacle. */
    void LeaveAside(const HeaderNode& target, const Obstacle& obstacle) IBD_REQUIRES(m_state);
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
    const HeaderNode* m_broken IBD_GUARDED_BY(m_headers.mutex) = nullptr; //!< set by NoteBroken()
    CandidateSet m_candidates IBD_GUARDED_BY(m_headers.mutex);
    /** Blocks that ForgetDamaged() has found damaged. */
    std::set<const HeaderNode*> m_forgotten IBD_GUARDED_BY(m_headers.mutex);
    /** Those of the active chain that have not come again, by height. */
    std::map<int32_t, const HeaderNode*> m_lost IBD_GUARDED_BY(m_headers.mutex);
    /** From NoteLeftOut(), up to a maximum: place and reason. */
    static constexpr size_t kMostLeftOut = 10'000;
    std::map<BlockHash, std::string> m_left_out IBD_GUARDED_BY(m_headers.mutex);
    ChainWarnings m_warnings IBD_GUARDED_BY(m_headers.mutex);
    int32_t m_next_precious IBD_GUARDED_BY(m_headers.mutex) = -1;
    /** Work of the tip at the last PreciousBlock(). */
    Arith256 m_precious_work IBD_GUARDED_BY(m_headers.mutex);

    std::unique_ptr<CoinsDb> m_coins IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsDbReader> m_coins_reader IBD_GUARDED_BY(m_state);
    std::unique_ptr<CoinsCache> m_cache IBD_GUARDED_BY(m_state);
    ThreadPool m_pool IBD_GUARDED_BY(m_state);
    /** The block that the coins are at; null: none yet. During a reorganisation it moves while the
     *  visible tip stays. */
    HeaderNode* m_connected IBD_GUARDED_BY(m_state) = nullptr;
    int64_t m_last_flush IBD_GUARDED_BY(m_state) = 0; //!< MonotonicMicros
    VersionBitsCache m_version_bits IBD_GUARDED_BY(m_state);
    /** Blocks whose undo data was damaged. */
    std::unordered_set<const HeaderNode*> m_forgotten_undo IBD_GUARDED_BY(m_state);
    /** The block whose verdict ProcessBlock() waits for, and that verdict. */
    const HeaderNode* m_submitted IBD_GUARDED_BY(m_state) = nullptr;
    std::optional<RuleResult> m_submitted_verdict IBD_GUARDED_BY(m_state);

    /** The last logged reason for running or skipping scripts. */
    std::atomic<std::optional<ScriptCheckReason>> m_script_check{};
    std::atomic<uint64_t> m_steps{0};
    std::atomic<bool> m_has_coins{false};
    std::atomic<bool> m_flush_soon{false};
    std::atomic<bool> m_has_pruned{false};
    std::atomic<bool> m_importing{false};
    mutable std::atomic<bool> m_initial_download{true};
};

} // namespace ibd

// ChainManager: the serial engine. Owns the header tree, the active chain and the coins; takes
// blocks and headers, and keeps the chain of most work among the valid ones connected. Owned by
// the node.
//
// Threads: every public method may be called from any thread. Lock() gives a consistent view over
// several calls and keeps blocks from being connected meanwhile; hold it briefly. Activation
// releases the lock between blocks. Memory: the header tree, the coins cache (cache_bytes) and the
// read-ahead of BlockReader.
//
// Errors (Result) are of the disk, or of data that this node itself stored: the node must stop.
// What is wrong with a block that somebody gave us is a RuleResult.
#pragma once

#include "chain/assume_valid.h"
#include "chain/chain.h"
#include "consensus/versionbits.h"
#include "util/env.h"
#include "util/log.h"
#include "validation/block_index.h"
#include "validation/block_reader.h"
#include "validation/coins_cache.h"
#include "validation/connect_block.h"

#include <atomic>
#include <mutex>
#include <set>

namespace ibd {

/** What stays wrong with the chain as a whole; more than one may hold. */
enum class ChainWarning {
    kUnknownRules, //!< version bits that we do not know were activated; never cleared
    kInvalidChain, //!< a chain that broke a rule has much more work than ours
    kMissingUndo,  //!< a chain with more work cannot be followed: undo data on the way is missing
};

/** Who wants to know what happens to the chain. Called under the lock, on the thread that did it:
 *  be quick. */
class ChainObserver {
public:
    virtual ~ChainObserver() = default;
    virtual void BlockConnected(const HeaderNode&, const BlockView&) {}
    virtual void BlockDisconnected(const HeaderNode&, const BlockView&) {}
    virtual void TipChanged(const HeaderNode&) {}
    /** The verdict on a block that was submitted or connected. */
    virtual void BlockChecked(const BlockHash&, const RuleResult&) {}
    /** A warning that did not hold before; `text` is for the user. */
    virtual void WarningSet(ChainWarning, const std::string& /*text*/) {}
    virtual void WarningCleared(ChainWarning) {}
};

struct ChainManagerOptions {
    size_t cache_bytes = 450 << 20;     //!< bound of the coins cache (-dbcache less LevelDB's part)
    BlockHash assume_valid;             //!< -assumevalid; null: run all scripts
    Arith256 minimum_work;              //!< -minimumchainwork
    SipKey hash_key{};                  //!< random, keys the coins table
    size_t threads = 1;                 //!< for reading coins ahead, the caller's too
    int64_t max_tip_age = 24 * 60 * 60; //!< -maxtipage, seconds
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
    RuleResult violation;       //!< why it was refused
    bool is_new = false;        //!< stored now; false: we had it
    HeaderNode* node = nullptr; //!< its header, if that was accepted
};

/** What there is to know of a block that kept all rules which need no coins, when its bytes are no
 *  longer at hand. */
struct SoundBlock {
    BlockHeader header;
    uint32_t size = 0; //!< bytes
    uint32_t tx_count = 0;
};

/** What VerifyChain found. */
struct Verification {
    bool sound = true;    //!< nothing was wrong
    bool complete = true; //!< all that was asked for was checked; false too when interrupted

    explicit operator bool() const { return sound && complete; }
};

enum class FlushMode {
    kIfNeeded, //!< cache over its bound, or long not written
    kAlways,
};

class ChainManager {
public:
    ChainManager(const ChainParams& params, ChainStores stores, ChainManagerOptions options,
                 const std::atomic<bool>& interrupt);
    ~ChainManager();
    ChainManager(const ChainManager&) = delete;
    ChainManager& operator=(const ChainManager&) = delete;

    // Start-up, in this order.

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
    RuleResult AcceptHeader(const BlockHeader& header, HeaderNode** out = nullptr);
    /** Checks a block without its coins and stores it; does not connect it. `stored` says where it
     *  lies already (reindex). */
    Result<BlockOutcome> AcceptBlock(ByteSpan raw, const FilePos* stored = nullptr);
    /** The same for a block that lies at `stored` and that CheckBlock and ContextualCheckBlock have
     *  passed in its place. */
    Result<BlockOutcome> AcceptSound(const SoundBlock& block, const FilePos& stored);
    /** For blocks of strangers: CheckBlock, AcceptBlock, ActivateBestChain. A block that fails the
     *  first leaves no trace, since what is wrong may be these bytes and not the block. */
    Result<BlockOutcome> ProcessBlock(ByteSpan raw);
    /** What the chain would say to a block on its tip, proof of work and signet solution aside,
     *  without taking it. `check_merkle_root`: also to the root in its header. There is a tip. */
    Result<RuleResult> TestBlock(const BlockView& block, bool check_merkle_root);
    /** Connects and disconnects blocks until the tip is the best block we have. Returns early,
     *  without error, when interrupted. A better branch is left aside, with a warning, if a block
     *  on the way to it cannot be taken back for want of undo data. */
    Result<> ActivateBestChain();
    /** The first block on the way from the tip down to `fork`, a block of the active chain, that
     *  cannot be taken back since its undo data is not there (the booster makes none); null if all
     *  can. */
    const HeaderNode* FirstWithoutUndo(const HeaderNode* fork) const;

    /** Marks a block invalid for good and moves off it; does nothing to genesis, as Core. Where
     *  FirstWithoutUndo finds a block on the way: an error before anything has changed. */
    Result<> InvalidateBlock(HeaderNode* node);
    /** Takes InvalidateBlock, or a failed check, back. */
    Result<> ReconsiderBlock(HeaderNode* node);
    /** Treats a block as if it had come before others of the same work. */
    Result<> PreciousBlock(HeaderNode* node);

    // Durability and self-check.

    Result<> Flush(FlushMode mode);
    /** Makes the next flush of mode kIfNeeded, after the block being connected, write all. */
    void FlushSoon() { m_flush_soon = true; }
    /** Checks the last `blocks` blocks (0: all) at `level` 0..4, see doc/options.md. What is wrong
     *  and what could not be checked was logged. */
    Result<Verification> VerifyChain(int level, int blocks);

    // Views; hold Lock() while using what they return.

    std::unique_lock<std::recursive_mutex> Lock() const { return std::unique_lock(m_mutex); }
    HeaderTree& Tree() { return m_index.Tree(); }
    const HeaderTree& Tree() const { return m_index.Tree(); }
    const Chain& Active() const { return m_active; }
    HeaderNode* Tip() const { return m_active.Tip(); }
    CoinsCache& Coins() { return *m_cache; }
    CoinsDb& CoinsDatabase() { return *m_coins; }
    BlockIndex& Index() { return m_index; }
    const BlockStore& Blocks() const { return m_stores.blocks; }
    const ChainParams& Params() const { return m_params; }
    const ChainManagerOptions& Options() const { return m_options; }
    bool HasCoins() const { return m_coins != nullptr; }

    /** The tip is old or has little work: most of the chain is yet to come. Turns false once, and
     *  not while blocks are imported. */
    bool IsInitialBlockDownload() const;
    void SetImporting(bool importing) { m_importing = importing; }
    /** Estimated share of the chain's transactions that is verified at `node`, 0 to 1. */
    double VerificationProgress(const HeaderNode* node) const;
    /** Block and undo data of a block of the tree. Errors name it. */
    Result<Bytes> ReadBlock(const HeaderNode& node) const;
    Result<BlockUndo> ReadUndo(const HeaderNode& node) const;

private:
    struct PreferLater {
        bool operator()(const HeaderNode* a, const HeaderNode* b) const
        {
            return LessPreferred(*a, *b);
        }
    };

    // chain_manager.cpp
    Result<BlockOutcome> Accept(const BlockView& view, const FilePos* stored, bool checked);
    RuleResult Check(const BlockView& view, HeaderNode& node, bool checked);
    Result<> Store(const BlockView& view, HeaderNode& node, const FilePos* stored);
    void SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count);
    void AddCandidates(const std::vector<HeaderNode*>& linked);
    void RebuildCandidates();
    Result<> ReplayInterruptedWrite(const std::vector<BlockHash>& heads);
    Result<> RollForward(const HeaderNode& node, CoinsCache& coins);

    // chain_activation.cpp
    using HeldLock = std::unique_lock<std::recursive_mutex>;
    HeaderNode* FindBestCandidate();
    bool HasDataDownToChain(const HeaderNode* node) const;
    /** Leaves aside what can only be reached by taking `stuck` back. */
    void LeaveAside(const HeaderNode& target, const HeaderNode& stuck);
    Result<> ActivateTowards(HeaderNode* target, const HeaderNode* start, HeldLock& lock);
    std::vector<HeaderNode*> PathTo(HeaderNode* target) const;
    Result<> ConnectPath(const std::vector<HeaderNode*>& path, const HeaderNode* start,
                         HeldLock& lock);
    bool StillWanted(const HeaderNode& node) const;
    Result<> CheckWitnessIntact(const HeaderNode& node, const BlockView& block,
                                const RuleViolation& found) const;
    Result<bool> ConnectTip(HeaderNode& node, LoadedBlock& block);
    Result<> DisconnectTip();
    Result<> PrefetchInputs(const BlockView& block);
    Result<ScriptChecker*> CheckerFor(const HeaderNode& node);
    void LogScriptCheck(const HeaderNode& node, ScriptCheckReason reason);
    Result<> StoreUndo(HeaderNode& node, const BlockUndo& undo, bool intact);
    void MarkInvalid(HeaderNode& node, const RuleViolation& violation);
    void PruneCandidates();
    void TipUpdated();
    void LogTip(const char* what, const std::string& warning = {}) const;

    // chain_warnings.cpp
    /** Rules that will be active soon are returned, for the log. */
    std::string WarnOfUnknownRules();
    void WarnOfInvalidChain();
    void WarnOfMissingUndo(const HeaderNode& target, const HeaderNode& stuck);
    void ReviewMissingUndo();
    void NoteInvalid(const HeaderNode& node);
    void SetWarning(ChainWarning warning, const std::string& text);
    void ClearWarning(ChainWarning warning);

    // verify_chain.cpp
    Result<Verification> VerifyDown(int level, int depth, CoinsCache& overlay,
                                    const HeaderNode*& lowest);
    Result<bool> VerifyUp(const HeaderNode* from, CoinsCache& overlay);

    const ChainParams& m_params;
    const ChainStores m_stores;
    const ChainManagerOptions m_options;
    const std::atomic<bool>& m_interrupt;

    mutable std::recursive_mutex m_mutex; //!< guards everything below
    std::mutex m_activation;              //!< one ActivateBestChain at a time; taken before m_mutex
    BlockIndex m_index;
    Chain m_active;
    std::set<HeaderNode*, PreferLater> m_candidates; //!< linked, not failed, not below the tip
    std::unique_ptr<CoinsDb> m_coins;
    std::unique_ptr<CoinsDbReader> m_coins_reader;
    std::unique_ptr<CoinsCache> m_cache;
    ThreadPool m_pool;
    ScriptChecker* m_checker = nullptr;
    ChainObserver* m_observer = nullptr;
    int64_t m_last_flush = 0; //!< MonotonicMicros
    std::atomic<bool> m_flush_soon{false};
    const HeaderNode* m_complete = nullptr; //!< has data down to the active chain
    int32_t m_next_precious = -1;
    Arith256 m_precious_work; //!< of the tip at the last PreciousBlock
    VersionBitsCache m_version_bits;
    const HeaderNode* m_best_invalid = nullptr;      //!< most work of those found to break a rule
    const HeaderNode* m_out_of_reach = nullptr;      //!< best of those left aside
    std::set<ChainWarning> m_warnings;               //!< that hold
    std::optional<ScriptCheckReason> m_script_check; //!< of the last block connected
    std::atomic<bool> m_importing{false};
    mutable bool m_initial_download = true;
};

} // namespace ibd

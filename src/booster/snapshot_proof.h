// SnapshotProof: proves the history below a UTXO snapshot without a second chainstate, while the
// node is in use. It proves that all outputs minus all inputs of the blocks minus the coins of the
// snapshot is zero, and that each coin is in its block with its amount and script. It sorts the
// coins by block, then folds the blocks in any order: stored ones, and missing ones from peers.
// Owned by SnapshotSession. The work runs on a thread of its own with low priority and half of the
// booster's threads; the other functions on any thread. Its files are in a subfolder of the
// booster's; the next start resumes from them. See doc/decisions/014-snapshot-proof.md. Memory:
// BoosterOptions::memory_bytes, and a PeerBlockSupply's.
#pragma once

#include "booster/peer_block_source.h"
#include "booster/proof_progress.h"
#include "swiftsync/snapshot_coins.h"

namespace ibd {

/** Callbacks into the node. */
struct SnapshotProofHooks {
    /** Runs a task on the thread that changes the chain, and waits for it. */
    std::function<Result<>(const std::function<Result<>()>& task)> run;
    /** Downloads missing blocks when no more urgent ones are missing; outlives the proof. */
    BlockFetcher* peers = nullptr;
    /** Called on the proof's thread, like the others, when the history is proven and the chain has
     *  recorded that. */
    std::function<void()> proven;
    /** Called when the coins must not be used any more: the node must stop. */
    std::function<void(const Error&)> refuted;
    /** Time until the work continues after a failure of the system, such as a full disk. */
    std::chrono::milliseconds pause = std::chrono::minutes(10);
    /** While the work fails before the coins are sorted, pruning waits until this number of blocks
     *  is above the snapshot: a week's. Else a full disk would grow fuller without end. */
    int32_t patience_blocks = 1'008;
};

class SnapshotProof {
public:
    /** The state of our knowledge about a snapshot. */
    enum class Standing { kOpen, kProven, kRefuted };

    /** `booster`: of the node; the proof's folder is in its directory. All references outlive it.
     */
    SnapshotProof(Env& env, Logger& log, const ChainParams& params, BoosterOptions booster);
    ~SnapshotProof() { Stop(); }

    // These may be called only while the thread does not run.

    /** Determined from the files of earlier starts. */
    Result<Standing> Look(const AssumeutxoData& data) const;
    /** Removes these files. */
    Result<> Remove() const;
    /** Begins or resumes the proof. The chain's coins started from this snapshot. Call it once. */
    void Start(ChainManager& chain, const AssumeutxoData& data, SnapshotProofHooks hooks);

    /** Interrupts the work and waits for its end. */
    void Stop();
    /** The verdict of this process. */
    Standing Now() const { return m_standing; }
    /** Whether it reads the blocks above the snapshot and their undo data, now or later. False
     *  after damage: pruning does not wait for the next start, which would find the same. */
    bool NeedsUndoData() const;
    /** Progress while the work is running or has failed. */
    std::optional<ProofProgress> Progress() const;

private:
    SnapshotIdentity Identity(const AssumeutxoData& data) const;
    FoldRules Rules() const;
    Path CoinsFolder() const { return m_options.directory / "coins"; }
    Path SpentFolder() const { return m_options.directory / "spent"; }
    void Work();
    bool MayTryAgain(const Result<>& done);
    Result<> Prove();
    /** Null: stopped. */
    Result<std::unique_ptr<SnapshotCoins>> OpenCoins();
    Result<> CheckRoom() const;
    Result<bool> MakeCoins();
    Result<Verdict> Fold(const SnapshotCoins& coins);
    bool Mends(const Error& error);
    Result<> Conclude(const Verdict& verdict, const SnapshotCoins& coins);
    void Accept(uint64_t coins);
    Result<> Refute(const std::string& why);
    Found<std::string> NameDifference(const SnapshotCoins& coins);
    bool Wait(std::chrono::milliseconds time);
    void SetPhase(const char* phase);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const BoosterOptions m_options;
    ChainManager* m_chain = nullptr;
    const HeaderNode* m_base = nullptr;
    SnapshotIdentity m_snapshot;
    SnapshotProofHooks m_hooks;
    std::atomic<Standing> m_standing{Standing::kOpen};
    std::atomic<bool> m_needs_undo{true};
    std::atomic<bool> m_failing{false}; //!< the last try failed because of the system
    std::atomic<bool> m_stop{false};
    int64_t m_folded = 0;     //!< blocks at the end of the last fold
    int64_t m_failed_at = -1; //!< blocks at the last error
    mutable Mutex m_mutex;
    std::condition_variable_any m_stopped;
    const char* m_phase IBD_GUARDED_BY(m_mutex) = nullptr; //!< null: not begun, or done
    SyncEngine* m_engine IBD_GUARDED_BY(m_mutex) = nullptr;
    const PeerBlockSupply* m_supply IBD_GUARDED_BY(m_mutex) = nullptr;
    NamedThread m_thread;
};

} // namespace ibd

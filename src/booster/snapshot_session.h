// SnapshotSession: the coins of a UTXO snapshot (loadtxoutset), which replace the coins built from
// genesis. They are taken over from an earlier start or from Core, or loaded while the node runs.
// The older coins are kept unchanged beside them, in Core's layout, so that Core can continue with
// both, until the history below the snapshot is proven, by SnapshotProof or by Core. Owned by Node.
// Start-up functions on the main thread; Load() on any, one call at a time.
#pragma once

#include "booster/snapshot_proof.h"
#include "chain/prune_locks.h"
#include "storage/coins_db.h"
#include "storage/data_dir.h"
#include "storage/snapshot.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Callbacks into the node. */
struct SnapshotHooks {
    CoinsDbOptions coins; //!< without a directory
    /** Whether no transaction waits for a block. */
    std::function<bool()> pool_is_empty;
    /** The chain now starts from the snapshot: the node lacks old blocks, and transactions accepted
     *  earlier were checked against other coins. */
    std::function<void()> switched;
    /** The booster's options, for the proof of the history. */
    BoosterOptions booster;
    /** The proof's callbacks, once the node is in use; empty: no block is assumed valid, so the
     *  history cannot be proven. */
    std::function<SnapshotProofHooks()> proof;
    /** Receives a failure after which the node must stop. */
    std::function<void(const Error&)> fatal;
};

class SnapshotLoader; // booster/snapshot_loader.h

class SnapshotSession final : public PruneLocks {
public:
    /** All references outlive it. */
    SnapshotSession(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
                    const std::atomic<bool>& interrupt, SnapshotHooks hooks)
        : m_env(env), m_log(log), m_params(params), m_dir(dir), m_interrupt(interrupt),
          m_hooks(std::move(hooks)), m_proof(env, log, params, m_hooks.booster)
    {
    }

    // A start, in this order.

    /** Call it before the chainstates are opened: completes an interrupted change, and looks for a
     *  snapshot in use. */
    Result<> Prepare();
    /** For a rebuild of the chainstate. */
    Result<> Remove();
    bool InUse() const { return m_in_use; }
    /** Call it once the index is loaded; an error if the snapshot is unknown. If the history below
     *  it is proven, or if the older coins have reached its block and agree with it, the older
     *  coins are removed and the snapshot's become the chainstate. If it is refuted, its folder is
     *  renamed. */
    Result<> Judge(ChainManager& chain);
    /** The start of the chain; nothing: no snapshot is in use. */
    std::optional<SnapshotStart> Start() const;
    /** Opens the coins of the snapshot in use. */
    Result<std::unique_ptr<CoinsDb>> OpenCoins() const;
    /** Call it once the node is in use: begins or resumes the proof of the history below the
     *  snapshot, if one is in use. Load() does this itself. */
    void StartProof(ChainManager& chain);

    // A stop, in this order.

    void StopProof() { m_proof.Stop(); }
    /** Call it after the chain's thread has ended: clears the block records that resulted from the
     *  coins of a refuted snapshot. Failures are logged. */
    void Disown(ChainManager& chain);
    /** Call it after the coins are closed: moves the folder of a proven or refuted snapshot, as the
     *  next start would. Failures are logged. */
    void Settle();

    /** Until the proof has sorted the snapshot's coins, it needs the blocks above them. */
    std::vector<PruneLock> Current() const override;
    std::vector<PruneLock> Save() override { return Current(); }

    /** Progress while the history is not proven, or its proof failed. */
    std::optional<ProofProgress> Proof() const { return m_proof.Progress(); }

    /** Runs a task on the thread that changes the chain, and waits for it. */
    using Runner = std::function<Result<>(const std::function<Result<>()>& task)>;
    /** Replaces the coins of the running chain by those of a file, whose header is `header`;
     *  returns their block. Errors are in Core's words, but for those of the machine. */
    Result<const HeaderNode*> Load(ChainManager& chain, const Path& file,
                                   const SnapshotHeader& header, const Runner& run);

private:
    std::optional<AssumeutxoData> Known(const ChainReader& chain, const BlockHash& base) const;
    Error NotRecognised(const BlockHash& base) const;
    Result<const HeaderNode*> Check(const ChainManager& chain, const BlockHash& base) const;
    Result<const HeaderNode*> LoadAlone(ChainManager& chain, const Path& file,
                                        const SnapshotHeader& header, const Runner& run);
    Result<> Activate(ChainManager& chain, const AssumeutxoData& data, SnapshotLoader& loader);
    Result<> PutInPlace(SnapshotLoader& loader, std::unique_ptr<CoinsDb>& coins) const;
    Result<> TakeProof();
    Result<> Promote();
    Result<> PutAside();
    Result<> DisownIn(ChainManager& chain) const;
    /** Nothing: interrupted. */
    Found<Uint256> HashOlderCoins() const;

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const DataDir& m_dir;
    const std::atomic<bool>& m_interrupt;
    const SnapshotHooks m_hooks;
    std::atomic<bool> m_loading{false};
    std::atomic<bool> m_in_use{false};
    std::atomic<bool> m_proof_begun{false};
    AssumeutxoData m_data; //!< of the snapshot in use; until Judge() only its block
    BlockHash m_older;     //!< the block of the older coins
    bool m_disowned = false;
    SnapshotProof m_proof;
};

} // namespace ibd

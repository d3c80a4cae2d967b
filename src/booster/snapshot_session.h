// SnapshotSession: the coins of a UTXO snapshot (loadtxoutset), which replace the coins built from
// genesis: taken over from an earlier start or from Core, or loaded while the node runs. The older
// coins stay as they are beside them, as Core lays it out, so that Core goes on with both. This
// node does not prove the history below a snapshot; if Core has done so, a start takes the proof.
// Owned by Node. The start on the main thread; Load() on any, once at a time.
#pragma once

#include "storage/coins_db.h"
#include "storage/data_dir.h"
#include "storage/snapshot.h"
#include "validation/chain_manager.h"

namespace ibd {

/** What the session needs of the node. */
struct SnapshotHooks {
    CoinsDbOptions coins; //!< without a directory
    /** Whether no transaction waits for a block. */
    std::function<bool()> pool_is_empty;
    /** The chain goes on from the snapshot: the node lacks old blocks, and transactions that were
     *  taken meanwhile were checked against other coins. */
    std::function<void()> switched;
    /** Receives a failure after which the node must stop. */
    std::function<void(const Error&)> fatal;
};

class SnapshotLoader; // booster/snapshot_loader.h

class SnapshotSession {
public:
    /** All references outlive it. */
    SnapshotSession(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
                    const std::atomic<bool>& interrupt, SnapshotHooks hooks)
        : m_env(env), m_log(log), m_params(params), m_dir(dir), m_interrupt(interrupt),
          m_hooks(std::move(hooks))
    {
    }

    // A start, in this order.

    /** Before the chainstates are opened: completes what was interrupted, and looks for a snapshot
     *  in use. */
    Result<> Prepare();
    /** For a rebuild of the chainstate. */
    Result<> Remove();
    bool InUse() const { return m_in_use; }
    /** Once the index is loaded: an error if the snapshot is unknown. If the older coins have
     *  reached its block and agree with it, they are removed and it is no longer in use. */
    Result<> Judge(const ChainManager& chain);
    /** The beginning of the chain; nothing: no snapshot is in use. */
    std::optional<SnapshotStart> Start() const;
    /** Opens the coins of the snapshot in use. */
    Result<std::unique_ptr<CoinsDb>> OpenCoins() const;

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
    AssumeutxoData m_data; //!< of the snapshot in use; until Judge() only its block
    BlockHash m_older;     //!< the block of the older coins
};

} // namespace ibd

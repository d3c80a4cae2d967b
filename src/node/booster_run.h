// BoosterRun: the booster's place in the node's start - decides whether it runs, runs it on the
// blocks that are stored or with those that peers bring, and tells RPC how it is going. Owned by
// Node. Run() on one thread; the rest from any.
#pragma once

#include "node/hints_choice.h"
#include "node/hints_gate.h"
#include "node/options.h"
#include "node/peer_block_source.h"
#include "util/progress.h"
#include "validation/block_survey.h"

namespace ibd {

class BoosterRun {
public:
    BoosterRun(Env& env, Logger& log, const ChainParams& params)
        : m_env(env), m_log(log), m_params(params)
    {
    }

    /** Opens the hints. Before anything on disk is changed, so that a wrong file costs nothing. */
    Result<> OpenHints(const HintsChoice& choice, const BlockHash& assumed_valid);
    Result<> OpenHintsFile(const Path& path) { return OpenHints({path, {}, {}}, {}); }
    bool HasHints() const { return m_hints != nullptr; }
    const Uint256& HintsId() const { return m_hints->Info().id; }

    enum class Outcome {
        kBuilt,       //!< the chainstate is there, at the terminal block
        kSerial,      //!< hints or a block failed a check: validate serially
        kInterrupted, //!< shutting down; the next start goes on
    };

    /** Reads the blocks of a survey once, checks them all and folds those below the hints' end, as
     *  far as that goes: what could be folded is kept for Run(), what was sound is noted in the
     *  survey. Errors are the machine's. */
    Result<> FoldSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                        const BlockStore& blocks, const BoosterOptions& options);
    /** Builds the chainstate. Where headers or blocks are missing it starts the network and waits
     *  for them. Errors: without a network, hints that do not fit this chain; else the machine's.
     */
    Result<Outcome> Run(ChainManager& chain, const BlockStore& blocks,
                        const BoosterOptions& options, const StartFetcher& start_fetcher = {});

    void Interrupt();
    /** What getboosterinfo shows; nothing when no hints were given. */
    std::optional<BoosterProgress> Progress() const;

private:
    void LogStart(const BoosterOptions& options, int32_t height);
    HintsStanding Judge(const ChainManager& chain, bool full_validation) const;
    /** Until `standing` is one that holds, or the node is to shut down. */
    HintsStanding WaitForHeaders(HintsStanding standing, const ChainManager& chain,
                                 const BoosterOptions& options, const BlockFetcher& peers);
    /** False: to shut down. */
    bool Pause();
    bool IsInterrupted() const;
    Result<Verdict> RunEngine(std::unique_ptr<SyncEngine> engine);
    Result<Verdict> FoldFromPeers(ChainManager& chain, const HeaderNode& terminal,
                                  const BlockStore& blocks, const BoosterOptions& options,
                                  BlockFetcher& peers);
    /** Its supply goes; what it did can still be asked for. */
    void DropEngine() IBD_REQUIRES(m_mutex);
    uint64_t UsualBlockBytes(const ChainManager& chain) const;
    void WarnIfRoomIsShort(const ChainManager& chain, const HeaderNode& terminal,
                           const BoosterOptions& options) const;
    const char* WayBack() const;
    Outcome Conclude(const Verdict& verdict, const BoosterOptions& options);
    BoosterProgress ProgressAtRest() const;

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    std::unique_ptr<Hints> m_hints;
    bool m_told = false;     //!< LogStart()
    bool m_discards = false; //!< blocks are folded and not stored (-prune)
    mutable Mutex m_mutex;
    std::condition_variable_any m_stop;
    /** At work, or Run()'s. */
    std::unique_ptr<SyncEngine> m_engine IBD_GUARDED_BY(m_mutex);
    /** What the engine's blocks come from, if they come from peers. */
    const PeerBlockSupply* m_supply IBD_GUARDED_BY(m_mutex) = nullptr;
    /** Of an engine that is gone. */
    std::optional<BoosterProgress> m_progress IBD_GUARDED_BY(m_mutex);
    int32_t m_headers IBD_GUARDED_BY(m_mutex) = -1; //!< the best one's height, while it waits
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd

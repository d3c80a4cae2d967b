// BoosterRun: the booster's place in the node's start - decides whether it runs, runs it, and tells
// RPC how it is going. Owned by Node. Run() on one thread; the rest from any.
#pragma once

#include "node/options.h"
#include "validation/block_survey.h"
#include "validation/chain_manager.h"

namespace ibd {

class BoosterRun {
public:
    BoosterRun(Env& env, Logger& log, const ChainParams& params)
        : m_env(env), m_log(log), m_params(params)
    {
    }

    /** Opens the hints. Before anything on disk is changed, so that a wrong file costs nothing. */
    Result<> OpenHintsFile(const Path& path);
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
    /** Builds the chainstate. Errors: hints that do not fit this chain, or the machine's. */
    Result<Outcome> Run(ChainManager& chain, const BlockStore& blocks,
                        const BoosterOptions& options);

    void Interrupt();
    /** What getboosterinfo shows; nothing when no hints were given. */
    std::optional<BoosterProgress> Progress() const;

private:
    void LogStart(const BoosterOptions& options, int32_t height);
    Result<const HeaderNode*> Terminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                                       bool full_validation) const;
    Result<Verdict> RunEngine(std::unique_ptr<SyncEngine> engine);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    std::unique_ptr<Hints> m_hints;
    bool m_told = false; //!< LogStart()
    mutable Mutex m_mutex;
    /** At work, or Run()'s. */
    std::unique_ptr<SyncEngine> m_engine IBD_GUARDED_BY(m_mutex);
    /** Of an engine that is gone. */
    std::optional<BoosterProgress> m_progress IBD_GUARDED_BY(m_mutex);
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd

// BoosterSession: the booster within the start of a node: decides whether it runs, with given hints
// or with hints that the node makes; runs it on stored blocks or on blocks from peers; makes the
// undo data that it omits; tends its files; and reports its progress to RPC. Its parts share
// SessionParts. Owned by Node. All calls on one thread, unless a comment says otherwise.
#pragma once

#include "booster/block_refetch.h"
#include "booster/given_sync.h"
#include "booster/own_sync.h"
#include "booster/work_upkeep.h"

namespace ibd {

class BoosterSession {
public:
    BoosterSession(Env& env, Logger& log, const ChainParams& params, SessionOptions options);

    /** Sets the chain for all calls below. Again after the chain was closed. */
    void Attach(ChainManager& chain, SessionHooks hooks = {});

    /** Opens the hints, before anything on disk is changed, so that a wrong file does no harm. */
    Result<> OpenHints(const HintsChoice& choice) { return m_given.Open(choice); }
    /** The opened hints; null: none. */
    const Hints* GivenHints() const { return m_parts.hints.get(); }
    /** After a run: the hints failed a check. */
    bool HintsWereWrong() const { return m_given.WereWrong(); }

    // The steps of a start, in this order.

    /** Describes, and removes, what earlier starts left. `reindexes`: the index is made anew;
     *  `rebuilds`: the chainstate is. */
    void TendKeptWork(bool reindexes, bool rebuilds);
    /** Whether it may run if there is no chainstate. */
    bool MayRun() const;
    /** Whether the error of Build() is about headers that are missing. */
    bool LacksHeaders() const { return m_parts.lacks_headers; }
    /** Whether TakeSurvey() may be called, if there is no chainstate. */
    bool TakesSurvey() const;
    /** Before a survey of block files of so many bytes: plans it and what follows. */
    void PlanSurvey(uint64_t bytes) const;
    /** The same before an index that is built without a survey. Call it if MayRun(). */
    void PlanIndex(uint64_t bytes) const;
    /** Reads the blocks of a survey once, checks them all, and folds those below the hints' end, or
     *  joins them for hints of its own, as far as possible. The work is kept for Run(), sound
     *  blocks are noted in the survey. False: no block was read. Errors are the machine's. */
    Result<bool> TakeSurvey(BlockSurvey& survey);
    /** Before a chainstate is built: converts hints; without any, asks peers. */
    Result<> PrepareHints();
    /** Builds the chainstate, if one hints file fails with the next one, at last without any.
     *  kDone, kSerial or kInterrupted. */
    Result<VerdictKind> Build();
    /** One try of Build(). If headers or blocks are missing, starts the network and waits for them.
     *  Errors: without a network, hints that do not fit this chain, or no block up to which
     *  -ibdbooster may work; else the machine's. */
    Result<VerdictKind> Run();
    /** In place of Build(): there is a chainstate. */
    Result<> StayBesideChainstate() { return m_upkeep.BesideChainstate(MayRun()); }
    /** Makes the undo data that is wanted before the chain is used; else that of the last blocks,
     *  so that Core can use this directory whenever the node stops. */
    Result<> MakeUndo();
    /** Logs the work that is still kept. */
    void DescribeKeptWork();

    /** Has the chain ask for undo data that it misses. */
    void ServeUndo();
    /** The chain has come to miss undo data. */
    void AskForUndo();
    /** Makes the remaining undo data in the background; see UndoRun::Start(). */
    void StartUndo(std::function<void(const Result<>&)> ended);
    UndoRun& Undo() { return m_parts.undo; }
    const UndoRun& Undo() const { return m_parts.undo; }

    // Any thread.

    /** Call when the chainstate was built block by block up to `tip`: hints up to a block below it
     *  that led to another chainstate were wrong. Fast if there are none such. */
    void Validated(const HeaderNode& tip)
    {
        if (!m_parts.chain->SnapshotBase()) m_parts.suspects.Proven(tip);
    }
    void Interrupt();
    /** The data for getboosterinfo; nothing without hints. */
    std::optional<BoosterProgress> Progress() const { return m_parts.watch.Progress(); }

private:
    Result<VerdictKind> RunAndReport();
    Result<> TakeNextHints();
    Result<> ConvertHints();
    Result<> AskPeersForHints();
    Result<> MakeLastUndo();
    bool PlanUndo(const std::vector<WorkStep>& steps) const;
    Result<> DespiteDamage(const std::function<Result<>()>& work);

    bool m_reindexes = false;
    SessionParts m_parts;
    const SyncPlan m_plan{m_parts};
    FoldRun m_fold{m_parts, m_plan};
    JoinSteps m_steps{m_parts, m_plan};
    RuleCheck m_check{m_parts, m_steps};
    GivenSync m_given{m_parts, m_plan, m_fold, m_steps, m_check};
    OwnSync m_own{m_parts, m_plan, m_fold, m_steps, m_check};
    BlockRefetch m_repair{m_parts};
    WorkUpkeep m_upkeep{m_parts};
};

} // namespace ibd

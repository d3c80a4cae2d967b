// BoosterSession: the booster during a node's start. Decides whether the booster runs, and whether
// with given hints or with hints that the node makes; runs it on stored blocks or on blocks from
// peers; makes the undo data that a fold does not write; manages its files; and reports progress to
// RPC. Its parts share SessionParts. Owned by Node. All calls on one thread, unless a comment says
// otherwise.
#pragma once

#include "booster/block_refetch.h"
#include "booster/given_sync.h"
#include "booster/own_sync.h"
#include "booster/work_upkeep.h"
#include "storage/chainstate_builder.h"

namespace ibd {

class BoosterSession {
public:
    BoosterSession(Env& env, Logger& log, const ChainParams& params, SessionOptions options);

    /** Sets the chain for all calls below. Call it again after the chain was closed. */
    void Attach(ChainManager& chain, SessionHooks hooks = {});

    /** Opens the hints. Called before the start changes anything on disk, so that a wrong file does
     *  no harm. */
    Result<> OpenHints(const HintsChoice& choice) { return m_given.Open(choice); }
    /** The opened hints; null: none. */
    const Hints* GivenHints() const { return m_parts.hints.get(); }
    /** After a run: whether the hints failed a check. */
    bool HintsWereWrong() const { return m_given.WereWrong(); }

    // The steps of a start, in this order.

    /** Fails if the user requested the booster, but the chainstate cannot be replaced. Call it
     *  before a rebuild changes anything. */
    Result<> CheckPlace() const;
    /** Logs and removes files that earlier starts left. `reindexes`: the index will be rebuilt;
     *  `rebuilds`: the chainstate will be. */
    void TendKeptWork(bool reindexes, bool rebuilds);
    /** Whether the booster may run if there is no chainstate. False if that cannot be replaced. */
    bool MayRun() const;
    /** Whether the error of Build() is about missing headers. */
    bool LacksHeaders() const { return m_parts.lacks_headers; }
    /** Whether TakeSurvey() may be called, if there is no chainstate. */
    bool TakesSurvey() const;
    /** Call it before a survey of block files with this many bytes: plans the survey and the
     *  following steps. */
    void PlanSurvey(uint64_t bytes) const;
    /** The same before an index that is built without a survey. Call it if MayRun(). */
    void PlanIndex(uint64_t bytes) const;
    /** Reads the blocks of a survey once, checks them all, and folds those below the hints' end, or
     *  joins them to make its own hints, as far as possible. The work is kept for Run(), and sound
     *  blocks are marked in the survey. False: no block was read. Errors are the machine's. */
    Result<bool> TakeSurvey(BlockSurvey& survey);
    /** Call it before a chainstate is built: converts hints; if there are none, asks peers for
     *  them. If the chainstate cannot be replaced, it only warns, or fails as CheckPlace(). */
    Result<> PrepareHints();
    /** Builds the chainstate. If a hints file fails, tries the next one, and finally without hints.
     *  kDone, kSerial or kInterrupted. */
    Result<VerdictKind> Build();
    /** One try of Build(). If headers or blocks are missing, starts the network and waits for them.
     *  Errors: without a network, hints that do not fit this chain, or no block up to which
     *  -ibdbooster may work; else the machine's. */
    Result<VerdictKind> Run();
    /** Call it instead of Build() if there is a chainstate. */
    Result<> StayBesideChainstate() { return m_upkeep.BesideChainstate(MayRun()); }
    /** Makes the undo data that is wanted before the chain is used; otherwise only that of the last
     *  blocks, so that Core can use this data directory whenever the node stops. */
    Result<> MakeUndo();
    /** Logs the unfinished work that is still on disk. */
    void DescribeKeptWork();

    /** Sets the callback by which the chain requests missing undo data. */
    void ServeUndo();
    /** Call it when the chain lacks undo data. */
    void AskForUndo();
    /** Makes the remaining undo data in the background; see UndoRun::Start(). */
    void StartUndo(std::function<void(const Result<>&)> ended);
    UndoRun& Undo() { return m_parts.undo; }
    const UndoRun& Undo() const { return m_parts.undo; }

    // Any thread.

    /** Call when the chainstate was built block by block up to `tip`: marks hints for a block below
     *  it as wrong if they led to another chainstate. Fast if there are none. */
    void Validated(const HeaderNode& tip)
    {
        if (!m_parts.chain->SnapshotBase()) m_parts.suspects.Proven(tip);
    }
    void Interrupt();
    /** The data for getboosterinfo; nothing without hints. */
    std::optional<BoosterProgress> Progress() const { return m_parts.watch.Progress(); }

private:
    bool IsRequested() const;
    bool IsWanted() const { return m_parts.hints || m_own.MayRun(m_parts.chain->Options()); }
    Result<> FindPlace() const
    {
        return CheckReplaceable(m_parts.env, m_parts.Booster().chainstate);
    }
    Result<VerdictKind> RunAndReport();
    Result<> TakeNextHints();
    Result<VerdictKind> BuildWithSuspects();
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

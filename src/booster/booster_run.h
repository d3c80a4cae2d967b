// BoosterRun: the booster within the node's start: decides whether it runs, with given hints or
// with hints that the node makes; runs it on stored blocks or on blocks from peers; and reports its
// progress to RPC. Owned by Node. Run() on one thread; the rest from any.
#pragma once

#include "booster/hints_choice.h"
#include "booster/hints_gate.h"
#include "booster/own_hints.h"
#include "booster/peer_block_source.h"
#include "booster/suspect_hints.h"
#include "booster/undo_run.h"
#include "booster/work_plan.h"
#include "swiftsync/engine.h"
#include "util/progress.h"
#include "validation/block_survey.h"

namespace ibd {

class BoosterRun {
public:
    /** `own`: options for hints of its own, if none are given. */
    BoosterRun(Env& env, Logger& log, const ChainParams& params, const OwnHintsOptions& own = {})
        : m_env(env), m_log(log), m_params(params), m_own_options(own), m_own(env, log, params),
          m_suspects(env, log), m_validation(env, log, params)
    {
    }

    /** Opens the hints, before anything on disk is changed, so that a wrong file does no harm. */
    Result<> OpenHints(const HintsChoice& choice, const BlockHash& assumed_valid);
    bool HasHints() const { return m_hints != nullptr; }
    /** Whether given hints must be converted by ConvertHints() before use. */
    bool HintsWait() const { return m_waiting.has_value(); }
    /** Converts waiting hints to a container, with the stored blocks; no result on interruption. If
     *  the user named them and they are damaged, of other blocks or of blocks that are not stored,
     *  that is an error; for hints of a folder it is logged. */
    Result<> ConvertHints(const ChainManager& chain, const BlockStore& blocks,
                          const BoosterOptions& options);
    const Uint256& HintsId() const { return m_hints->Info().id; }
    /** Whether it may run if there is no chainstate. */
    bool MayRun(const ChainManagerOptions& trust) const;
    OwnHints& Own() { return m_own; }
    /** `proven`: called with the hints that it made, once they are proven right and before they are
     *  removed. */
    void OnOwnHints(std::function<void(const Hints&, const BlockHash& terminal)> proven)
    {
        m_own_hints_proven = std::move(proven);
    }
    /** Makes the observer of a fold with given hints, called before it; null: none. */
    using FoldWatcher = std::function<std::unique_ptr<FoldObserver>(const FoldTask& fold)>;
    void OnFold(FoldWatcher watcher) { m_watcher = std::move(watcher); }
    /** -stopatheight: logs that a sync goes beyond it. 0: never. */
    void ExpectStopAt(int32_t height) { m_stop_at = height; }
    /** The opened hints; null: none. */
    const Hints* GivenHints() const { return m_hints.get(); }
    /** After Run(): the hints failed a check. */
    bool HintsWereWrong() const { return m_hints_wrong; }
    /** After Run(): drops hints that were wrong or refused, so that Run() can be called again with
     *  other hints or without any. False: there are none such. */
    bool DropFailedHints();
    /** Ids of all hints that DropFailedHints() has dropped. */
    std::vector<Uint256> RefusedIds() const;

    /** Call when the chainstate was built block by block up to `tip`: hints up to a block below it
     *  that led to another chainstate were wrong. Fast if there are none such. Any thread. */
    void Validated(const HeaderNode& tip) { m_suspects.Proven(tip); }

    enum class Outcome {
        kBuilt,       //!< the chainstate exists, at the terminal block
        kSerial,      //!< hints or a block failed a check: validate serially
        kInterrupted, //!< shutting down; the next start resumes
    };

    /** Before a survey of block files of so many bytes: plans it and what follows. */
    void PlanSurvey(uint64_t bytes, const BoosterOptions& options) const;
    /** Reads the blocks of a survey once, checks them all and folds those below the hints' end, as
     *  far as possible. Folded work is kept for Run(), sound blocks are noted in the survey. Errors
     *  are the machine's. */
    Result<> FoldSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                        const BlockStore& blocks, const BoosterOptions& options);
    /** The same for hints of its own: reads the blocks of a survey once and makes the hints. False:
     *  they are not wanted, or not for this survey; no block was read. */
    Result<bool> JoinSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                            const BlockStore& blocks, const BoosterOptions& options);
    /** Builds the chainstate. If headers or blocks are missing, starts the network and waits for
     *  them. Calls `begins` once it is certain to work. Errors: without a network, hints that do
     *  not fit this chain, or no block up to which -ibdbooster may work; else the machine's. */
    Result<Outcome> Run(
        ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options,
        const StartFetcher& start_fetcher = {}, const std::function<void()>& begins = [] {});

    /** After work on stored blocks failed: true if the cause was damaged blocks and peers have sent
     *  them again. Starts the network if need be. */
    Result<bool> Mend(ChainManager& chain, const BlockStore& blocks, const Error& error,
                      const StartFetcher& start_fetcher);

    void Interrupt();
    /** The data for getboosterinfo; nothing without hints. */
    std::optional<BoosterProgress> Progress() const;

private:
    /** The start of a sync with its own hints. */
    struct OwnStart {
        HintsStanding standing;
        std::unique_ptr<Hints> hints;   //!< made by an earlier start
        std::optional<FirstPass> first; //!< from the same join
        BlockFetcher* peers = nullptr;  //!< set if blocks are missing
        bool begun = false;             //!< by an earlier start
        bool pairs = false;             //!< the join keeps them, if begun; else there is room for
                                        //!< them
        bool values = true;             //!< there is room for them
    };
    Result<Outcome> FoldGivenHints(ChainManager& chain, const HeaderNode& terminal,
                                   const BlockStore& blocks, const BoosterOptions& options,
                                   BlockFetcher* peers);
    Result<Verdict> FoldStored(const ChainManager& chain, const HeaderNode& terminal,
                               const BlockStore& blocks, const BoosterOptions& options);
    /** Null: no observer. */
    std::unique_ptr<FoldObserver> ObserverOf(FoldTask fold) const;
    using Judging = std::function<HintsStanding()>;
    /** Why it still waits although no peer has further headers; empty: it does not. */
    using StillWaiting = std::function<std::string(const HeaderNode& best)>;

    Result<Outcome> RunOnce(ChainManager& chain, const BlockStore& blocks,
                            const BoosterOptions& options, const StartFetcher& start_fetcher,
                            const std::function<void()>& begins);
    Result<Outcome> RunOnGivenHints(ChainManager& chain, const BlockStore& blocks,
                                    const BoosterOptions& options,
                                    const StartFetcher& start_fetcher);
    Result<Outcome> RunOnOwnHints(ChainManager& chain, const BlockStore& blocks,
                                  const BoosterOptions& options, const StartFetcher& start_fetcher,
                                  const std::function<void()>& begins);
    Result<OwnStart> PlanOwnHints(const ChainManager& chain, const BoosterOptions& options,
                                  const StartFetcher& start_fetcher);
    /** The end of its own hints, with stored blocks or with any. */
    HintsStanding JudgeOwn(const ChainManager& chain, bool full_validation, bool stored) const;
    bool IsAsked() const { return m_own_options.mode == OwnHintsOptions::Mode::kAsked; }
    /** Bytes of stored or missing blocks. */
    struct BlockBytes {
        uint64_t stored = 0;
        uint64_t missing = 0;
    };
    BlockBytes BytesUpTo(const ChainManager& chain, const HeaderNode& terminal) const;
    bool HasRoom(const BoosterOptions& options, const BlockBytes& bytes, const BlockStore& blocks,
                 const JoinBesides& besides) const;
    bool IsWorthIt(const BoosterOptions& options, const BlockBytes& bytes,
                   const BlockStore& blocks) const;
    bool MustKeepPairs(const BoosterOptions& options) const;
    bool KeepsPairs(const BoosterOptions& options, const OwnStart& start) const;
    bool JoinsValues(const BoosterOptions& options) const;
    HintsStanding StandingWithoutPeers(const ChainManager& chain, const HeaderNode& terminal) const;
    bool FetchingMayBeWorthIt(const ChainManager& chain, const BoosterOptions& options) const;
    /** Calls `work` with the supply of the blocks up to `terminal`, stored or from `peers` (may be
     *  null). `besides`: see OwnHintsRoom(). */
    Result<> WithBlocks(ChainManager& chain, const HeaderNode& terminal, const BlockStore& blocks,
                        const BoosterOptions& options, BlockFetcher* peers,
                        const JoinBesides& besides,
                        const std::function<Result<>(BlockSupply&)>& work);
    Result<OwnHints::Made> Join(const HeaderNode& terminal, BlockSupply& supply,
                                const BoosterOptions& options, const JoinBesides& besides);
    // booster_repair.cpp
    Result<> FetchAgain(ChainManager& chain, const BlockStore& blocks,
                        const std::vector<const HeaderNode*>& lost, BlockFetcher& peers);
    Result<> TakeBlocks(PeerBlockSupply& supply);

    // booster_full.cpp
    bool MustCheckRules(const BoosterOptions& options) const;
    Result<bool> MustJoinCoins(const HeaderNode& terminal, const BlockStore& blocks,
                               const BoosterOptions& options) const;
    void LookForRoom(OwnStart& start, const BoosterOptions& options, const BlockBytes& bytes,
                     const BlockStore& blocks) const;
    Result<std::optional<Outcome>> CheckOwn(ChainManager& chain, const HeaderNode& terminal,
                                            const BlockStore& blocks, const BoosterOptions& options,
                                            const OwnStart& start, bool values, bool joins);
    Result<std::optional<Outcome>> Validate(ChainManager& chain, const HeaderNode& terminal,
                                            const BlockStore& blocks, const BoosterOptions& options,
                                            BlockFetcher* peers, const OwnStart* own);
    Result<std::unique_ptr<SideFold>> FoldBesides(const HeaderNode& terminal,
                                                  const BlockStore& blocks,
                                                  const BoosterOptions& options,
                                                  const OwnStart& start);
    HintsStanding JudgeBuried(const ChainManager& chain) const;
    Result<Outcome> FoldOwnHints(const HeaderNode& terminal, const BlockStore& blocks,
                                 const BoosterOptions& options, const Hints& hints,
                                 const FirstPass* first);
    Result<> CleanUp(const BoosterOptions& options, bool keep_pairs);
    Result<> RemoveBegun(const HeaderNode& terminal, const BlockStore& blocks,
                         const BoosterOptions& options);
    Result<Outcome> NoRoom(const BoosterOptions& options, const JoinVerdict& verdict);
    Outcome GiveUp(const HeaderNode& terminal, const JoinVerdict& verdict);
    void LogOwnStart(const ChainManagerOptions& trust, const BoosterOptions& options,
                     int32_t height, bool checks);
    void LogStart(const BoosterOptions& options, int32_t height, bool checks = false);
    void WarnOfTrust(int32_t height);
    HintsStanding Judge(const ChainManager& chain, bool full_validation) const;
    /** The terminal block of waiting hints, if they can be converted. */
    Result<const HeaderNode*> FindEndOfWaiting(const ChainManager& chain,
                                               const BoosterOptions& options) const;
    Result<> MakeContainer(const HeaderNode& terminal, const BlockStore& blocks,
                           const ProgressTargets& progress);
    Result<bool> WriteContainer(const HeaderNode& terminal, const BlockStore& blocks,
                                const Path& to, const ProgressTargets& progress) const;
    /** Waits until `standing` is acceptable, or the node shuts down. */
    HintsStanding WaitForHeaders(HintsStanding standing, const Judging& judge, uint64_t expected,
                                 std::vector<WorkStep> then, const ChainManager& chain,
                                 const BoosterOptions& options, BlockFetcher& peers,
                                 const StillWaiting& waits = {});
    std::string WhyStillWaiting(const ChainManager& chain, const StillWaiting& waits) const;
    HintsStanding WaitForHintsEnd(HintsStanding standing, const ChainManager& chain,
                                  const BoosterOptions& options, BlockFetcher& peers);
    HintsStanding WaitForOwnTerminal(HintsStanding standing, const Judging& judge,
                                     const ChainManager& chain, const BoosterOptions& options,
                                     BlockFetcher& peers);
    /** False: shutting down. */
    bool Pause();
    bool IsInterrupted() const;
    void LogHints() const;
    // booster_plan.cpp
    WorkAmounts AmountsOf(const ChainManager& chain, const HeaderNode& terminal,
                          const BoosterOptions& options) const;
    WorkAmounts AmountsOf(const BlockSurvey& survey, const HeaderNode& terminal,
                          const BoosterOptions& options) const;
    WorkAmounts AssumedAmounts(const ChainManager& chain, uint64_t headers,
                               const BoosterOptions& options) const;
    std::vector<WorkStep> GivenSteps(bool joins) const;
    std::vector<WorkStep> OwnSteps(bool values, bool joins) const;
    /** Sets the steps that BoosterOptions::progress shows from now on. Adds steps for undo data and
     *  for connecting later blocks, if needed. */
    void Plan(std::vector<WorkStep> steps, const WorkAmounts& amounts,
              const BoosterOptions& options) const;
    void LogRefusal(const HintsStanding& standing) const;
    /** Number of blocks 1 to `terminal` that are not stored. */
    static size_t CountMissing(const ChainManager& chain, const HeaderNode& terminal);
    /** Without peers: the number of these blocks, the first one, and the remedy. */
    static std::string DescribeMissing(const ChainManager& chain, const HeaderNode& terminal);
    Result<Verdict> RunEngine(std::unique_ptr<SyncEngine> engine);
    Result<Verdict> FoldFromPeers(ChainManager& chain, const HeaderNode& terminal,
                                  const BlockStore& blocks, const BoosterOptions& options,
                                  BlockFetcher& peers);
    /** Releases the engine's supply or hints; its progress remains available. */
    void DropEngine() IBD_REQUIRES(m_mutex);
    uint64_t UsualBlockBytes(const ChainManager& chain) const;
    /** `rest`: bytes to be written besides the blocks. */
    void WarnIfRoomIsShort(const ChainManager& chain, const HeaderNode& terminal,
                           uint64_t rest) const;
    const char* FallbackText() const;
    Outcome Conclude(const HeaderNode& terminal, const Verdict& verdict,
                     const BoosterOptions& options);
    Outcome ConcludeRefused(const HeaderNode& terminal, const Verdict& verdict,
                            const BoosterOptions& options);
    BoosterProgress ProgressAtRest() const;
    BoosterProgress ProgressOfJoin() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const OwnHintsOptions m_own_options;
    std::unique_ptr<Hints> m_hints;        //!< the given hints
    std::optional<WaitingHints> m_waiting; //!< also given
    bool m_hints_named = false;            //!< named by the user; else found in a folder
    OwnHints m_own;
    SuspectHints m_suspects;
    std::function<void(const Hints&, const BlockHash&)> m_own_hints_proven;
    FoldWatcher m_watcher;
    bool m_own_refused = false; //!< by JoinSurvey(): a block may be invalid, or the disk is full
    bool m_hints_wrong = false;
    bool m_hints_failed = false; //!< they were wrong, or are not of this chain
    std::string m_failure;       //!< the reason
    /** Height for WarnOfTrust(), called once given hints are accepted. */
    std::optional<int32_t> m_trusted_height;
    UndoRun m_validation;        //!< full validation from blocks alone
    bool m_told = false;         //!< LogStart() has run
    bool m_surveyed = false;     //!< FoldSurvey() has read the blocks
    int32_t m_stop_at = 0;       //!< -stopatheight
    bool m_discards = false;     //!< blocks are folded but not stored (-prune)
    mutable Mutex m_mutex;
    std::condition_variable_any m_stop;
    /** The running engine, or that of the last Run(). */
    std::unique_ptr<SyncEngine> m_engine IBD_GUARDED_BY(m_mutex);
    /** Source of the engine's blocks, if they come from peers. */
    const PeerBlockSupply* m_supply IBD_GUARDED_BY(m_mutex) = nullptr;
    /** Supply of damaged blocks, while they are fetched again. */
    PeerBlockSupply* m_mending IBD_GUARDED_BY(m_mutex) = nullptr;
    struct BlockId {
        int32_t height = -1;
        BlockHash hash;
    };
    /** The terminal block of hints of its own. */
    std::optional<BlockId> m_joining IBD_GUARDED_BY(m_mutex);
    /** Of a released engine. */
    std::optional<BoosterProgress> m_progress IBD_GUARDED_BY(m_mutex);
    /** Hints that were tried and not used. */
    struct RefusedHints {
        Uint256 id;
        std::string file;
        int32_t height = 0; //!< of the terminal block
        std::string why;
    };
    std::vector<RefusedHints> m_refused IBD_GUARDED_BY(m_mutex);
    int32_t m_headers IBD_GUARDED_BY(m_mutex) = -1; //!< height of the best header, while waiting
    bool m_full IBD_GUARDED_BY(m_mutex) = false;    //!< full validation is requested
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd

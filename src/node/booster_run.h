// BoosterRun: the booster's place in the node's start - decides whether it runs, with hints that
// are given or that the node makes itself, runs it on the blocks that are stored or with those that
// peers bring, and tells RPC how it is going. Owned by Node. Run() on one thread; the rest from
// any.
#pragma once

#include "node/hints_choice.h"
#include "node/hints_gate.h"
#include "node/options.h"
#include "node/own_hints.h"
#include "node/peer_block_source.h"
#include "node/suspect_hints.h"
#include "node/undo_run.h"
#include "node/work_plan.h"
#include "util/progress.h"
#include "validation/block_survey.h"

namespace ibd {

class BoosterRun {
public:
    /** `own`: where no hints are given. */
    BoosterRun(Env& env, Logger& log, const ChainParams& params, const OwnHintsOptions& own = {})
        : m_env(env), m_log(log), m_params(params), m_own_options(own), m_own(env, log, params),
          m_suspects(env, log), m_validation(env, log, params)
    {
    }

    /** Opens the hints. Before anything on disk is changed, so that a wrong file costs nothing. */
    Result<> OpenHints(const HintsChoice& choice, const BlockHash& assumed_valid);
    bool HasHints() const { return m_hints != nullptr; }
    /** Hints of which ConvertHints() has to make others before they can be used. */
    bool HintsWait() const { return m_waiting.has_value(); }
    /** Makes a container of hints that wait, beside the blocks that are stored; nothing on
     *  interruption. Ones that the user named and that are damaged, of other blocks or of blocks
     *  that are not stored, are an error; of those of a folder the log tells. */
    Result<> ConvertHints(const ChainManager& chain, const BlockStore& blocks,
                          const BoosterOptions& options);
    const Uint256& HintsId() const { return m_hints->Info().id; }
    /** Whether it may come to work if there is no chainstate. */
    bool MayRun(const ChainManagerOptions& trust) const;
    OwnHints& Own() { return m_own; }
    /** Who wants the hints that it made: called once they are proven right, before they go. */
    void OnOwnHints(std::function<void(const Hints&, const BlockHash& terminal)> proven)
    {
        m_own_hints_proven = std::move(proven);
    }
    /** Who wants to see the blocks of a fold with given hints: asked before it, null if nobody. */
    using FoldWatcher = std::function<std::unique_ptr<FoldObserver>(const FoldTask& fold)>;
    void OnFold(FoldWatcher watcher) { m_watcher = std::move(watcher); }
    /** -stopatheight: a sync goes beyond it, which is told. 0: never. */
    void ExpectStopAt(int32_t height) { m_stop_at = height; }
    /** Those that were opened; null: none. */
    const Hints* GivenHints() const { return m_hints.get(); }
    /** After Run(): they failed a check. */
    bool HintsWereWrong() const { return m_hints_wrong; }
    /** After Run(): forgets hints that were wrong or refused, so that Run() can be called once more
     *  without any. False: there are none such. */
    bool DropFailedHints();
    /** The ids of all that DropFailedHints() has dropped. */
    std::vector<Uint256> RefusedIds() const;

    /** The chainstate was built block by block up to this one: hints that led to something else up
     *  to a block below it were wrong. Quick, unless there are such. Any thread. */
    void Validated(const HeaderNode& tip) { m_suspects.Proven(tip); }

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
    /** The same for hints of its own: reads the blocks of a survey once and makes them. False: they
     *  are not to be made, or not of this survey; nothing was read. */
    Result<bool> JoinSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                            const BlockStore& blocks, const BoosterOptions& options);
    /** Builds the chainstate. Where headers or blocks are missing it starts the network and waits
     *  for them. Calls `begins` once it is sure to have work. Errors: without a network, hints that
     *  do not fit this chain, or no block that -ibdbooster may work up to; else the machine's. */
    Result<Outcome> Run(
        ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options,
        const StartFetcher& start_fetcher = {}, const std::function<void()>& begins = [] {});

    void Interrupt();
    /** What getboosterinfo shows; nothing when no hints were given. */
    std::optional<BoosterProgress> Progress() const;

private:
    /** How a sync with its own hints begins. */
    struct OwnStart {
        HintsStanding standing;
        std::unique_ptr<Hints> hints;   //!< made by an earlier start
        std::optional<FirstPass> first; //!< what it found besides
        BlockFetcher* peers = nullptr;  //!< if blocks are missing
        bool begun = false;             //!< by an earlier start
        bool pairs = false;             //!< the join keeps them, if begun; else there is room
        bool values = true;             //!< there is room for them
    };
    Result<Outcome> FoldGivenHints(ChainManager& chain, const HeaderNode& terminal,
                                   const BlockStore& blocks, const BoosterOptions& options,
                                   BlockFetcher* peers);
    Result<Verdict> FoldStored(const ChainManager& chain, const HeaderNode& terminal,
                               const BlockStore& blocks, const BoosterOptions& options);
    /** Null: nobody wants to see it. */
    std::unique_ptr<FoldObserver> ObserverOf(FoldTask fold) const;
    using Judging = std::function<HintsStanding()>;
    /** Why it waits on although no peer has further headers; nothing: it does not. */
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
    /** How far hints of its own may go with blocks that are stored, or with any. */
    HintsStanding JudgeOwn(const ChainManager& chain, bool full_validation, bool stored) const;
    bool IsAsked() const { return m_own_options.mode == OwnHintsOptions::Mode::kAsked; }
    /** Of blocks that are stored or missing, bytes. */
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
    /** Calls `work` with the supply of the blocks up to `terminal`, which are stored, and come from
     *  `peers` where there are any. `besides`: as of OwnHintsRoom(). */
    Result<> WithBlocks(ChainManager& chain, const HeaderNode& terminal, const BlockStore& blocks,
                        const BoosterOptions& options, BlockFetcher* peers,
                        const JoinBesides& besides,
                        const std::function<Result<>(BlockSupply&)>& work);
    Result<OwnHints::Made> Join(const HeaderNode& terminal, BlockSupply& supply,
                                const BoosterOptions& options, const JoinBesides& besides);
    // booster_repair.cpp
    /** What RunOnce() ended with was a damaged block, and peers have brought it again. */
    Result<bool> Mend(ChainManager& chain, const BlockStore& blocks, const Error& error,
                      const StartFetcher& start_fetcher);
    Result<> FetchAgain(ChainManager& chain, const BlockStore& blocks,
                        const std::vector<const HeaderNode*>& lost, BlockFetcher& peers);
    Result<> TakeBlocks(PeerBlockSupply& supply, const std::function<bool(int32_t)>& other);

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
    /** The terminal block of hints that wait, if they can be converted. */
    Result<const HeaderNode*> FindEndOfWaiting(const ChainManager& chain,
                                               const BoosterOptions& options) const;
    Result<> MakeContainer(const HeaderNode& terminal, const BlockStore& blocks,
                           const ProgressTargets& progress);
    Result<bool> WriteContainer(const HeaderNode& terminal, const BlockStore& blocks,
                                const Path& to, const ProgressTargets& progress) const;
    /** Until `standing` is one that holds, or the node is to shut down. */
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
    /** False: to shut down. */
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
    /** What BoosterOptions::progress is to show from now on, and what always follows. */
    void Plan(std::vector<WorkStep> steps, const WorkAmounts& amounts,
              const BoosterOptions& options) const;
    void LogRefusal(const HintsStanding& standing) const;
    /** Blocks 1 to `terminal` that are not stored. */
    static size_t CountMissing(const ChainManager& chain, const HeaderNode& terminal);
    /** Of these, where no peer can bring them: how many, which is the first, what helps. */
    static std::string DescribeMissing(const ChainManager& chain, const HeaderNode& terminal);
    Result<Verdict> RunEngine(std::unique_ptr<SyncEngine> engine);
    Result<Verdict> FoldFromPeers(ChainManager& chain, const HeaderNode& terminal,
                                  const BlockStore& blocks, const BoosterOptions& options,
                                  BlockFetcher& peers);
    /** Its supply goes, or its hints; what it did can still be asked for. */
    void DropEngine() IBD_REQUIRES(m_mutex);
    uint64_t UsualBlockBytes(const ChainManager& chain) const;
    /** `rest`: bytes that are written besides the blocks. */
    void WarnIfRoomIsShort(const ChainManager& chain, const HeaderNode& terminal,
                           uint64_t rest) const;
    const char* WayBack() const;
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
    std::unique_ptr<Hints> m_hints;        //!< that are given
    std::optional<WaitingHints> m_waiting; //!< given, too
    bool m_hints_named = false;            //!< by the user; else they are of a folder
    OwnHints m_own;
    SuspectHints m_suspects;
    std::function<void(const Hints&, const BlockHash&)> m_own_hints_proven;
    FoldWatcher m_watcher;
    bool m_own_refused = false; //!< by JoinSurvey(): a block may be invalid, or the disk is full
    bool m_hints_wrong = false;
    bool m_hints_failed = false; //!< were wrong, or are not of this chain
    std::string m_failure;       //!< why
    /** What is to be warned of once given hints are accepted. */
    std::optional<int32_t> m_trusted_height;
    UndoRun m_validation;        //!< full validation from blocks alone
    bool m_told = false;         //!< LogStart()
    bool m_surveyed = false;     //!< a -reindex has read the blocks, for what is needed first
    int32_t m_stop_at = 0;       //!< -stopatheight
    bool m_discards = false;     //!< blocks are folded and not stored (-prune)
    mutable Mutex m_mutex;
    std::condition_variable_any m_stop;
    /** At work, or Run()'s. */
    std::unique_ptr<SyncEngine> m_engine IBD_GUARDED_BY(m_mutex);
    /** What the engine's blocks come from, if they come from peers. */
    const PeerBlockSupply* m_supply IBD_GUARDED_BY(m_mutex) = nullptr;
    /** Of damaged blocks, while they are fetched again. */
    PeerBlockSupply* m_mending IBD_GUARDED_BY(m_mutex) = nullptr;
    struct BlockId {
        int32_t height = -1;
        BlockHash hash;
    };
    /** The terminal block of hints that are or were made. */
    std::optional<BlockId> m_joining IBD_GUARDED_BY(m_mutex);
    /** Of an engine that is gone. */
    std::optional<BoosterProgress> m_progress IBD_GUARDED_BY(m_mutex);
    /** Hints that were tried and not used. */
    struct RefusedHints {
        Uint256 id;
        std::string file;
        int32_t height = 0; //!< of the terminal block
        std::string why;
    };
    std::vector<RefusedHints> m_refused IBD_GUARDED_BY(m_mutex);
    int32_t m_headers IBD_GUARDED_BY(m_mutex) = -1; //!< the best one's height, while it waits
    bool m_full IBD_GUARDED_BY(m_mutex) = false;    //!< full validation is asked for
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd

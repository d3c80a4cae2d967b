// UndoRun: makes undo data (rev*.dat) of blocks that were not connected, from blocks alone
// (join/undo_rebuild.h), and writes it as connecting the blocks would have. Resumes stopped work.
// Owned by BoosterSession, once for undo data and once for validation; Run() and Make() on one
// thread, on a thread of its own after Start(), the rest from any. Its spills are in
// KeptWork::PairsFolder().
#pragma once

#include "booster/own_hints.h"
#include "join/fold_search.h"
#include "join/undo_options.h"
#include "swiftsync/sync_options.h"
#include "util/found.h"
#include "util/threads.h"
#include "validation/chain_manager.h"

namespace ibd {

class BlockSupply;
class UndoRebuild;

/** The blocks for which undo data is wanted, and their checks. */
struct UndoTask {
    const HeaderNode& terminal;
    BlockSupply& supply; //!< supply of the blocks 1 to `terminal`, if they must still be joined
    UndoChecks checks = UndoChecks::kRules;
    int32_t known_height = 0; //!< see UndoOptions
    bool records = true; //!< false: the blocks are only checked
    int32_t first = 1;   //!< blocks below have undo data, if it is wanted, and are not checked
                         //!< again
    bool connected = false; //!< see JoinOptions
    /** Whether there are few blocks, so that UndoRebuild::RunLast() is used. */
    bool last_only = false;
    /** See UndoOptions. */
    SideFold* side_fold = nullptr;
    bool keep_pairs = false; //!< see UndoOptions
    bool values = false;     //!< see JoinOptions; if the blocks must still be joined
    size_t memory_bytes = 0; //!< 0: all of BoosterOptions::memory_bytes
    /** Called when all blocks up to a height are checked and their undo data is on disk; may be
     *  empty. */
    std::function<Result<>(int32_t height)> durable = {};
};

/** A fold of all blocks up to a terminal block, before it begins. */
struct FoldTask {
    const HeaderNode& terminal;
    FoldSearch::PlaceOf place;
    uint64_t coins = 0;       //!< estimated result
    uint64_t missing = 0;     //!< blocks from peers
    uint64_t usual_bytes = 0; //!< average size of these
};

class UndoRun {
public:
    /** `if_room`: if disk space is short, neither Run() (which logs it) nor RunLast() fails. All
     *  arguments must outlive it. */
    UndoRun(Env& env, Logger& log, const ChainParams& params, const BoosterOptions& options,
            const KeptWork& kept, bool if_room = false)
        : m_env(env), m_log(log), m_params(params), m_options(options), m_kept(kept),
          m_if_room(if_room)
    {
    }
    /** Sets the chain of all other calls. */
    void Attach(ChainManager& chain) { m_chain = &chain; }

    /** Whether a block of the active chain lacks undo data. */
    static bool IsNeeded(const ChainManager& chain);
    /** Whether one of the last kMinBlocksToKeep blocks lacks undo data. */
    static bool IsLastNeeded(const ChainManager& chain);
    /** Makes the missing undo data of the active chain, which may grow meanwhile; returns early,
     *  without error, when interrupted. All blocks must be stored. Errors: the machine's, or a
     *  block breaks a rule and is named (Broken()). The next start resumes durable work. */
    Result<> Run();
    /** Makes the missing undo data of the last kMinBlocksToKeep blocks, in a fraction of the time.
     *  Call it before the chain is used. */
    Result<> RunLast();
    /** An observer with which RunLast() need not read the blocks of this fold; null: no undo data
     *  of the last blocks is wanted, or there is no space for it beside the fold. Uses this
     *  UndoRun, the chain and the task's nodes; all outlive it. */
    std::unique_ptr<FoldObserver> WatchFold(const FoldTask& fold);
    /** Announces Run(): until then missing undo data is reported to users. */
    void Expect();
    /** Runs RunLast() and Run() on a thread of its own with low priority and half of the threads,
     *  without progress lines, and again after each Ask(). Calls `ended` on that thread with the
     *  result. Call it once. */
    void Start(std::function<void(const Result<>&)> ended);
    /** Requests missing undo data of the active chain: the thread makes it, once started. False: it
     *  will not be made, because Run() has failed or has found too little disk space before, or the
     *  chain started from a snapshot. Do not call it under the headers lock. */
    bool Ask();
    /** Interrupts it and waits for its end. */
    void Stop();
    /** The block that breaks a rule; null: none was found. After Run(). */
    const HeaderNode* Broken() const { return m_broken; }
    /** Text for users while undo data of the active chain is missing and Run() is expected, running
     *  or failed: the height up to which it exists, and the remaining time; else empty. */
    std::string Describe() const;

    /** Does the work of a task, on a chain whose stored blocks are not moved or removed. Any
     *  verdict but kIncomplete; errors: see Run(). */
    Result<JoinVerdict> Make(const UndoTask& task);

    /** Makes current and later calls of Run() and Make() return soon. */
    void Interrupt();
    /** Progress while one of them is running, or while Describe() is not empty. */
    std::optional<UndoProgress> Progress() const;

private:
    class Keeper;
    /** Heights of the active chain without undo data, and the highest of these blocks. */
    struct Gap {
        int32_t first = 0;
        const HeaderNode* last = nullptr; //!< null: none
    };
    /** For the branch that ends in `tip` (may be null), from a height on. */
    static Gap FindGap(const ChainManager& chain, const HeaderNode* tip, int32_t lowest);
    static Gap FindGap(const ChainManager& chain) { return FindGap(chain, chain.Tip(), 1); }
    static Gap FindLastGap(const ChainManager& chain, const HeaderNode* tip);
    static Gap FindLastGap(const ChainManager& chain) { return FindLastGap(chain, chain.Tip()); }
    Result<const HeaderNode*> ChooseTerminal(const Gap& gap) const;
    Found<RoomShortage> LookForRoom(const Gap& gap, bool last_only) const;
    Result<> MakeLastAndAll(const std::function<void(const Result<>&)>& ended);
    void MakeAll(const std::function<void(const Result<>&)>& ended);
    /** Run() without the bookkeeping for Ask() and Describe(). */
    Result<> RunOnce();
    void NoteFailure(const Result<>& done);
    bool WaitForDamaged();
    /** False: the thread must end. */
    bool WaitForAsk();
    void Tell(const Gap& gap);
    void NoteShortage(const Gap& gap, const RoomShortage& shortage);
    void ForgetShortage();
    Result<> Fill(const Gap& gap);
    Error RefuseChain(const HeaderNode& broken, const std::string& reason);
    /** False: it was interrupted. */
    Result<bool> MakeMissing(const Gap& gap, bool last_only);
    JoinOptions JoinSettings() const { return JoinOptionsFrom(m_options, m_kept.PairsFolder()); }
    std::optional<UndoProgress> ProgressHeld() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    BoosterOptions m_options;
    const KeptWork& m_kept;
    const bool m_if_room;
    ChainManager* m_chain = nullptr;
    std::atomic<bool> m_stop = false;
    std::atomic<int32_t> m_done = 0; //!< undo data is complete up to this height
    mutable Mutex m_mutex;
    const UndoRebuild* m_rebuild IBD_GUARDED_BY(m_mutex) = nullptr;
    int32_t m_first IBD_GUARDED_BY(m_mutex) = 0; //!< of the task
    int32_t m_last IBD_GUARDED_BY(m_mutex) = 0;  //!< of the task
    bool m_last_only IBD_GUARDED_BY(m_mutex) = false;
    /** All blocks above this height have undo data; all that Run() found missing is at or below it;
     *  0: none. */
    int32_t m_missing_to IBD_GUARDED_BY(m_mutex) = 0;
    std::string m_failure IBD_GUARDED_BY(m_mutex);  //!< of Run()
    std::string m_shortage IBD_GUARDED_BY(m_mutex); //!< of disk space; the last blocks may fit
    bool m_last_short IBD_GUARDED_BY(m_mutex) = false; //!< RunLast() found too little disk space
    bool m_asked IBD_GUARDED_BY(m_mutex) = false;  //!< since the thread last began
    std::condition_variable_any m_changed;         //!< m_asked or m_stop
    std::atomic<const HeaderNode*> m_broken = nullptr;
    std::optional<FoundCoins> m_found; //!< from WatchFold(), for RunLast()
    NamedThread m_thread;
};

} // namespace ibd

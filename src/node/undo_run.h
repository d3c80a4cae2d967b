// UndoRun: undo data (rev*.dat) of blocks that were not connected one by one, made from blocks
// alone (join/undo_rebuild.h) and written where connecting the blocks would have put it. What was
// stopped goes on. Owned by Node, and by BoosterRun where it validates; Run() and Make() on one
// thread, on one of its own after Start(), the rest from any. Its spills lie in UndoFolder()
// (own_hints.h).
#pragma once

#include "join/fold_search.h"
#include "join/undo_options.h"
#include "node/own_hints.h"
#include "storage/block_store.h"
#include "swiftsync/booster_progress.h"
#include "swiftsync/sync_options.h"
#include "util/threads.h"
#include "validation/chain_manager.h"

namespace ibd {

class BlockSupply;
class UndoRebuild;

/** Of which blocks undo data is wanted, and what they are held against. */
struct UndoTask {
    const HeaderNode& terminal;
    BlockSupply& supply; //!< of the blocks 1 to `terminal`, if they are yet to be joined
    UndoChecks checks = UndoChecks::kRules;
    bool records = true; //!< false: the blocks are only checked
    int32_t first = 1;   //!< all below have undo data, if it is wanted, and are not checked again
    bool connected = false; //!< see JoinOptions
    /** Only few blocks: UndoRebuild::RunLast(). */
    bool last_only = false;
    /** See UndoOptions. */
    SideFold* side_fold = nullptr;
    bool keep_pairs = false; //!< likewise
    bool values = false;     //!< see JoinOptions; if they are yet to be joined
    /** Is told when all blocks up to a height are checked and their undo data is on disk; may be
     *  empty. */
    std::function<Result<>(int32_t height)> durable = {};
};

/** A fold of all blocks up to a terminal block, which is about to begin. */
struct FoldTask {
    const HeaderNode& terminal;
    FoldSearch::PlaceOf place;
    uint64_t coins = 0;       //!< that it leaves, roughly
    uint64_t missing = 0;     //!< blocks that peers bring
    uint64_t usual_bytes = 0; //!< of each of these
};

class UndoRun {
public:
    /** `if_room`: without room Run() says so and RunLast() nothing, and neither fails. */
    UndoRun(Env& env, Logger& log, const ChainParams& params, bool if_room = false)
        : m_env(env), m_log(log), m_params(params), m_if_room(if_room)
    {
    }

    /** Whether a block of the active chain has none. */
    static bool IsNeeded(const ChainManager& chain);
    /** Whether one of the last kMinBlocksToKeep has none. */
    static bool IsLastNeeded(const ChainManager& chain);
    /** Makes what is missing of the active chain, which may go on growing; early, without error,
     *  when interrupted. All blocks must be stored. Errors: the machine's, or a block breaks a
     *  rule, which is named (Broken()). What was durable is there at the next start. */
    Result<> Run(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options);
    /** Likewise what is missing of the last kMinBlocksToKeep blocks, in a fraction of the time: for
     *  before the chain is used. */
    Result<> RunLast(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options);
    /** Who sees to it that RunLast() need not read the blocks that this fold reads; null: nothing
     *  that the last of them spend is wanted, or there is no room for it beside the fold. Of this
     * UndoRun, the chain and the task's nodes; all outlive it. */
    std::unique_ptr<FoldObserver> WatchFold(const ChainManager& chain, const BlockStore& blocks,
                                            const BoosterOptions& options, const FoldTask& fold);
    /** Run() is to come: what is missing until then is told to users. */
    void Expect(const ChainManager& chain);
    /** RunLast() and Run() on a thread of its own, which gives way to others, and again after each
     * Ask(). `ended` is called there with what they return. Once. */
    void Start(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options,
               std::function<void(const Result<>&)> ended);
    /** Undo data of the active chain is found to be missing: the thread makes it, when it is
     * started. False: Run() has failed before, and nobody makes it. Not under the headers lock. */
    bool Ask(const ChainManager& chain);
    /** Interrupts it and waits for its end. */
    void Stop();
    /** The block that breaks a rule; null: none was found. After Run(). */
    const HeaderNode* Broken() const { return m_broken; }
    /** For users, while undo data of the active chain is missing and Run() is to come, at work or
     *  has failed: up to which height it is there, and when the rest will be; else nothing. */
    std::string Describe() const;

    /** Makes that of a task, on a chain whose stored blocks stay where they are. Any verdict but
     * kIncomplete; errors as of Run(). */
    Result<JoinVerdict> Make(ChainManager& chain, const BlockStore& blocks,
                             const BoosterOptions& options, const UndoTask& task);

    /** Run() and Make() return soon, now and whenever they are called. */
    void Interrupt();
    /** While they are at work, or what Describe() says lasts. */
    std::optional<UndoProgress> Progress() const;

private:
    class Keeper;
    /** Heights of the active chain without undo data, and the highest of these blocks. */
    struct Gap {
        int32_t first = 0;
        const HeaderNode* last = nullptr; //!< null: there are none
    };
    /** Of the branch that ends in `tip`, which may be null, from a height on. */
    static Gap FindGap(const ChainManager& chain, const HeaderNode* tip, int32_t lowest);
    static Gap FindGap(const ChainManager& chain) { return FindGap(chain, chain.Tip(), 1); }
    static Gap FindLastGap(const ChainManager& chain, const HeaderNode* tip);
    static Gap FindLastGap(const ChainManager& chain) { return FindLastGap(chain, chain.Tip()); }
    Result<const HeaderNode*> ChooseTerminal(const ChainManager& chain, const Gap& gap,
                                             const BoosterOptions& options) const;
    Result<std::optional<RoomShortage>> LookForRoom(const ChainManager& chain,
                                                    const BoosterOptions& options, const Gap& gap,
                                                    bool last_only) const;
    void MakeAll(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options,
                 const std::function<void(const Result<>&)>& ended);
    /** False: this is the end. */
    bool WaitForAsk();
    void Tell(const Gap& gap);
    void NoteShortage(const Gap& gap, const RoomShortage& shortage);
    Result<> Fill(ChainManager& chain, const BlockStore& blocks, const BoosterOptions& options,
                  const Gap& gap);
    /** False: it was interrupted. */
    Error RefuseChain(ChainManager& chain, const HeaderNode& broken, const std::string& reason);
    Result<bool> MakeMissing(ChainManager& chain, const BlockStore& blocks,
                             const BoosterOptions& options, const Gap& gap, bool last_only);
    std::optional<UndoProgress> ProgressHeld() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const bool m_if_room;
    std::atomic<bool> m_stop = false;
    std::atomic<int32_t> m_done = 0; //!< height up to which all is there
    mutable Mutex m_mutex;
    const UndoRebuild* m_rebuild IBD_GUARDED_BY(m_mutex) = nullptr;
    int32_t m_first IBD_GUARDED_BY(m_mutex) = 0; //!< of the task
    int32_t m_last IBD_GUARDED_BY(m_mutex) = 0;  //!< likewise
    bool m_last_only IBD_GUARDED_BY(m_mutex) = false;
    /** All above this height have it, all that Run() found missing are at or below it; 0: none. */
    int32_t m_missing_to IBD_GUARDED_BY(m_mutex) = 0;
    std::string m_failure IBD_GUARDED_BY(m_mutex); //!< of Run()
    bool m_asked IBD_GUARDED_BY(m_mutex) = false;  //!< since the thread last began
    std::condition_variable_any m_changed;         //!< m_asked or m_stop
    std::atomic<const HeaderNode*> m_broken = nullptr;
    std::optional<FoundCoins> m_found; //!< by WatchFold(), for RunLast()
    NamedThread m_thread;
};

} // namespace ibd

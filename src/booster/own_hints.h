// OwnHints: the booster without a hints file: hints that the node makes by joining all outputs with
// all inputs (join/spend_join.h), and keeps until the booster has finished. Resumes unfinished
// work. Owned by BoosterRun, which chooses the terminal block; one thread, but for Interrupt() and
// Progress(). All files lie in the booster's folder.
#pragma once

#include "consensus/params.h"
#include "hints/hints.h"
#include "join/join_options.h"
#include "swiftsync/booster_progress.h"
#include "swiftsync/first_pass.h"
#include "swiftsync/sync_options.h"
#include "util/log.h"
#include "util/mutex.h"

#include <atomic>
#include <span>

namespace ibd {

class BlockSupply;
class SpendJoin;
struct HeaderNode;

/** Whether to make undo data of blocks that the booster folded (-ibdboosterundo). */
enum class UndoWanted {
    kNo,
    kIfRoom, //!< the default: lack of room is not an error
    kYes,
};

/** Whether the booster makes its own hints if none are given (-ibdbooster). */
struct OwnHintsOptions {
    enum class Mode {
        kOff,
        kDefault, //!< if it is worth it and nothing prevents it
        kAsked,
    };
    /** By default, bytes of blocks above which it is worth it. */
    static constexpr uint64_t kLeastBytes = uint64_t{1} << 30;

    Mode mode = Mode::kOff;
    uint64_t least_bytes = kLeastBytes;
    /** The join keeps the data for making undo data. */
    UndoWanted undo = UndoWanted::kNo;
    /** Undo data is made before the chain is used, not in the background. */
    bool undo_first = false;
    /** If there is room, all rules but scripts are checked while hints are made. */
    bool checks = true;
};

/** The folder where a join keeps its pairs, and where undo data is made. `booster`: the booster's
 *  folder. */
inline Path UndoFolder(const Path& booster) { return booster / "undo"; }

bool IsOwnHintsFile(const std::string& name); //!< complete or unfinished

/** Removes a join's files in UndoFolder(), and the folder if it is empty then; and unfinished hints
 *  of the join, which cannot be resumed any more. */
Result<> RemovePairs(Env& env, const Path& booster);

/** The same without the hints. */
Result<> RemoveUndoFolder(Env& env, const Path& booster);

/** Options of a join, from the booster's. `directory`: for its spills and state. */
JoinOptions JoinOptionsFrom(const BoosterOptions& booster, Path directory);

/** Bytes that will be written to a disk. */
struct RoomNeed {
    Path place; //!< need not exist yet
    uint64_t bytes = 0;
};
/** Additional tasks of the join for hints. */
struct JoinBesides {
    bool pairs = false;  //!< keeps data for an UndoRun in UndoFolder()
    bool values = false; //!< checks all rules but scripts: see JoinOptions
};
/** Room for a sync with its own hints of `block_bytes` of blocks, without the blocks: in the
 *  booster's folder and the chainstate, and with pairs also in `blocks_dir` for undo data. */
std::vector<RoomNeed> OwnHintsRoom(const BoosterOptions& options, const Path& blocks_dir,
                                   uint64_t block_bytes, const JoinBesides& besides);
/** A disk with too little room, bytes. */
struct RoomShortage {
    Path place;
    uint64_t needed = 0;
    uint64_t free = 0;
};
/** Nothing: each disk has enough room. */
std::optional<RoomShortage> FindShortage(Env& env, std::span<const RoomNeed> needs);

class OwnHints {
public:
    OwnHints(Env& env, Logger& log, const ChainParams& params)
        : m_env(env), m_log(log), m_params(params)
    {
    }

    /** The remains of an earlier start. */
    struct Kept {
        BlockHash terminal;
        std::unique_ptr<Hints> hints;   //!< null: the join is unfinished
        std::optional<FirstPass> first; //!< with hints: further results of the join, if complete
        bool pairs = false;             //!< without hints: the join keeps them
    };
    /** Nothing: there is nothing usable; damaged hints are removed. */
    Result<std::optional<Kept>> Look(const Path& directory);
    /** Bytes left by earlier starts, usable or not; nothing: none. */
    Result<std::optional<uint64_t>> BytesKept(const Path& directory) const;

    struct Made {
        JoinVerdict verdict;
        std::unique_ptr<Hints> hints;   //!< set if the verdict is kDone
        std::optional<FirstPass> first; //!< set if the verdict is kDone, except with full
                                        //!< validation
    };
    /** Makes the hints, or resumes. Errors: the machine's; durable work stays for the next start.
     */
    Result<Made> Make(const HeaderNode& terminal, BlockSupply& supply,
                      const BoosterOptions& options, const JoinBesides& besides);

    /** Stores Make()'s further results where they are found after the join's files in UndoFolder()
     *  are removed. */
    Result<> KeepFirst(const Path& directory);

    /** Removes the hints and their join, and the pairs unless they are kept; the hints must not be
     *  open. */
    Result<> Remove(const Path& directory, bool keep_pairs);

    /** Makes Make() return soon, now and in later calls. Any thread. */
    void Interrupt() { m_stop = true; }
    /** Progress of Make(). Any thread. */
    std::optional<OwnHintsProgress> Progress() const;

private:
    Result<> RemoveWithoutPairs(const Path& directory, const HeaderNode& terminal);
    Result<std::optional<FirstPass>> FindFirstPass(const Path& directory,
                                                   const BlockHash& terminal);

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    std::atomic<bool> m_stop = false;
    mutable Mutex m_mutex;
    const SpendJoin* m_join IBD_GUARDED_BY(m_mutex) = nullptr;
};

} // namespace ibd

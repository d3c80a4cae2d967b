// OwnHints: the booster without a hints file - the hints that the node makes itself, by joining all
// outputs with all inputs (join/spend_join.h), and keeps until the booster is done with them. Work
// that was begun is gone on with. Owned by BoosterRun, which says up to which block; one thread,
// but for Interrupt() and Progress(). All files lie in the booster's folder.
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

/** Whether undo data is to be made of blocks that the booster folded (-ibdboosterundo). */
enum class UndoWanted {
    kNo,
    kIfRoom, //!< by default: nothing fails for want of it
    kYes,
};

/** Whether the booster makes hints of its own where it is given none (-ibdbooster). */
struct OwnHintsOptions {
    enum class Mode {
        kOff,
        kDefault, //!< where it is worth it and nothing speaks against it
        kAsked,
    };
    /** By default, bytes of blocks above which it is worth it. */
    static constexpr uint64_t kLeastBytes = uint64_t{1} << 30;

    Mode mode = Mode::kOff;
    uint64_t least_bytes = kLeastBytes;
    /** The join is to keep what undo data is made of. */
    UndoWanted undo = UndoWanted::kNo;
    /** That is made before the chain is used, not in the background. */
    bool undo_first = false;
    /** Where there is room, blocks are held against all rules but scripts while hints are made. */
    bool checks = true;
};

/** Where a join keeps its pairs, and undo data is made of them. `booster`: the booster's folder. */
inline Path UndoFolder(const Path& booster) { return booster / "undo"; }

bool IsOwnHintsFile(const std::string& name); //!< whole, or being written

/** Removes what a join has in UndoFolder(), and that if nothing else is in it; and what the join
 *  had begun to write of hints, which cannot be gone on with any more. */
Result<> RemovePairs(Env& env, const Path& booster);

/** The same without the hints. */
Result<> RemoveUndoFolder(Env& env, const Path& booster);

/** What the booster is given is enough for a join. `directory`: of its spills and state. */
JoinOptions JoinOptionsFrom(const BoosterOptions& booster, Path directory);

/** What goes to a disk, bytes. */
struct RoomNeed {
    Path place; //!< need not exist yet
    uint64_t bytes = 0;
};
/** What the join for hints does besides. */
struct JoinBesides {
    bool pairs = false;  //!< keeps in UndoFolder() what an UndoRun goes on with
    bool values = false; //!< holds the blocks against all rules but scripts: see JoinOptions
};
/** What a sync with hints of its own writes for blocks of so many bytes, besides these: to the
 *  booster's folder and the chainstate, and with pairs the undo data that is made of them, in
 *  `blocks_dir`. */
std::vector<RoomNeed> OwnHintsRoom(const BoosterOptions& options, const Path& blocks_dir,
                                   uint64_t block_bytes, const JoinBesides& besides);
/** A disk without room for all that goes to it, bytes. */
struct RoomShortage {
    Path place;
    uint64_t needed = 0;
    uint64_t free = 0;
};
/** Nothing: each disk has room for all that goes to it. */
std::optional<RoomShortage> FindShortage(Env& env, std::span<const RoomNeed> needs);

class OwnHints {
public:
    OwnHints(Env& env, Logger& log, const ChainParams& params)
        : m_env(env), m_log(log), m_params(params)
    {
    }

    /** What an earlier start left. */
    struct Kept {
        BlockHash terminal;
        std::unique_ptr<Hints> hints;   //!< null: the join was begun and is not done
        std::optional<FirstPass> first; //!< with hints: what else the join found, if it is whole
        bool pairs = false;             //!< without: that join keeps them
    };
    /** Nothing if nothing usable is there; damaged hints are removed. */
    Result<std::optional<Kept>> Look(const Path& directory);
    /** Bytes of what earlier starts left, usable or not; nothing if nothing is there. */
    Result<std::optional<uint64_t>> BytesKept(const Path& directory) const;

    struct Made {
        JoinVerdict verdict;
        std::unique_ptr<Hints> hints;   //!< if the verdict is kDone
        std::optional<FirstPass> first; //!< likewise, unless full validation is asked for
    };
    /** Makes them, or goes on. Errors: the machine's; what is durable stays for the next start. */
    Result<Made> Make(const HeaderNode& terminal, BlockSupply& supply,
                      const BoosterOptions& options, const JoinBesides& besides);

    /** Puts what Make() found besides the hints where it is found again when what the join has kept
     *  in UndoFolder() is gone. */
    Result<> KeepFirst(const Path& directory);

    /** The hints and what was done for them, the pairs too unless they are kept; when nobody has
     *  them open. */
    Result<> Remove(const Path& directory, bool keep_pairs);

    /** Make() returns soon, now and whenever it is called. Any thread. */
    void Interrupt() { m_stop = true; }
    /** While Make() is at work. Any thread. */
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

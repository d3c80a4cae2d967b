// OwnHints: makes hints for a booster without a hints file, by joining all outputs with all inputs
// (join/spend_join.h). Keeps them until the booster has finished, and resumes unfinished work.
// OwnSync chooses the terminal block. All files are in the booster's folder (kept_work.h). One
// thread, except for Interrupt() and Progress().
#pragma once

#include "booster/booster_progress.h"
#include "booster/kept_work.h"
#include "join/join_options.h"
#include "swiftsync/sync_options.h"
#include "util/found.h"
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
    kIfRoom, //!< the default: lack of disk space is not an error
    kYes,
};

/** Whether the booster makes its own hints if none are given (-ibdbooster). */
struct OwnHintsOptions {
    enum class Mode {
        kOff,
        kDefault, //!< if hints save time, and neither options nor disk space prevent them
        kAsked,
    };
    /** In the default mode, hints are made only for more than this many bytes of blocks. */
    static constexpr uint64_t kLeastBytes = uint64_t{1} << 30;

    Mode mode = Mode::kOff;
    uint64_t least_bytes = kLeastBytes;
    /** Whether the join keeps the data for making undo data. */
    UndoWanted undo = UndoWanted::kNo;
    /** Whether undo data is made before the chain is used, not in the background. */
    bool undo_first = false;
    /** Whether all rules but scripts are checked while hints are made, if there is disk space. */
    bool checks = true;
};

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
/** The disk space that a sync with its own hints needs besides the blocks: in the booster's folder,
 *  for the chainstate, and with pairs also for undo data in `blocks_dir`. `block_bytes`: of all
 *  blocks together. */
std::vector<RoomNeed> OwnHintsRoom(const BoosterOptions& options, const Path& blocks_dir,
                                   uint64_t block_bytes, const JoinBesides& besides);
/** A disk with too little space; sizes in bytes. */
struct RoomShortage {
    Path place;
    uint64_t needed = 0;
    uint64_t free = 0;
};
/** The folder, or its nearest existing parent: both are on the same disk. */
Path ExistingFolder(Env& env, Path folder);
/** Nothing: each disk has enough space. Error: the free space of a disk cannot be read. */
Found<RoomShortage> FindShortage(Env& env, std::span<const RoomNeed> needs);

struct MadeHints {
    std::unique_ptr<Hints> hints;
    std::optional<FirstPass> first; //!< missing with full validation, or if it was lost
};

class OwnHints {
public:
    /** All arguments must outlive it. */
    OwnHints(Env& env, Logger& log, const ChainParams& params, const BoosterOptions& options,
             const KeptWork& kept)
        : m_env(env), m_log(log), m_params(params), m_options(options), m_kept(kept)
    {
    }

    /** Makes the hints, or resumes making them. `made`: set if the verdict is kDone. An error is a
     *  failure of the machine; durable work stays for the next start. */
    Result<JoinVerdict> Make(const HeaderNode& terminal, BlockSupply& supply,
                             const JoinBesides& besides, MadeHints& made);

    /** Makes current and later calls of Make() return soon. Any thread. */
    void Interrupt() { m_stop = true; }
    /** Progress of Make(). Any thread. */
    std::optional<OwnHintsProgress> Progress() const;

private:
    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const BoosterOptions& m_options;
    const KeptWork& m_kept;
    std::atomic<bool> m_stop = false;
    mutable Mutex m_mutex;
    const SpendJoin* m_join IBD_GUARDED_BY(m_mutex) = nullptr;
};

} // namespace ibd

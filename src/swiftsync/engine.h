// SyncEngine: the booster. Folds every block of the best header chain up to the hints' terminal
// block, as a supply hands them out (chain/block_source.h), in whatever order is cheapest, on all
// threads; judges the hints; writes the chainstate once. Owned by the node, which runs it before it
// opens the chainstate, and alone starts threads in this module. Memory:
// BoosterOptions::memory_bytes, the blocks being parsed, and about 30 bytes a header. What it keeps
// on disk while it is at work lies in BoosterOptions::directory. See doc/booster.md.
#pragma once

#include "chain/block_source.h"
#include "storage/block_store.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/hints.h"

#include <atomic>
#include <cstdio>

namespace ibd {

enum class LoaderKind : uint8_t {
    kTable, //!< sorted tables written directly, in parallel
    kBatch, //!< ordered batches through the database's own interface: the simple twin
};

struct BoosterOptions {
    unsigned threads = 1;
    size_t memory_bytes = size_t{96} << 20; //!< -ibdboostermem: coin buffers of all workers
    AggregateKind aggregate = AggregateKind::kSha256;
    LoaderKind loader = LoaderKind::kTable;
    /** Every rule and script is checked, with the coins of undo data (-ibdboosterfullvalidation):
     *  no block needs to be assumed valid. */
    bool full_validation = false;
    /** Ends when all blocks are folded, with a checkpoint for a sync that judges. Nothing is said
     *  against the hints or a block: what cannot be folded is left to that run. */
    bool fold_only = false;
    Path directory; //!< runs and checkpoint (-ibdboosterdir); created if absent
    /** Replaced by the finished chainstate; must not be open. Before it is opened at a start
     *  without the booster, call RecoverPublish() (storage/chainstate_builder.h). */
    Path chainstate;
    bool obfuscate_chainstate = true; //!< new chainstate gets a random key, as Core's has
    /** The interval: at no moment are more bytes of blocks folded and not yet durable, by all
     *  workers together; nor, by any worker, more seconds of work. A crash costs no more. */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** Bytes of runs that are worth a range of keys, and a table, of their own in the merge. */
    uint64_t min_range_bytes = uint64_t{16} << 20;
    /** So many runs are merged at once however little memory there is. */
    size_t min_merged_runs = 128;
    std::FILE* tty = nullptr; //!< where to draw a line of progress, if it is a tty
    /** False: all on the calling thread, in file order, so that a test repeats exactly. */
    bool background = true;
};

enum class VerdictKind {
    kAccepted,     //!< the chainstate is complete at the terminal block
    kHintsWrong,   //!< some check failed; the chainstate is untouched, validate serially
    kBlockInvalid, //!< a block that has its right hash broke a rule; validate serially
    kFolded,       //!< BoosterOptions::fold_only: all blocks are folded
    kIncomplete,   //!< not all blocks could be folded; what was done is kept
    kNoUndo,       //!< full validation: undo data is missing or damaged; validate serially
    kInterrupted,  //!< stopped on request; what was done is kept for the next
};

struct Verdict {
    VerdictKind kind = VerdictKind::kInterrupted;
    std::string reason;  //!< the exact check that failed, for the log
    int32_t height = -1; //!< of the invalid block, or the terminal height
    uint64_t coins = 0;  //!< in the new chainstate
};

enum class BoosterState {
    kIdle,
    kWaiting, //!< for headers
    kFolding,
    kJudging,
    kLoading,
    kPublishing,
    kAccepted,
    kRefused
};
const char* BoosterStateName(BoosterState state);

/** Of blocks that come from peers. */
struct DownloadProgress {
    uint64_t blocks = 0;         //!< that were missing when it began
    uint64_t received = 0;       //!< of these
    uint64_t bytes = 0;          //!< received
    double bytes_per_second = 0; //!< since it began
    size_t peers = 0;            //!< connected
};

/** What getboosterinfo shows. */
struct BoosterProgress {
    BoosterState state = BoosterState::kIdle;
    int32_t terminal_height = 0;
    BlockHash terminal_hash;
    AggregateKind aggregate = AggregateKind::kSha256;
    bool full_validation = false;
    Uint256 hints_id;
    unsigned threads = 0;
    uint64_t blocks = 0;         //!< folded, those of earlier syncs included
    uint64_t resumed_blocks = 0; //!< of these, kept from an earlier sync
    uint64_t outputs = 0;        //!< counted outputs folded
    uint64_t inputs = 0;
    uint64_t bytes = 0;       //!< of blocks folded
    uint64_t total_bytes = 0; //!< of all blocks that are read, estimated from their positions
    uint64_t coins = 0;       //!< surviving coins so far
    uint64_t coins_loaded = 0;
    uint64_t coins_expected = 0;
    uint64_t disk_bytes = 0;        //!< runs
    uint64_t disk_bytes_needed = 0; //!< estimate: runs and new chainstate at the end
    uint64_t memory_bytes = 0;      //!< of the process
    double bytes_per_second = 0;    //!< of blocks read, while folding
    double coins_per_second = 0;    //!< while loading
    double seconds_elapsed = 0;
    std::optional<double> seconds_left;
    int32_t headers = -1;                     //!< height of the best header; -1: not looked at
    std::optional<DownloadProgress> download; //!< while blocks come from peers
    std::string verdict; //!< "" while undecided, "accepted", or the reason for refusal
};

class SyncEngine {
public:
    /** Takes its blocks from where the index says that they lie. `terminal`: from
     *  CheckTerminalBlock(). Everything referred to must outlive the engine; the nodes' positions
     *  (file, data_pos) must not change while Run() is at work. */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, const Hints& hints, BoosterOptions options);
    /** Takes its blocks from `supply`; `blocks` are for undo data. */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, BlockSupply& supply, const Hints& hints,
               BoosterOptions options);
    ~SyncEngine();

    /** Does all of it; once. An error is a failed disk, a missing or damaged block or the like:
     *  nothing was published and a later sync resumes. */
    Result<Verdict> Run();

    /** Makes Run() return soon; from any thread. */
    void Interrupt();

    /** From any thread, also before and after Run(). */
    BoosterProgress Progress() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd

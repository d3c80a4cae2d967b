// BoosterProgress: how far a sync is, as values. See engine.h.
#pragma once

#include "primitives/uint256.h"
#include "swiftsync/aggregate.h"

namespace ibd {

enum class BoosterState {
    kIdle,
    kWaiting,    //!< for headers
    kJoining,    //!< makes its own hints
    kValidating, //!< every rule and script, with coins joined from the blocks
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

/** Of hints that the node makes itself. */
struct OwnHintsProgress {
    const char* phase = "";   //!< reading, joining or writing
    uint64_t bytes = 0;       //!< of blocks read
    uint64_t total_bytes = 0; //!< of all blocks, estimated
    uint32_t joined = 0;      //!< partitions
    uint32_t partitions = 0;
    double bytes_per_second = 0;        //!< while reading
    std::optional<double> seconds_left; //!< of the phase
};

/** Of undo data that is made for blocks which were folded. */
struct UndoProgress {
    const char* phase = "";      //!< waiting, reading, joining, fetching, writing, failed
    int32_t height = 0;          //!< all blocks up to here have it
    int32_t terminal_height = 0; //!< the last that is to have it
    uint64_t bytes = 0;          //!< of blocks read for the join
    uint64_t total_bytes = 0;    //!< of all blocks, estimated
    uint32_t joined = 0;         //!< partitions
    uint32_t partitions = 0;
    std::optional<double> seconds_left; //!< of the phase
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
    std::optional<UndoProgress> undo;         //!< while undo data is made
    std::optional<OwnHintsProgress> join;     //!< while hints are made
    std::string verdict; //!< "" while undecided, "accepted", or the reason for refusal
};

} // namespace ibd

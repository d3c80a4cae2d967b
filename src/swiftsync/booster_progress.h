// BoosterProgress: the progress of a sync, as values. See engine.h.
#pragma once

#include "primitives/uint256.h"
#include "swiftsync/aggregate.h"

namespace ibd {

enum class BoosterState {
    kIdle,
    kWaiting,    //!< for headers
    kJoining,    //!< makes hints from the blocks
    kValidating, //!< checks every rule and script, with coins joined from the blocks
    kFolding,
    kJudging,
    kLoading,
    kPublishing,
    kAccepted,
    kRefused
};
const char* BoosterStateName(BoosterState state);

/** Download of blocks from peers. */
struct DownloadProgress {
    uint64_t blocks = 0;         //!< missing at the start
    uint64_t received = 0;       //!< of the missing ones
    uint64_t bytes = 0;          //!< received
    double bytes_per_second = 0; //!< since the start
    size_t peers = 0;            //!< connected
};

/** Making of own hints. */
struct OwnHintsProgress {
    const char* phase = "";   //!< reading, joining or writing
    uint64_t bytes = 0;       //!< of blocks read
    uint64_t total_bytes = 0; //!< of all blocks, estimated
    uint32_t joined = 0;      //!< partitions joined
    uint32_t partitions = 0;
    double bytes_per_second = 0;        //!< while reading
    std::optional<double> seconds_left; //!< of this phase
};

/** Making of undo data for blocks that were folded. */
struct UndoProgress {
    const char* phase = "";      //!< waiting, reading, joining, fetching, writing, failed
    int32_t height = 0;          //!< all blocks up to this height have it
    int32_t terminal_height = 0; //!< height of the last block that needs it
    uint64_t bytes = 0;          //!< of blocks read for the join
    uint64_t total_bytes = 0;    //!< of all blocks, estimated
    uint32_t joined = 0;         //!< partitions joined
    uint32_t partitions = 0;
    std::optional<double> seconds_left; //!< of this phase
};

/** The values of getboosterinfo. */
struct BoosterProgress {
    BoosterState state = BoosterState::kIdle;
    int32_t terminal_height = 0;
    BlockHash terminal_hash;
    AggregateKind aggregate = AggregateKind::kSha256;
    bool full_validation = false;
    Uint256 hints_id;
    unsigned threads = 0;
    uint64_t blocks = 0;         //!< folded, also by earlier syncs
    uint64_t resumed_blocks = 0; //!< the part kept from an earlier sync
    uint64_t outputs = 0;        //!< counted outputs folded
    uint64_t inputs = 0;
    uint64_t bytes = 0;       //!< of blocks folded
    uint64_t total_bytes = 0; //!< of all blocks to read, estimated from their positions
    uint64_t coins = 0;       //!< surviving coins so far
    uint64_t coins_loaded = 0;
    uint64_t coins_expected = 0;
    uint64_t disk_bytes = 0;        //!< runs
    uint64_t disk_bytes_needed = 0; //!< estimate: runs and the new chainstate at the end
    uint64_t memory_bytes = 0;      //!< of the process
    double bytes_per_second = 0;    //!< of blocks read, while folding
    double coins_per_second = 0;    //!< while loading
    double seconds_elapsed = 0;
    std::optional<double> seconds_left;
    int32_t headers = -1;                     //!< height of the best header; -1: not known
    std::optional<DownloadProgress> download; //!< while blocks come from peers
    std::optional<UndoProgress> undo;         //!< while undo data is made
    std::optional<OwnHintsProgress> join;     //!< while hints are made
    std::string verdict; //!< "" while undecided, "accepted", or the reason for refusal
};

} // namespace ibd

// BoosterProgress: the progress of a session, as values: download, join, validation, fold and undo
// data. See booster_session.h.
#pragma once

#include "join/join_job.h"
#include "swiftsync/fold_progress.h"

namespace ibd {

enum class BoosterState {
    kFold,       //!< BoosterProgress::fold has the state
    kWaiting,    //!< for headers
    kJoining,    //!< makes hints from the blocks
    kValidating, //!< checks every rule and script, with coins joined from the blocks
};

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
    const char* phase = "";   //!< reading, joining, checking or writing
    uint64_t bytes = 0;       //!< of blocks read
    uint64_t total_bytes = 0; //!< of all blocks, estimated
    uint32_t joined = 0;      //!< partitions joined
    uint32_t partitions = 0;
    double bytes_per_second = 0;         //!< while reading
    std::optional<int64_t> seconds_left; //!< of this phase
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
    std::optional<int64_t> seconds_left; //!< to the end of the last phase
};

/** The values of getboosterinfo. */
struct BoosterProgress {
    BoosterState state = BoosterState::kFold;
    /** Terminal block, hints and verdict are set even before a fold begins. */
    FoldProgress fold = {};
    int32_t headers = -1;                          //!< height of the best header; -1: not known
    std::optional<DownloadProgress> download = {}; //!< while blocks come from peers
    std::optional<UndoProgress> undo = {};         //!< while undo data is made
    std::optional<OwnHintsProgress> join = {};     //!< while hints are made

    const char* StateName() const;
};

/** "reading", "joining", ... */
const char* PhaseName(JoinProgress::Phase phase);

} // namespace ibd

// FoldProgress: the progress of one fold and of the loading of its coins, as values. See engine.h.
#pragma once

#include "primitives/uint256.h"
#include "swiftsync/aggregate.h"

#include <optional>

namespace ibd {

enum class FoldState { kIdle, kFolding, kJudging, kLoading, kPublishing, kAccepted, kRefused };
const char* FoldStateName(FoldState state);

struct FoldProgress {
    FoldState state = FoldState::kIdle;
    int32_t terminal_height = 0;
    BlockHash terminal_hash = {};
    AggregateKind aggregate = AggregateKind::kSha256;
    bool full_validation = false;
    Uint256 hints_id = {};
    unsigned threads = 0;
    uint64_t blocks = 0;         //!< folded, also by earlier syncs
    uint64_t resumed_blocks = 0; //!< folded by an earlier sync
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
    std::string verdict = {}; //!< "" while undecided, "accepted", or the reason for refusal
};

} // namespace ibd

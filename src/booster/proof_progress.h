// ProofProgress: the progress of the proof of the history below a UTXO snapshot, as a value. See
// snapshot_proof.h.
#pragma once

#include "booster/booster_progress.h"

namespace ibd {

struct ProofProgress {
    const char* phase = "";      //!< waiting, sorting, folding, naming, failed
    int32_t terminal_height = 0; //!< of the snapshot
    uint64_t blocks = 0;         //!< folded, in any order
    uint64_t bytes = 0;          //!< of these
    uint64_t total_bytes = 0;    //!< of all blocks, estimated
    double bytes_per_second = 0;
    std::optional<int64_t> seconds_left = {};
    std::optional<DownloadProgress> download = {}; //!< if blocks are missing
};

} // namespace ibd

// Input and result of a chainstate loader. See chainstate_loader.h.
#pragma once

#include "swiftsync/run_file.h"
#include "swiftsync/sync_options.h"

namespace ibd {

struct LoadTask {
    std::span<const RunReader> runs;
    Path chainstate; //!< built at WorkFolder::New(), whose old contents are removed
    BlockHash best_block;
    uint64_t coins = 0; //!< exact number of coins that the merge must give (CHECK)
    bool obfuscate = true;
    LoaderKind kind = LoaderKind::kBatch;
    unsigned threads = 1;
    size_t memory_bytes = size_t{64} << 20;
    uint64_t min_range_bytes = uint64_t{16} << 20; //!< minimum run bytes of a range of keys
    std::atomic<uint64_t>* loaded = nullptr;       //!< counts coins for progress, from 0
    const std::atomic<bool>* stop = nullptr;
};

struct LoadReport {
    uint64_t coins = 0;
    /** Two coins with the same outpoint, if any: the hints were wrong. */
    std::optional<std::string> duplicate;
    bool interrupted = false;
};

/** The reason for refusing hints when an outpoint occurs twice. */
std::string DuplicateCoin(const OutPoint& outpoint);

} // namespace ibd

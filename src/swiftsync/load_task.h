// What a loader of the chainstate is given and gives back. See chainstate_loader.h.
#pragma once

#include "swiftsync/run_file.h"
#include "swiftsync/sync_options.h"

namespace ibd {

struct LoadTask {
    std::span<const RunReader> runs;
    Path chainstate; //!< the new one is built at WorkFolder::New(); what that held is removed
    BlockHash best_block;
    uint64_t coins = 0; //!< so many must come out of the merge (CHECK)
    bool obfuscate = true;
    LoaderKind kind = LoaderKind::kBatch;
    unsigned threads = 1;
    size_t memory_bytes = size_t{64} << 20;
    uint64_t min_range_bytes = uint64_t{16} << 20; //!< run bytes worth a range of keys of their own
    std::atomic<uint64_t>* loaded = nullptr;       //!< counts coins for progress, from 0
    const std::atomic<bool>* stop = nullptr;
};

struct LoadReport {
    uint64_t coins = 0;
    /** Two coins of the same outpoint, if there are such: the hints were wrong. */
    std::optional<std::string> duplicate;
    bool interrupted = false;
};

/** The reason when an outpoint comes twice. */
std::string DuplicateCoin(const OutPoint& outpoint);

} // namespace ibd

// ChainstateLoader: turns the runs of an accepted sync into a chainstate, in key order and written
// once, in a new directory beside the old one; and puts it in the old one's place. Called by the
// engine on its thread; the table twin starts the given number of threads for the time of Load().
#pragma once

#include "swiftsync/engine.h"
#include "swiftsync/run_file.h"

namespace ibd {

struct LoadTask {
    std::span<const RunReader> runs;
    Path target; //!< new directory; what it held is removed
    BlockHash best_block;
    bool obfuscate = true;
    LoaderKind kind = LoaderKind::kBatch;
    unsigned threads = 1;
    size_t memory_bytes = size_t{64} << 20;
    std::atomic<uint64_t>* loaded = nullptr; //!< counts coins for progress
    const std::atomic<bool>* stop = nullptr;
};

struct LoadReport {
    uint64_t coins = 0;
    /** Two coins of the same outpoint, if there are such: the hints were wrong. */
    std::optional<std::string> duplicate;
    bool interrupted = false;
};

/** Writes and syncs the chainstate; its best block comes last. On an error, a duplicate or an
 *  interruption the target is incomplete and must be removed. */
Result<LoadReport> LoadChainstate(Env& env, Logger& log, const LoadTask& task);

/** Where the new chainstate is built: beside the one that it will replace. */
Path NewChainstatePath(const Path& chainstate);

/** Puts the finished new chainstate in the place of the old one. Can be repeated after a crash at
 *  any point as long as the checkpoint says that it was complete. */
Result<> PublishChainstate(Env& env, const Path& chainstate);

} // namespace ibd

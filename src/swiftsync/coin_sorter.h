// CoinSorter: sorts any number of records of coins in bounded memory, into one run file
// (run_file.h). One thread. Memory: as given, and 32 KiB for each run while they are merged.
#pragma once

#include "swiftsync/run_file.h"
#include "util/found.h"

#include <atomic>

namespace ibd {

class CoinSorter {
public:
    /** `directory`: exists, and has no other runs. `id`: of the runs. All outlive it. */
    CoinSorter(Env& env, const Path& directory, const Uint256& id, size_t memory_bytes)
        : m_env(env), m_directory(directory), m_id(id), m_coins(memory_bytes)
    {
    }

    /** Adds a record, as CoinBuffer. */
    Result<> Add(ByteSpan id, uint32_t vout, ByteSpan value);
    /** The file of all records, not yet synced, beside others in the directory; nothing: stopped.
     *  Once. */
    Found<RunInfo> Finish(const std::atomic<bool>& stop);
    /** Makes the finished file durable. */
    Result<> Sync();

private:
    Result<> Spill();
    Result<bool> Merge(const std::atomic<bool>& stop);

    Env& m_env;
    const Path& m_directory;
    const Uint256& m_id;
    CoinBuffer m_coins;
    std::vector<RunInfo> m_runs;
    std::unique_ptr<WritableFile> m_last; //!< of the last run
};

} // namespace ibd

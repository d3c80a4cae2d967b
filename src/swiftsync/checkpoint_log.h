// CheckpointLog: keeps a checkpoint durable as it grows, at a cost that does not grow with it. Most
// saves append what is new to checkpoint.log and sync that; once the log is as large as the
// checkpoint itself, the checkpoint is written whole and the log begins anew. A log belongs to one
// checkpoint, which it names by its checksum: any other, and what follows an entry that was cut
// off, is as if it were not there. Owned by the committer; one thread. Format:
// doc/formats/checkpoint.md.
#pragma once

#include "swiftsync/checkpoint.h"

namespace ibd {

/** What an epoch adds to a checkpoint; sum and totals as they are with it. */
struct CheckpointEntry {
    Bytes sum;
    FoldTotals totals;
    std::optional<RunInfo> run;
    std::vector<uint32_t> heights;
};

/** Takes the entry into `state`; false, and nothing is changed, if it does not fit. */
bool Apply(const CheckpointEntry& entry, Checkpoint& state);

class CheckpointLog {
public:
    /** A log is no larger than this or the checkpoint, whichever is more. */
    static constexpr uint64_t kLeastLimit = 64 << 10;

    CheckpointLog(Env& env, Path directory) : m_env(env), m_directory(std::move(directory)) {}

    /** Durable on return: `state`, which is what was saved before with `added` taken in. The first
     *  call may be with any state. After an error it is of no more use. */
    Result<> Save(const Checkpoint& state, const CheckpointEntry& added);

private:
    Result<> Begin(const Checkpoint& state);

    Env& m_env;
    const Path m_directory;
    std::unique_ptr<WritableFile> m_file; //!< null: the next save writes the checkpoint whole
    uint64_t m_size = 0;
    uint64_t m_limit = 0;
    ShortDigest m_last{}; //!< checksum of the entry before, or of the checkpoint
};

Path CheckpointLogPath(const Path& directory);

/** Takes in what the log in the directory adds to the checkpoint whose bytes are given. Errors: the
 *  machine's. */
Result<> ReplayLog(Env& env, const Path& directory, ByteSpan checkpoint, Checkpoint& state);

} // namespace ibd

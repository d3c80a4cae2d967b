// CheckpointLog: keeps a growing checkpoint durable at a cost that does not grow with it. Most
// saves append the new part to checkpoint.log and sync it. Once the log is as large as the
// checkpoint, the checkpoint is written whole and the log starts empty. A log names its checkpoint
// by checksum; a log of another checkpoint is ignored, and so are entries after a truncated one.
// Owned by the committer; one thread. Format: doc/formats/checkpoint.md.
#pragma once

#include "swiftsync/checkpoint.h"

namespace ibd {

/** The addition of an epoch to a checkpoint; sum and totals are those after it. */
struct CheckpointEntry {
    Bytes sum;
    FoldTotals totals;
    std::optional<RunInfo> run;
    std::vector<uint32_t> heights;
};

/** Adds the entry to `state`. False: it does not fit, and `state` is unchanged. */
bool Apply(const CheckpointEntry& entry, Checkpoint& state);

class CheckpointLog {
public:
    /** A log is no larger than this or the checkpoint, whichever is larger. */
    static constexpr uint64_t kLeastLimit = 64 << 10;

    CheckpointLog(Env& env, Path directory) : m_env(env), m_directory(std::move(directory)) {}

    /** Saves `state`, which is the previously saved one with `added` applied; durable on return.
     *  The first call accepts any state. After an error the log must not be used further. */
    Result<> Save(const Checkpoint& state, const CheckpointEntry& added);

private:
    Result<> Begin(const Checkpoint& state);

    Env& m_env;
    const Path m_directory;
    std::unique_ptr<WritableFile> m_file; //!< null: the next save writes the checkpoint whole
    uint64_t m_size = 0;
    uint64_t m_limit = 0;
    ShortDigest m_last{}; //!< checksum of the previous entry, or of the checkpoint
};

Path CheckpointLogPath(const Path& directory);

/** Applies the log in the directory to the checkpoint with the given bytes. Errors: the machine's.
 */
Result<> ReplayLog(Env& env, const Path& directory, ByteSpan checkpoint, Checkpoint& state);

} // namespace ibd

// Checkpoint: everything that a run of the booster has made durable - salt, sum, which blocks are
// folded, which run files hold their coins. One file, replaced atomically after the runs it names
// were synced. A value; one thread. Format: doc/formats/checkpoint.md.
#pragma once

#include "swiftsync/aggregate.h"
#include "swiftsync/run_file.h"

namespace ibd {

/** A set of heights 0..limit as one bit each. */
class HeightSet {
public:
    HeightSet() = default;
    explicit HeightSet(uint32_t limit) : m_bits(limit / 8 + 1), m_limit(limit) {}

    bool Contains(uint32_t height) const { return m_bits[height / 8] >> height % 8 & 1; }
    /** False if it was there. */
    bool Insert(uint32_t height);
    uint32_t Count() const { return m_count; }
    ByteSpan Span() const { return m_bits; }
    static HeightSet FromBytes(uint32_t limit, ByteSpan bits);

private:
    Bytes m_bits;
    uint32_t m_limit = 0;
    uint32_t m_count = 0;
};

/** Totals over folded blocks. */
struct FoldTotals {
    uint64_t outputs = 0; //!< as the hints count them
    uint64_t hinted = 0;  //!< of these, hinted unspent
    uint64_t inputs = 0;
    uint64_t coins = 0; //!< surviving
    uint64_t value = 0; //!< of these coins, saturating
    uint64_t bytes = 0; //!< of blocks

    void Add(const FoldTotals& other);
    bool operator==(const FoldTotals&) const = default;
};

struct Checkpoint {
    // What it belongs to.
    std::array<uint8_t, 4> network_magic{};
    Uint256 hints_id;
    uint32_t terminal_height = 0;
    BlockHash terminal_hash;
    AggregateKind aggregate = AggregateKind::kSha256;
    bool full_validation = false; //!< the sum is over whole coins, all rules were checked
    AggregateSalt salt{};

    // What is done.
    Bytes sum; //!< Aggregate::Serialize()
    FoldTotals totals;
    HeightSet folded;
    std::vector<RunInfo> runs;

    /** Number for a run that is not yet in use. */
    uint32_t NextRunNumber() const;

    Bytes Encode() const;
    static Result<Checkpoint> Decode(ByteSpan bytes);
};

Path CheckpointPath(const Path& directory);

/** Atomically replaces the checkpoint of a directory; durable on return. */
Result<> SaveCheckpoint(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** Nothing if there is none; an error, naming the file, if it is damaged. */
Result<std::optional<Checkpoint>> LoadCheckpoint(Env& env, const Path& directory);

/** Removes checkpoint, runs and leftovers in the directory, but not the memory of bad hints. */
Result<> RemoveCheckpoint(Env& env, const Path& directory);

/** Removes the run files that `checkpoint` does not name. */
Result<> RemoveOtherRuns(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** Whether there is a checkpoint of these hints that lacks blocks. */
Result<bool> HasUnfinishedRun(Env& env, const Path& directory, const Uint256& hints_id);

/** Keeps other nodes out of a directory that exists, as with -ibdboosterdir it may be shared. */
Result<std::unique_ptr<FileLock>> LockBooster(Env& env, const Path& directory);

// Hints that failed are remembered by id, so that a restart does not try them again.

Result<> RememberBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                          std::string_view reason);
/** Why these hints failed before; nothing if they did not. */
Result<std::optional<std::string>> KnownBadHints(Env& env, const Path& directory,
                                                 const Uint256& hints_id);

} // namespace ibd

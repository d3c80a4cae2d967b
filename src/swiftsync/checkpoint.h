// Checkpoint: the durable state of a sync: salt, sum, the folded blocks, and the run files with
// their coins. The file is replaced atomically after the runs that it names were synced; its log is
// a file beside it (checkpoint_log.h). A value; one thread. Format: doc/formats/checkpoint.md.
#pragma once

#include "swiftsync/aggregate.h"
#include "swiftsync/run_file.h"
#include "util/found.h"

namespace ibd {

/** A set of heights 0..limit as one bit each. */
class HeightSet {
public:
    HeightSet() = default;
    explicit HeightSet(uint32_t limit) : m_bits(limit / 8 + 1), m_limit(limit) {}

    bool Contains(uint32_t height) const { return m_bits[height / 8] >> height % 8 & 1; }
    /** False: it was in the set already. */
    bool Insert(uint32_t height);
    uint32_t Count() const { return m_count; }
    ByteSpan Span() const { return m_bits; }
    /** Whether these are the bytes of a set with this limit. */
    static bool Fits(uint32_t limit, ByteSpan bits);
    /** Requires Fits(). */
    static HeightSet FromBytes(uint32_t limit, ByteSpan bits);

private:
    Bytes m_bits;
    uint32_t m_limit = 0;
    uint32_t m_count = 0;
};

/** Totals over folded blocks. */
struct FoldTotals {
    uint64_t outputs = 0; //!< as the hints count them
    uint64_t hinted = 0;  //!< the outputs hinted unspent
    uint64_t inputs = 0;
    uint64_t coins = 0; //!< surviving
    uint64_t value = 0; //!< value of these coins, saturating
    uint64_t bytes = 0; //!< of blocks

    void Add(const FoldTotals& other);
    bool operator==(const FoldTotals&) const = default;
};

struct Checkpoint {
    // Identity.
    std::array<uint8_t, 4> network_magic{};
    Uint256 hints_id;
    uint32_t terminal_height = 0;
    BlockHash terminal_hash;
    AggregateKind aggregate = AggregateKind::kSha256;
    bool full_validation = false; //!< the sum is over whole coins; all rules were checked
    bool coins_only = false;      //!< the sum started from that of a FirstPass
    /** With full_validation: signatures up to this height were verified in batches. */
    uint32_t known_height = 0;
    Uint256 rules; //!< FoldRulesId() of the rules under which its blocks were folded
    AggregateSalt salt{};

    // Results.
    Bytes sum; //!< Aggregate::Serialize()
    FoldTotals totals;
    HeightSet folded;
    std::vector<RunInfo> runs;
    /** Whether the chainstate is in place, so that only the files have to be removed. */
    bool published = false;

    /** The number of the next run. */
    uint32_t NextRunNumber() const;

    Bytes Encode() const;
    static Result<Checkpoint> Decode(ByteSpan bytes);
};

// Parts that the log has in the same form, and the checksum by which it names a checkpoint.
void WriteTotals(Writer& writer, const FoldTotals& totals);
FoldTotals ReadTotals(Reader& reader);
void WriteRunInfo(Writer& writer, const RunInfo& run);
RunInfo ReadRunInfo(Reader& reader);
ShortDigest CheckpointDigest(ByteSpan encoded);

Path CheckpointPath(const Path& directory); //!< of checkpoint.dat

// Names in the booster's directory, where users may keep other files too.
bool IsRunFile(const std::string& name);        //!< a name made by RunPath()
bool IsCheckpointFile(const std::string& name); //!< checkpoint or log
bool IsBoosterLock(const std::string& name);    //!< see LockBooster()
bool IsHintsRecord(const std::string& name);    //!< see RememberBadHints(), SaveSuspectHints()

/** Atomically replaces the checkpoint of a directory and its log; durable on return. */
Result<> SaveCheckpoint(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** Loads the checkpoint with its log. Nothing: there is none. Bad data, naming the file: it is
 *  damaged. */
Found<Checkpoint> LoadCheckpoint(Env& env, const Path& directory);

/** Removes checkpoint, runs and leftovers in the directory, but not the list of bad hints. Whatever
 *  remains after a crash or an error is a whole sync, a published checkpoint, or files without a
 *  checkpoint. */
Result<> RemoveCheckpoint(Env& env, const Path& directory);

/** Removes the run files that `checkpoint` does not name. */
Result<> RemoveOtherRuns(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** The state of unfinished work in a directory. */
enum class FoldStanding {
    kNone,
    kPublished,   //!< its chainstate is in place; the remaining files are useless
    kUnpublished, //!< folded blocks, of a sync of any node with any hints
};
/** `best_block`: of the chainstate in place. Complete work of these hints also counts as published
 *  if the chainstate ends at their terminal block: a crash may have prevented the update of the
 *  checkpoint. A damaged checkpoint counts as unpublished, because unpublished work must not be
 *  removed. */
Result<FoldStanding> FindFoldStanding(Env& env, const Path& directory, const Uint256& hints_id,
                                      const BlockHash& best_block);

/** Locks an existing directory against other nodes, since -ibdboosterdir may be shared. */
Result<std::unique_ptr<FileLock>> LockBooster(Env& env, const Path& directory);

// Failed hints are remembered by id and terminal block, so that a restart does not try them again.
// The block is needed because a bitmap does not name it, and its bits may be right on another
// branch.

Result<> RememberBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                          const BlockHash& terminal_hash, std::string_view reason);
/** The reason why these hints failed on this branch; nothing: they did not fail. */
Found<std::string> KnownBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                                 const BlockHash& terminal_hash);

/** Failed hints that are wrong only if all blocks up to their terminal block are valid. */
struct SuspectEntry {
    Uint256 id;
    BlockHash terminal;
    int32_t height = 0; //!< of the terminal block
    std::string why = {};

    bool operator==(const SuspectEntry&) const = default;
};
/** The record of a directory; empty if there is none. Damaged lines are left out. */
Result<std::vector<SuspectEntry>> LoadSuspectHints(Env& env, const Path& directory);
/** Atomically replaces the record, or removes it if there are no entries. */
Result<> SaveSuspectHints(Env& env, const Path& directory, std::span<const SuspectEntry> entries);

} // namespace ibd

// Checkpoint: everything that a sync has made durable - salt, sum, which blocks are
// folded, which run files hold their coins. A file that is replaced atomically after the runs it
// names were synced, and a log beside it (checkpoint_log.h). A value; one thread. Format:
// doc/formats/checkpoint.md.
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
    bool coins_only = false;      //!< the sum began as that of a FirstPass
    Uint256 rules;                //!< FoldRulesId() of the rules that its blocks were folded under
    AggregateSalt salt{};

    // What is done.
    Bytes sum; //!< Aggregate::Serialize()
    FoldTotals totals;
    HeightSet folded;
    std::vector<RunInfo> runs;
    /** Its chainstate was put in place: nothing is left to do but to clean up. */
    bool published = false;

    /** Number for a run that is not yet in use. */
    uint32_t NextRunNumber() const;

    Bytes Encode() const;
    static Result<Checkpoint> Decode(ByteSpan bytes);
};

// Pieces that the log has in the same form, and the checksum by which it names a checkpoint.
void WriteTotals(Writer& writer, const FoldTotals& totals);
FoldTotals ReadTotals(Reader& reader);
void WriteRunInfo(Writer& writer, const RunInfo& run);
RunInfo ReadRunInfo(Reader& reader);
ShortDigest CheckpointDigest(ByteSpan encoded);

Path CheckpointPath(const Path& directory); //!< of checkpoint.dat

// Names in the booster's directory, which may be one in which users keep other files.
bool IsRunFile(const std::string& name);        //!< as RunPath() gives them
bool IsCheckpointFile(const std::string& name); //!< checkpoint and log
bool IsBoosterLock(const std::string& name);    //!< see LockBooster()
bool IsBadHintsFile(const std::string& name);   //!< see RememberBadHints()

/** Atomically replaces the checkpoint of a directory, log included; durable on return. */
Result<> SaveCheckpoint(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** With what its log adds. Nothing if there is none. Bad data, naming the file: it is damaged. */
Result<std::optional<Checkpoint>> LoadCheckpoint(Env& env, const Path& directory);

/** Removes checkpoint, runs and leftovers in the directory, but not the memory of bad hints. */
Result<> RemoveCheckpoint(Env& env, const Path& directory);

/** Removes the run files that `checkpoint` does not name. */
Result<> RemoveOtherRuns(Env& env, const Path& directory, const Checkpoint& checkpoint);

/** What a directory keeps of a sync that ended early. */
enum class KeptWork {
    kNone,
    kPublished,   //!< its chainstate is in place; what is left is of no use
    kUnpublished, //!< blocks folded, by a sync of any node and any hints
};
/** `best_block`: of the chainstate in place. Work of these hints counts as published, too, if it is
 *  complete and that chainstate ends at their terminal block: a crash may have come before the
 *  checkpoint could say so. A damaged checkpoint is unpublished: nothing says that it may go. */
Result<KeptWork> FindKeptWork(Env& env, const Path& directory, const Uint256& hints_id,
                              const BlockHash& best_block);

/** Keeps other nodes out of a directory that exists, as with -ibdboosterdir it may be shared. */
Result<std::unique_ptr<FileLock>> LockBooster(Env& env, const Path& directory);

// Hints that failed are remembered by id, so that a restart does not try them again; with the
// terminal block that they were tried on, as a bitmap does not name it and may be right on another
// branch.

Result<> RememberBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                          const BlockHash& terminal_hash, std::string_view reason);
/** Why these hints failed before on this branch; nothing if they did not. */
Result<std::optional<std::string>> KnownBadHints(Env& env, const Path& directory,
                                                 const Uint256& hints_id,
                                                 const BlockHash& terminal_hash);

} // namespace ibd

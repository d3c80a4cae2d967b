// JoinState: the durable part of a join: salt, options, the blocks read with their number of
// outputs, and the spills of unmatched records. The file is replaced atomically after the spills
// that it names were synced. A value; one thread. Format: doc/formats/spill.md.
#pragma once

#include "join/height_ranges.h"
#include "join/join_options.h"
#include "join/join_record.h"
#include "join/spill_file.h"
#include "swiftsync/first_pass.h"
#include "util/found.h"

namespace ibd {

/** Progress of the join that the state belongs to. */
enum class JoinStage : uint8_t {
    kReading = 0, //!< reads blocks, then joins partitions
    kPaired = 1,  //!< all pairs of outputs and spending inputs are found
    kHinted = 2,  //!< the hints are made: the state serves only as a FirstPass
};

struct JoinState {
    // Identity.
    std::array<uint8_t, 4> network_magic{};
    uint32_t terminal_height = 0;
    BlockHash terminal_hash;
    Uint256 rules; //!< FoldRulesId() of the rules under which the blocks were checked

    // Method.
    bool ordered = false; //!< all events are spilled and sorted; none are matched in memory
    bool pairs = false;   //!< pairs of outputs and spending inputs are kept
    /** Events have values (ValuedRecord), and the rules about coins are checked. */
    bool values = false;
    uint8_t partition_bits = 0;
    AggregateSalt salt{}; //!< for the names and the sums of outpoints
    /** Kind of the sum of outputs and inputs; nothing: no sum. */
    std::optional<AggregateKind> aggregate;

    // Results.
    JoinStage stage = JoinStage::kReading;
    uint64_t bytes = 0;            //!< of blocks read
    uint64_t records = 0;          //!< records made of these blocks
    uint64_t met = 0;              //!< records of pairs matched in memory
    Bytes sum;                     //!< Aggregate::Serialize() of the blocks read
    std::vector<uint32_t> outputs; //!< by height from 0, as hints count; kNotRead: not read yet
    /** If KeepsChecksums(), by height from 0: CRC-32C of the block. */
    std::vector<uint32_t> checksums;
    std::vector<SpillInfo> spills; //!< of events; none once all are paired
    std::vector<SpillInfo> pair_spills;
    std::vector<SpillInfo> value_spills; //!< spills of accounts and coins; none once the rules are
                                         //!< checked
    /** Coins made below `fetched_to` and spent there or above, but not below `fetched_for`. */
    std::vector<SpillInfo> coin_spills;
    uint32_t fetched_to = 0;  //!< height
    uint32_t fetched_for = 0; //!< height
    /** All blocks keep the rules, scripts excepted; nothing: not checked yet. False proves nothing.
     */
    std::optional<bool> rules_kept;

    static constexpr uint32_t kNotRead = ~uint32_t{0};

    bool KeepsChecksums() const { return pairs || aggregate; }
    bool IsRead(uint32_t height) const { return outputs[height] != kNotRead; }
    /** Whether all pairs of outputs and inputs are known and kept. */
    bool SaysWhatIsSpent() const { return pairs && stage == JoinStage::kPaired; }
    uint32_t BlocksRead() const;
    uint32_t NextSpillNumber() const;
    std::vector<SpillInfo> AllSpills() const;
    SpillOwner Owner() const;
    size_t RecordBytes() const { return values ? sizeof(ValuedRecord) : sizeof(JoinRecord); }
    /** The owner to expect of spills with another number of partitions. */
    SpillOwner OwnerOf(uint32_t partitions) const { return {Owner().join_id, partitions}; }
    /** Ranges of the chain by the block that makes an output, and by the block that spends it. */
    HeightRanges MakingRanges() const;
    HeightRanges SpendingRanges() const;

    Bytes Encode() const;
    static Result<JoinState> Decode(ByteSpan encoded);

private:
    uint32_t RangesFor(uint32_t each) const;
};

uint64_t SizeOf(std::span<const SpillInfo> spills);
/** All totals except the number of unspent outputs. */
JoinTotals TotalsOf(const JoinState& state);

/** Durable on return. */
Result<> SaveJoinState(Env& env, const Path& directory, const JoinState& state);
/** Saves the state durably, then removes the spills that it does not name. */
Result<> SaveStage(Env& env, const Path& directory, const JoinState& state);
/** Nothing: there is no state. Bad data, naming the file: it is damaged. */
Found<JoinState> LoadJoinState(Env& env, const Path& directory);
/** Numbers of all spills in the directory that `kept` does not name, of any join. */
Result<std::vector<uint32_t>> OtherSpills(Env& env, const Path& directory,
                                          const std::vector<SpillInfo>& kept);
/** Removes the spills that `kept` does not name. */
Result<> RemoveOtherSpills(Env& env, const Path& directory, const std::vector<SpillInfo>& kept);
/** Checks that all spills named by the state are complete, by opening them. Errors: see
 *  SpillReader. */
Result<> CheckSpills(Env& env, const Path& directory, const JoinState& state);
/** Call when all is read and the hints are made: removes the spills, which are no longer needed. No
 *  other code may use the directory. */
Result<> KeepFirstPass(Env& env, const Path& directory, JoinState state);
/** The sums for a fold of the blocks after the join. Nothing: the join kept no sums, or has not
 *  read all blocks. */
std::optional<FirstPass> FirstPassOf(const JoinState& state);
/** Whether `name` is that of a join's file: a spill, its state, or the state's temporary file. */
bool IsJoinFile(const std::string& name);
/** Bytes that RemoveJoin() would free; nothing: there is no join. */
Found<uint64_t> BytesOfJoin(Env& env, const Path& directory);
/** Removes state, spills and leftovers of a join, and no other file. */
Result<> RemoveJoin(Env& env, const Path& directory);

} // namespace ibd

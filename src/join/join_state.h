// JoinState: what a join has made durable - its salt, how it divides, which blocks are read and how
// many outputs each has, which spills hold what did not meet. A file that is replaced atomically
// after the spills it names were synced. A value; one thread. Format: doc/formats/spill.md.
#pragma once

#include "join/height_ranges.h"
#include "join/join_options.h"
#include "join/join_record.h"
#include "join/spill_file.h"
#include "swiftsync/first_pass.h"

namespace ibd {

/** How far the work is that the state is of. */
enum class JoinStage : uint8_t {
    kReading = 0, //!< blocks, until all are read; then partitions are joined
    kPaired = 1,  //!< it is known which input spends which output
    kHinted = 2,  //!< the hints are made: what is left is of use as a FirstPass only
};

struct JoinState {
    // What it belongs to.
    std::array<uint8_t, 4> network_magic{};
    uint32_t terminal_height = 0;
    BlockHash terminal_hash;
    Uint256 rules; //!< FoldRulesId() of the rules that its blocks were checked under

    // How it works.
    bool ordered = false; //!< all events are spilled and put in order, none meet before
    bool pairs = false;   //!< which input spends which output is kept
    /** Events have values (ValuedRecord), and blocks are held against the rules. */
    bool values = false;
    uint8_t partition_bits = 0;
    AggregateSalt salt{}; //!< what outpoints are named under, and summed
    /** What outputs and inputs are summed by, if they are. */
    std::optional<AggregateKind> aggregate;

    // What is done.
    JoinStage stage = JoinStage::kReading;
    uint64_t bytes = 0;            //!< of blocks
    uint64_t records = 0;          //!< made of them
    uint64_t met = 0;              //!< of these, in pairs that met in memory
    Bytes sum;                     //!< Aggregate::Serialize() of the blocks read
    std::vector<uint32_t> outputs; //!< by height from 0, as hints count; kNotRead: yet to be read
    /** If KeepsChecksums(), by height from 0: CRC-32C of the block. */
    std::vector<uint32_t> checksums;
    std::vector<SpillInfo> spills; //!< of events; none once they are paired
    std::vector<SpillInfo> pair_spills;
    std::vector<SpillInfo> value_spills; //!< none once they are looked at
    /** Of the outputs made below `fetched_to` those that are spent there or above, and not below
     *  `fetched_for`. */
    std::vector<SpillInfo> coin_spills;
    uint32_t fetched_to = 0;  //!< height
    uint32_t fetched_for = 0; //!< likewise
    /** By all blocks, but scripts; nothing: nobody has looked yet. False says no more than that. */
    std::optional<bool> rules_kept;

    static constexpr uint32_t kNotRead = ~uint32_t{0};

    bool KeepsChecksums() const { return pairs || aggregate; }
    bool IsRead(uint32_t height) const { return outputs[height] != kNotRead; }
    /** Which output each input spends is known, and kept. */
    bool SaysWhatIsSpent() const { return pairs && stage == JoinStage::kPaired; }
    uint32_t BlocksRead() const;
    uint32_t NextSpillNumber() const;
    std::vector<SpillInfo> AllSpills() const;
    SpillOwner Owner() const;
    size_t RecordBytes() const { return values ? sizeof(ValuedRecord) : sizeof(JoinRecord); }
    /** Of spills with another number of partitions. */
    SpillOwner OwnerOf(uint32_t partitions) const { return {Owner().join_id, partitions}; }
    /** Ranges of the chain by the block that makes an output, and by the one that spends it. */
    HeightRanges MakingRanges() const;
    HeightRanges SpendingRanges() const;

    Bytes Encode() const;
    static Result<JoinState> Decode(ByteSpan encoded);

private:
    uint32_t RangesFor(uint32_t each) const;
};

uint64_t SizeOf(std::span<const SpillInfo> spills);
/** All but what is unspent. */
JoinTotals TotalsOf(const JoinState& state);

/** Durable on return. */
Result<> SaveJoinState(Env& env, const Path& directory, const JoinState& state);
/** Likewise; then removes the spills that the state does not name any more. */
Result<> SaveStage(Env& env, const Path& directory, const JoinState& state);
/** Nothing if there is none. Bad data, naming the file: it is damaged. */
Result<std::optional<JoinState>> LoadJoinState(Env& env, const Path& directory);
/** The numbers of the spills that `kept` does not name, whatever they are of. */
Result<std::vector<uint32_t>> OtherSpills(Env& env, const Path& directory,
                                          const std::vector<SpillInfo>& kept);
/** Removes them. */
Result<> RemoveOtherSpills(Env& env, const Path& directory, const std::vector<SpillInfo>& kept);
/** Opens all that the state names, so that it is known to be whole. Errors as of SpillReader. */
Result<> CheckSpills(Env& env, const Path& directory, const JoinState& state);
/** All is read and the hints are made: what the spills said is of no more use. Nobody is at work in
 *  the directory. */
Result<> KeepFirstPass(Env& env, const Path& directory, JoinState state);
/** What the join found for who folds the blocks after it; nothing if it did not sum them, or has
 *  not read all of them. */
std::optional<FirstPass> FirstPassOf(const JoinState& state);
/** Whether a join gives this name to a file: a spill, or its state, also while that is replaced. */
bool IsJoinFile(const std::string& name);
/** What RemoveJoin() would remove, bytes; nothing if nothing is there. */
Result<std::optional<uint64_t>> BytesOfJoin(Env& env, const Path& directory);
/** Removes state, spills and leftovers, but nothing that is not a join's. */
Result<> RemoveJoin(Env& env, const Path& directory);

} // namespace ibd

// JoinState: what a join has made durable - its key, how it divides, which blocks are read and how
// many outputs each has, which spills hold what did not meet. A file that is replaced atomically
// after the spills it names were synced. A value; one thread. Format: doc/formats/spill.md.
#pragma once

#include "crypto/siphash.h"
#include "join/spill_file.h"

namespace ibd {

struct JoinState {
    // What it belongs to.
    std::array<uint8_t, 4> network_magic{};
    uint32_t terminal_height = 0;
    BlockHash terminal_hash;
    Uint256 rules; //!< FoldRulesId() of the rules that its blocks were checked under

    // How it works.
    bool ordered = false; //!< all events are spilled and put in order, none meet before
    uint8_t partition_bits = 0;
    SipKey key;

    // What is done.
    uint64_t bytes = 0;   //!< of blocks
    uint64_t records = 0; //!< made of them
    uint64_t met = 0;     //!< of these, in pairs that met in memory
    std::vector<uint32_t> outputs; //!< by height from 0, as hints count; kNotRead: yet to be read
    std::vector<SpillInfo> spills;

    static constexpr uint32_t kNotRead = ~uint32_t{0};

    bool IsRead(uint32_t height) const { return outputs[height] != kNotRead; }
    uint32_t BlocksRead() const;
    uint32_t NextSpillNumber() const;
    SpillOwner Owner() const;

    Bytes Encode() const;
    static Result<JoinState> Decode(ByteSpan encoded);
};

/** Durable on return. */
Result<> SaveJoinState(Env& env, const Path& directory, const JoinState& state);
/** Nothing if there is none. Bad data, naming the file: it is damaged. */
Result<std::optional<JoinState>> LoadJoinState(Env& env, const Path& directory);
/** Removes the spills that `kept` does not name, whatever they are of. */
Result<> RemoveOtherSpills(Env& env, const Path& directory, const std::vector<SpillInfo>& kept);
/** Removes state, spills and leftovers, but nothing that is not a join's. */
Result<> RemoveJoin(Env& env, const Path& directory);

} // namespace ibd

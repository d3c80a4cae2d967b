// FirstPass: the result of a pass that checked all blocks, so that the fold need not check them
// again: the sum of all outputs and inputs, and a checksum of each block. The fold then subtracts
// only the coins from the sum; see doc/develop/booster.md. A value.
#pragma once

#include "primitives/uint256.h"
#include "swiftsync/aggregate.h"

#include <optional>

namespace ibd {

struct FirstPass {
    BlockHash terminal_hash;
    Uint256 rules; //!< FoldRulesId() of the rules under which the blocks were checked
    AggregateKind aggregate = AggregateKind::kSha256;
    AggregateSalt salt{};
    /** Aggregate::Serialize() over the blocks 1 to the terminal block: every input, and every
     *  output that hints count, except those of overwritten coinbases. */
    Bytes sum;
    /** By height from 0: CRC-32C of the block, without bytes after its last transaction. */
    std::vector<uint32_t> checksums;
    /** Whether all blocks keep the rules about spent coins, scripts excepted; nothing: not checked.
     *  False does not prove a broken rule. */
    std::optional<bool> rules_kept = {};
};

} // namespace ibd

// FirstPass: what a pass that held all blocks against the rules keeps of them, so that the fold
// need not do it again: the sum of all that they make and spend, and by what each is known. The
// fold then takes the coins alone out of the sum; see doc/develop/booster.md. A value.
#pragma once

#include "primitives/uint256.h"
#include "swiftsync/aggregate.h"

#include <optional>

namespace ibd {

struct FirstPass {
    BlockHash terminal_hash;
    Uint256 rules; //!< FoldRulesId() of the rules that its blocks were checked under
    AggregateKind aggregate = AggregateKind::kSha256;
    AggregateSalt salt{};
    /** Aggregate::Serialize() of every output of the blocks 1 to the terminal one that hints count,
     *  those of overwritten coinbases apart, and of every input. */
    Bytes sum;
    /** By height from 0: CRC-32C of the block, without bytes behind its last transaction. */
    std::vector<uint32_t> checksums;
    /** Whether all blocks keep those about spent coins, too, but scripts; nothing: nobody has
     * looked. False says no more than that it seems otherwise. */
    std::optional<bool> rules_kept = {};
};

} // namespace ibd

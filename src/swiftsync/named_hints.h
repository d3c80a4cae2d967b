// NamedHints: hints that name the unspent outputs of a block, where others number them. Immutable;
// any thread.
#pragma once

#include "hints/hints.h"
#include "primitives/block.h"

namespace ibd {

class NamedHints : public Hints {
public:
    /** The hints of the block at `height`, of which `txs` are the transactions, with their ids. Bad
     *  data: they name an output that the block does not have so. */
    virtual Result<> ReadFor(std::span<const TxView> txs, uint32_t height,
                             BlockHints& out) const = 0;
};

} // namespace ibd

// NamedHints: hints that give the unspent outputs of a block by outpoint, where other formats
// number them. Immutable; any thread.
#pragma once

#include "hints/hints.h"
#include "primitives/block.h"

namespace ibd {

class NamedHints : public Hints {
public:
    /** The hints of the block at `height` with the transactions `txs`, whose txids are set. Bad
     *  data: they contain an output that the block does not have in this form. */
    virtual Result<> ReadFor(std::span<const TxView> txs, uint32_t height,
                             BlockHints& out) const = 0;
};

} // namespace ibd

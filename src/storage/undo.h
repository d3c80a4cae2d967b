// BlockUndo: the coins that a block spent, as rev files keep them. Value types, pure functions.
// Format: doc/formats/rev.md.
#pragma once

#include "script/coin.h"

#include <vector>

namespace ibd {

/** The coins spent by one transaction, in input order. */
struct TxUndo {
    std::vector<Coin> spent;

    bool operator==(const TxUndo&) const = default;
};

/** One TxUndo for each transaction of the block except the coinbase. */
struct BlockUndo {
    std::vector<TxUndo> txs;

    bool operator==(const BlockUndo&) const = default;

    Bytes Encode() const;
    /** Decodes a whole record; trailing bytes are an error. Errors name the offset. */
    static Result<BlockUndo> Decode(ByteSpan bytes);
};

/** Appends one spent coin in undo form; lets an engine write undo data without BlockUndo. */
void AppendSpentCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase);
/** Reads one; false with the reader failed when malformed. */
bool ReadSpentCoin(Reader& in, Coin& coin);

} // namespace ibd

// Unlocks the inputs of a transaction whose coins are locked by templates of a ScriptBook.
#pragma once

#include "sim/script_book.h"
#include "sim/sighash.h"

namespace ibd::sim {

/** The outputs that the inputs spend, in order. */
struct CoinToUnlock {
    uint16_t script = 0; //!< index in the book
    Amount value = 0;
};

/** Fills script_sig and witness of every input; the rest of `tx` must be final. Signatures take
 *  various hash types, drawn from `rng`. */
void UnlockInputs(MutableTransaction& tx, const std::vector<CoinToUnlock>& coins,
                  const ScriptBook& book, Rng& rng);

} // namespace ibd::sim

// The one transaction parser, shared by BlockView, Transaction and messages that carry several
// transactions: the wire form with BIP144's optional witness, read in place.
#pragma once

#include "primitives/serialize.h"
#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

/** Shortest possible serializations, to bound counts by the bytes that remain. */
inline constexpr size_t kMinTxSize = 10;    //!< version, two counts, lock time
inline constexpr size_t kMinInputSize = 41; //!< outpoint, empty script, sequence
inline constexpr size_t kMinOutputSize = 9; //!< value, empty script

/** Reads one transaction, appending its inputs and outputs to the arrays. All of `tx` is set but
 *  txid; its spans have their right lengths, but point into the arrays as they are now: set them
 *  anew when the arrays have stopped growing.
 *  Returns nullptr, or what is wrong at the reader's position, in the words of Core's log. */
const char* ParseTx(Reader& reader, bool allow_witness, std::vector<InputView>& inputs,
                    std::vector<OutputView>& outputs, TxView& tx);

} // namespace ibd

// The one transaction parser, shared by BlockView, Transaction and messages that carry several
// transactions: the wire form with BIP144's optional witness, read in place.
#pragma once

#include "primitives/serialize.h"
#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

/** Shortest serializations, which bound counts by the remaining bytes. */
inline constexpr size_t kMinTxSize = 10;    //!< version, two counts, lock time
inline constexpr size_t kMinInputSize = 41; //!< outpoint, empty script, sequence
inline constexpr size_t kMinOutputSize = 9; //!< value, empty script

/** Reads one transaction and appends its inputs and outputs to the arrays. Sets all of `tx` except
 *  txid. Its spans have the right lengths but point into the current arrays: set them again when
 *  the arrays have their final size. Returns nullptr, or the error at the reader's position, in the
 *  words of Core's log. */
const char* ParseTx(Reader& reader, bool allow_witness, std::vector<InputView>& inputs,
                    std::vector<OutputView>& outputs, TxView& tx);

} // namespace ibd

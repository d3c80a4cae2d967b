// StandInTx: a transaction that the rules about spent coins take for another, of which no more is
// known than what they look at: how many inputs, their relative locks, the sum of the outputs.
// Signature operations it has none. One thread. Memory: views of the inputs of the largest.
#pragma once

#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

/** Whether an input has a relative lock (BIP68). */
bool HasRelativeLock(const TxView& tx);

class StandInTx {
public:
    /** `sequences`: of all inputs if it has a relative lock, else none. Until the next call. */
    TxView Of(size_t inputs, std::span<const uint32_t> sequences, Amount value_out);
    /** A coinbase of which only its value is looked at. Likewise. */
    TxView Coinbase(Amount value);

private:
    std::vector<InputView> m_inputs;
    OutputView m_output;
};

} // namespace ibd

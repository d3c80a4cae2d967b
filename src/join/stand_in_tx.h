// StandInTx: a transaction with the properties that the rules about spent coins read: the number of
// inputs, their relative locks, the sum of the outputs. It has no signature operations. One thread.
// Memory: views of the inputs of the largest.
#pragma once

#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

/** Whether an input has a relative lock (BIP68). */
bool HasRelativeLock(const TxView& tx);

class StandInTx {
public:
    /** `sequences`: of all inputs if the transaction has a relative lock, else none. Valid until
     *  the next call. */
    TxView Of(size_t inputs, std::span<const uint32_t> sequences, Amount value_out);
    /** A coinbase of which only the value is read. Valid until the next call. */
    TxView Coinbase(Amount value);

private:
    std::vector<InputView> m_inputs;
    OutputView m_output;
};

} // namespace ibd

// See stand_in_tx.h.
#include "join/stand_in_tx.h"

#include "consensus/tx_verify.h"

#include <algorithm>

namespace ibd {

bool HasRelativeLock(const TxView& tx)
{
    return tx.version >= 2 && std::any_of(tx.inputs.begin(), tx.inputs.end(), [](const auto& in) {
               return !(in.sequence & kSequenceDisableFlag) &&
                      in.sequence & (kSequenceTypeFlag | kSequenceMask);
           });
}

/** Makes inputs that spend arbitrary outpoints, and one output. */
TxView StandInTx::Of(size_t inputs, std::span<const uint32_t> sequences, Amount value_out)
{
    static constexpr std::array<uint8_t, kOutpointSize> kSomething = {1};
    InputView input;
    input.prevout_bytes = kSomething.data();
    if (m_inputs.size() < inputs) m_inputs.resize(inputs, input);
    for (size_t i = 0; i < sequences.size(); ++i) m_inputs[i].sequence = sequences[i];
    m_output.value = value_out;
    TxView out;
    out.version = sequences.empty() ? 1 : 2; // 1: sequences are not read
    out.inputs = std::span(m_inputs).first(inputs);
    out.outputs = {&m_output, 1};
    return out;
}

TxView StandInTx::Coinbase(Amount value)
{
    m_output.value = value;
    TxView out;
    out.outputs = {&m_output, 1};
    return out;
}

} // namespace ibd

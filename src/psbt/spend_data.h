// What inputs and outputs of PSBTs tell a signer, and what they keep of what it found. Pure.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Keys, signatures, scripts and where keys come from, as a signer takes them. */
SpendData SpendDataOf(const PsbtInput& input);
SpendData SpendDataOf(const PsbtOutput& output);

/** Where `data` is complete the input becomes final. */
void TakeSpendData(PsbtInput& input, const SpendData& data);
void TakeSpendData(PsbtOutput& output, const SpendData& data);

} // namespace ibd

// Converts the data of PSBT inputs and outputs for a signer, and stores the signer's results. Pure.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** The keys, signatures, scripts and key origins for a signer. */
SpendData SpendDataOf(const PsbtInput& input);
SpendData SpendDataOf(const PsbtOutput& output);

/** Stores `data` in the input; if it is complete, the input becomes final. */
void TakeSpendData(PsbtInput& input, const SpendData& data);
void TakeSpendData(PsbtOutput& output, const SpendData& data);

} // namespace ibd

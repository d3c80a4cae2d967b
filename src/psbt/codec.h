// Decodes and encodes PSBTs (BIP174, 370, 371, 373). Field order and refusals are Core's. Pure; any
// thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Errors in Core's words. */
Result<Psbt> DecodePsbt(ByteSpan bytes);

/** `psbt` of version 0 must have an unsigned transaction, as every decoded one has. */
Bytes EncodePsbt(const Psbt& psbt);

} // namespace ibd

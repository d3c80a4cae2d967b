// Bytes of PSBTs to fields and back (BIP174, 370, 371, 373). Field order and what is refused are
// Core's. Pure; any thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Errors in Core's words. */
Result<Psbt> DecodePsbt(ByteSpan bytes);

/** `psbt` must have an unsigned transaction if its version is 0, as all that were decoded have. */
Bytes EncodePsbt(const Psbt& psbt);

} // namespace ibd

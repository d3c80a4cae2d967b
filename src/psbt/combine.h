// The combiner (BIP174, BIP370): merges several Psbts of one transaction; and joins several
// transactions into one. Pure; any thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Adds the data of `other`; existing data has precedence. False, with `psbt` unchanged: it is of
 *  another transaction or version. */
bool CombinePsbt(Psbt& psbt, const Psbt& other);

/** Adds inputs (without signatures), outputs and unknown fields of a Psbt of version 0 to `psbt`.
 *  As in Core, extended keys and proprietary fields are not taken. Returns an input that both have;
 *  then nothing is added. */
std::optional<OutPoint> JoinPsbt(Psbt& psbt, const Psbt& other);

} // namespace ibd

// The combiner (BIP174, BIP370): what several Psbts know of one transaction in one; and several
// transactions as one. Pure; any thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Adds what `other` knows. False, with `psbt` left as it was, if it is about another transaction
 *  or of another version. What both know stays as it is. */
bool CombinePsbt(Psbt& psbt, const Psbt& other);

/** Adds inputs, without their signatures, outputs and unknown fields of a Psbt of version 0 to one;
 *  extended keys and proprietary fields are left behind, as Core does. Returns an input that is
 *  there twice, with which nothing is added. */
std::optional<OutPoint> JoinPsbt(Psbt& psbt, const Psbt& other);

} // namespace ibd

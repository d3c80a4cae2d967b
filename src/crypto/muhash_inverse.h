// Inversion modulo 2^3072 - 1103717 for Num3072; see muhash.h. A pure function.
#pragma once

#include "crypto/num3072_limbs.h"

namespace ibd {

/** The inverse of a number below the modulus; zero for zero. Its time depends on the number, which
 *  is public. */
Num3072Limbs InverseModP(const Num3072Limbs& value);

} // namespace ibd

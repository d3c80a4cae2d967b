// Inversion modulo 2^3072 - 1103717 for Num3072; see muhash.h. A pure function.
#pragma once

#include "crypto/muhash.h"

namespace ibd {

/** The inverse of a number below the modulus; zero for zero. Its time depends on the number, which
 *  is no secret. */
Num3072::Limbs InverseModP(const Num3072::Limbs& value);

} // namespace ibd

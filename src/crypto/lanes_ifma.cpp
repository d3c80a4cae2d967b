// The lanes of lanes_field.h with AVX-512 IFMA, which multiplies 52-bit numbers in 64-bit elements.
#include "crypto/lanes.h"

#if defined(__x86_64__)
#include "crypto/lanes_ifma.h"

// In these headers, functions that set or read single lanes are compiled for any processor. All
// others have the attribute of the target, or are inlined into functions that have it.
#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"

namespace ibd::lanes {

VerifyFunction IfmaVerifier() { return HasIfma() ? VerifyOn<Secp256k1> : nullptr; }

} // namespace ibd::lanes
#else
ibd::lanes::VerifyFunction ibd::lanes::IfmaVerifier() { return nullptr; }
#endif

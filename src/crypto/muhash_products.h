// Products of many elements of MuHash at once, in vector lanes. Used by muhash.h and its tests.
// Pure functions.
#pragma once

#include "crypto/num3072_limbs.h"
#include "crypto/sha256_state.h"

#include <span>

namespace ibd {

inline constexpr size_t kMuHashLanes = 8;
using MuHashFactors = std::array<Num3072Limbs, kMuHashLanes>;

/** Fills the factors with numbers whose product is, modulo p, that of the elements of the keys. A
 *  key is the SHA-256 of an element's bytes; there must be at least one. */
using MuHashProducts = void (*)(std::span<const Hash32> keys, MuHashFactors& factors);

/** With AVX-512 IFMA; null on a processor without it. */
MuHashProducts IfmaMuHashProducts();

} // namespace ibd

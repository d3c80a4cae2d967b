// The product of two 3072-bit numbers, the inner loop of MuHash. Listed for dispatch, tests and
// benches; see muhash.h. Pure functions.
#pragma once

#include "crypto/num3072_limbs.h"

#include <span>

namespace ibd {

using WideProduct = std::array<uint64_t, 2 * kNum3072Limbs>;

struct WideMultiplier {
    const char* name;
    bool available; //!< whether this CPU has the instructions; otherwise it must not be called
    void (*multiply)(const Num3072Limbs& a, const Num3072Limbs& b, WideProduct& out);
};

/** All compiled multipliers, the portable one first, the fastest last. */
std::span<const WideMultiplier> WideMultipliers();

/** The fastest one for this CPU. */
const WideMultiplier& BestWideMultiplier();

} // namespace ibd

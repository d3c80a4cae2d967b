// See lanes.h.
#include "crypto/lanes.h"

namespace ibd::lanes {

VerifyFunction BestVerifier()
{
    return IfmaVerifier() != nullptr ? IfmaVerifier() : Avx2Verifier();
}

size_t SignaturesInTimeOfOne()
{
    const bool only_avx2 = IfmaVerifier() == nullptr && Avx2Verifier() != nullptr;
    return only_avx2 ? 1 : 4;
}

} // namespace ibd::lanes

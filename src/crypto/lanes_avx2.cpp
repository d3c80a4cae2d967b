// The lanes of lanes_field.h with AVX2 and FMA.
#include "crypto/lanes.h"

#if defined(__x86_64__)
#include "crypto/lanes_avx2.h"

// In these headers, functions that set or read single lanes are compiled for any processor. All
// others have the attribute of the target, or are inlined into functions that have it.
#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"

namespace ibd::lanes {

namespace {

/** Not inlined, so that no arithmetic moves out of the scope of the rounding mode. */
__attribute__((noinline)) void VerifyRounding(std::span<const Job> jobs,
                                              std::span<Verdict> verdicts)
{
    VerifyOn<Secp256k1>(jobs, verdicts);
}

void Verify(std::span<const Job> jobs, std::span<Verdict> verdicts)
{
    const RoundTowardZero rounding;
    VerifyRounding(jobs, verdicts);
}

} // namespace

VerifyFunction Avx2Verifier()
{
    const bool available =
        __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    return available ? Verify : nullptr;
}

} // namespace ibd::lanes
#else
ibd::lanes::VerifyFunction ibd::lanes::Avx2Verifier() { return nullptr; }
#endif

// The lanes of AVX2 on curves of a few points, where the processor has the instructions.
#include "crypto/lanes.h"

#if defined(__x86_64__)
#include "crypto/lanes_avx2.h"

#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"

#include "lanes_toy.h"
#include "support/skips.h"

namespace ibd::lanes {

TEST_CASE("lanes, AVX2: every addition, and verdicts, on curves of 13 and 199 points")
{
    if (Avx2Verifier() == nullptr) return test::SkipTest("the processor has no AVX2 with FMA");
    const RoundTowardZero rounding;
    CheckEveryAddition<Toy13>();
    CheckEveryAddition<Toy199>();
    CheckVerdicts<Toy13>(1);
    CheckVerdicts<Toy199>(20);
}

} // namespace ibd::lanes
#endif

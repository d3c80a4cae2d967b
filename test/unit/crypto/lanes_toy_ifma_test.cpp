// The lanes of AVX-512 IFMA on curves of a few points: every verdict, where the processor has the
// instructions.
#include "crypto/lanes.h"

#if defined(__x86_64__)
#include "crypto/lanes_ifma.h"

#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"

#include "lanes_toy.h"
#include "support/skips.h"

namespace ibd::lanes {

namespace {

bool CanRun()
{
    if (HasIfma()) return true;
    test::SkipTest("the processor has no AVX-512 IFMA");
    return false;
}

} // namespace

TEST_CASE("lanes, IFMA: every addition and doubling on curves of 13 and 199 points")
{
    if (!CanRun()) return;
    CheckEveryAddition<Toy13>();
    CheckEveryAddition<Toy199>();
    CheckEveryDoubling<Toy13>();
    CheckEveryDoubling<Toy199>();
}

TEST_CASE("lanes, IFMA: every verdict on a curve of 13 points, unsure in exceptional cases only")
{
    if (!CanRun()) return;
    CheckEveryVerdict<Toy13>();
}

TEST_CASE("lanes, IFMA: verdicts on a curve of 199 points, every key with every factor")
{
    if (!CanRun()) return;
    CheckVerdicts<Toy199>(1);
}

} // namespace ibd::lanes
#endif

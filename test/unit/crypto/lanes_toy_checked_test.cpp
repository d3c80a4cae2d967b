// The lanes on curves of a few points, with every bound checked.
#include "lanes_checked.h"

#include "lanes_toy.h"

namespace ibd::lanes {

TEST_CASE("lanes, checked: every addition and doubling on curves of 13 and 199 points")
{
    CheckEveryAddition<Toy13>();
    CheckEveryAddition<Toy199>();
    CheckEveryDoubling<Toy13>();
    CheckEveryDoubling<Toy199>();
}

TEST_CASE(
    "lanes, checked: verdicts on curves of 13 and 199 points, unsure in exceptional cases only")
{
    CheckVerdicts<Toy13>(1);
    CheckVerdicts<Toy199>(66);
}

} // namespace ibd::lanes

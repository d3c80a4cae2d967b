// RequireAccepted(): for runs of the engine that must end well.
#pragma once

#include "swiftsync/engine.h"

#include "support/catch.h"

namespace ibd::test {

inline void RequireAccepted(const Result<Verdict>& verdict)
{
    if (!verdict) FAIL(verdict.Message());
    INFO(verdict->reason);
    REQUIRE(verdict->kind == VerdictKind::kAccepted);
}

} // namespace ibd::test

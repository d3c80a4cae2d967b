// For runs of the engine that must end well.
#pragma once

#include "sim/fault_env.h"
#include "swiftsync/engine.h"

#include "support/catch.h"

namespace ibd::test {

inline void RequireAccepted(const Result<Verdict>& verdict)
{
    if (!verdict) FAIL(verdict.Message());
    INFO(verdict->reason);
    REQUIRE(verdict->kind == VerdictKind::kDone);
}

/** One of the first reads of block files returns bytes that differ from the stored ones. */
template <typename Setup>
void RequireReadAgain()
{
    for (int nth = 0; nth < 12; ++nth) {
        Setup setup(6);
        FaultEnv env;
        int left = nth;
        env.CorruptReads([&](const Path& path) {
            return path.filename().string().starts_with("blk") && left-- == 0;
        });
        RequireAccepted(setup.Sync(env, setup.Options()));
        REQUIRE(left < 0);
        setup.RequireRight();
    }
}

} // namespace ibd::test

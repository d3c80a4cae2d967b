// Disk space for a sync, and the unfinished work of calls at the start.
#include "booster/join_steps.h"
#include "booster/kept_call.h"

#include "booster/booster_machine.h"
#include "sim/fault_env.h"
#include "swiftsync/checkpoint.h"

#include "support/catch.h"
#include "support/kept_log.h"
#include "support/temp_dir.h"

namespace ibd::test {

TEST_CASE("the needs of one disk are added, also for folders that are made later")
{
    const TempDir dir;
    FaultEnv env;
    env.SetSpace(uint64_t{1000});
    const RoomNeed needs[] = {{dir / "a" / "b", 600}, {dir.Get(), 300}, {dir / "c", 200}};
    const auto shortage = FindShortage(env, needs);
    REQUIRE(shortage.Ok());
    REQUIRE(shortage->has_value());
    CHECK((*shortage)->place == dir.Get());
    CHECK((*shortage)->needed == 1100);
    CHECK((*shortage)->free == 1000);
    env.SetSpace(uint64_t{1100});
    CHECK_FALSE(Must(FindShortage(env, needs)));
    CHECK(ExistingFolder(env, dir / "a" / "b") == dir.Get());
}

TEST_CASE("free space that cannot be read is an error, not a shortage")
{
    const TempDir dir;
    FaultEnv env;
    env.SetSpace(SystemError("statvfs failed"));
    const RoomNeed needs[] = {{dir.Get(), 1}};
    const auto shortage = FindShortage(env, needs);
    REQUIRE_FALSE(shortage.Ok());
    CHECK(shortage.Message() == "statvfs failed");
}

TEST_CASE("unfinished work of a call in a folder that is locked is logged and kept")
{
    World world(5, 20);
    Machine machine(world, world.dir / "node");
    FaultEnv env;
    Must(machine.Open(env));
    const Path folder = world.dir / "join";
    Must(env.CreateDirectories(folder));
    Must(WriteFileAtomically(env, folder / "spill000000.dat", Bytes(1000)));
    const auto lock = Must(LockBooster(env, folder));
    KeptLog log;
    TendKeptCall(env, log, machine.Chain(), folder);
    CHECK_THAT(log.Text(), Catch::Contains("unfinished work of a call") &&
                               Catch::Contains("left alone: cannot lock"));
    CHECK(env.Exists(folder / "spill000000.dat"));
}

} // namespace ibd::test

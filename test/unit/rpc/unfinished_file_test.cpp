// The temporary file of a call: claimed again after a failure, and removed at the next start.
#include "rpc/unfinished_file.h"

#include "sim/fault_env.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include "support/catch.h"
#include "support/kept_log.h"
#include "swiftsync/coin_sorter.h"

namespace ibd::test {

TEST_CASE("a path can be claimed after each failure of a claim", "[unfinished_file]")
{
    bool completed = false;
    for (uint64_t fails = 0; !completed; ++fails) {
        const TempDir dir;
        FaultEnv env;
        uint64_t operations = 0;
        // Removals work: otherwise nothing could be undone.
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.kind != "remove" && operations++ == fails;
        });
        {
            const auto first = UnfinishedFile::Claim(env, dir.Get(), dir / "file.incomplete");
            completed = first.Ok();
            env.SetScript({});
        }
        CAPTURE(fails);
        CHECK(UnfinishedFile::Claim(env, dir.Get(), dir / "file.incomplete").Ok());
        CHECK_FALSE(env.Exists(dir / "file.incomplete"));
        REQUIRE(fails < 100);
    }
}

TEST_CASE("a start removes the file that a note names", "[unfinished_file]")
{
    const TempDir dir;
    FaultEnv env;
    KeptLog log;
    {
        auto claimed = Must(UnfinishedFile::Claim(env, dir.Get(), dir / "file.incomplete"));
        env.CrashAt(env.Operations()); // the removals at the end of the call fail
    }
    REQUIRE(env.Exists(dir / "file.incomplete"));
    FaultEnv next;
    Must(RemoveUnfinishedFiles(next, log, dir.Get()));
    CHECK_FALSE(next.Exists(dir / "file.incomplete"));
    CHECK_THAT(log.Text(), Catch::Contains("which a call was writing when the node died"));
    Must(UnfinishedFile::Claim(next, dir.Get(), dir / "file.incomplete"));
}

TEST_CASE("a start removes the coins that a call was sorting", "[unfinished_file]")
{
    const TempDir dir;
    FaultEnv env;
    KeptLog log;
    const Path folder = NewCoinsFolder(dir.Get());
    CHECK(NewCoinsFolder(dir.Get()) != folder);
    std::filesystem::create_directories(folder);
    const std::atomic<bool> go_on = false;
    const Uint256 id;
    CoinSorter sorter(env, folder, id, 1 << 12);
    Must(sorter.Add(id.Span(), 0, Bytes(10)));
    REQUIRE(Must(sorter.Finish(go_on)));
    CHECK_FALSE(std::filesystem::is_empty(folder));
    Must(RemoveUnfinishedFiles(env, log, dir.Get()));
    CHECK_FALSE(std::filesystem::exists(folder));
    CHECK_THAT(log.Text(), Catch::Contains("which a call was sorting when the node died"));
}

} // namespace ibd::test

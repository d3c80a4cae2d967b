// A data directory whose blocks were pruned: refused by every way to start, and left as it is.
#include "node/node.h"
#include "rpc/server.h"
#include "support/temp_dir.h"

#include "support/catch.h"

using namespace ibd;
using ibd::test::TempDir;

TEST_CASE("pruned blocks are refused before anything is wiped")
{
    const TempDir temp;
    const auto env = MakePosixEnv();
    const DataPaths paths{temp.Get(), temp.Get(), temp / "bitcoin.conf",
                          "regtest",  "regtest",  18443};
    const auto dir = DataDir::Open(*env, {temp.Get(), {}, "regtest"});
    REQUIRE(dir.Ok());
    const auto log = FileLogger::Open(*env, LogOptions{});
    REQUIRE(log.Ok());
    BlockIndexDbOptions index;
    index.directory = (*dir)->BlockIndex();
    {
        const auto db = BlockIndexDb::Open(*env, **log, index);
        REQUIRE(db.Ok());
        REQUIRE((*db)->SetFlag("prunedblockfiles", true).Ok());
    }
    for (const char* how : {"-server=0", "-reindex-chainstate", "-reindex"}) {
        INFO(how);
        ArgsManager args;
        AddCommonOptions(args);
        AddNodeOptions(args);
        AddRpcOptions(args);
        const char* words[] = {"x", "-server=0", how};
        REQUIRE(args.ParseCommandLine(3, words).Ok());
        const auto params = ReadChainParams(args, "regtest");
        auto options = ReadNodeOptions(args, *params, (*dir)->Net(), 0);
        REQUIRE(options.Ok());
        Node node(*env, **log, args, paths, *params, **dir, std::move(*options));
        const Result<> end = node.Run([] {});
        REQUIRE_FALSE(end.Ok());
        CHECK_THAT(end.Message(), Catch::Contains("pruned"));
        CHECK_FALSE(env->Exists((*dir)->Chainstate() / "CURRENT"));
    }
    const auto db = BlockIndexDb::Open(*env, **log, index);
    REQUIRE(db.Ok());
    CHECK(*(*db)->Flag("prunedblockfiles") == true);
}

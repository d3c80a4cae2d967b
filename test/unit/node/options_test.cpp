// bitcoind's options: what they become, and which values are refused.
#include "node/options.h"
#include "node/settings.h"
#include "rpc/server.h"
#include "support/temp_dir.h"

#include <catch2/catch.hpp>

using namespace ibd;
using ibd::test::TempDir;

namespace {

Result<NodeOptions> Read(std::vector<const char*> words, const char* chain = "regtest")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    words.insert(words.begin(), "bitcoind");
    IBD_RETURN_IF_ERROR(args.ParseCommandLine(static_cast<int>(words.size()), words.data()));
    IBD_ASSIGN_OR_RETURN(const ChainParams params, ReadChainParams(args, chain));
    return ReadNodeOptions(args, params, "/data/regtest");
}

} // namespace

TEST_CASE("-dbcache is divided as in Core")
{
    const auto normal = Read({});
    REQUIRE(normal.Ok());
    CHECK(normal->cache.index_db == 2 << 20);
    CHECK(normal->cache.coins_db == 8 << 20);
    CHECK(normal->cache.coins == 440 << 20);
    const auto least = Read({"-dbcache=1"});
    CHECK(least->cache.index_db + least->cache.coins_db + least->cache.coins == 4 << 20);
    CHECK(Read({"-dbcache=-5"})->cache.coins == least->cache.coins);
}

TEST_CASE("-par counts threads, or cores left free, at least one")
{
    CHECK(Read({"-par=3"})->script_threads == 3);
    CHECK(Read({"-par=100"})->script_threads == 16);
    CHECK(Read({"-par=-1000"})->script_threads == 1);
    CHECK(Read({"-par=0"})->script_threads >= 1);
}

TEST_CASE("assumed-valid block and minimum work")
{
    const std::string hash(64, 'a');
    CHECK(Read({("-assumevalid=" + hash).c_str()})->assume_valid.ToHex() == hash);
    CHECK(Read({"-assumevalid=0"})->assume_valid.IsNull());
    CHECK(Read({"-noassumevalid"})->assume_valid.IsNull());
    CHECK(Read({}, "main")->assume_valid == MakeChainParams(Network::kMain).consensus.assume_valid);
    CHECK_FALSE(Read({"-assumevalid=xyz"}).Ok());
    CHECK(Read({"-minimumchainwork=ff"})->minimum_work == Arith256(255));
    CHECK_FALSE(Read({"-minimumchainwork=-1"}).Ok());
}

TEST_CASE("the booster's options are passed on or refused by name")
{
    const auto some =
        Read({"-ibdboosterfile=/h", "-ibdboosteraggregate=muhash", "-ibdboosterloader=batch",
              "-ibdboosterthreads=5", "-ibdboostermem=7", "-ibdboosterdir=/elsewhere",
              "-ibdboosterinterval=9", "-ibdboosterintervalbytes=1000"});
    REQUIRE(some.Ok());
    CHECK(some->hints == Path("/h"));
    CHECK(some->booster.aggregate == AggregateKind::kMuHash);
    CHECK(some->booster.loader == LoaderKind::kBatch);
    CHECK(some->booster.threads == 5);
    CHECK(some->booster.memory_bytes == 7 << 20);
    CHECK(some->booster.checkpoint_seconds == 9);
    CHECK(some->booster.checkpoint_bytes == 1000);
    CHECK(some->booster.directory.parent_path() == Path("/elsewhere"));
    CHECK(some->booster.directory.filename().string().starts_with("regtest-"));
    CHECK(Read({})->booster.directory == Path("/data/regtest/ibdbooster"));
    CHECK_FALSE(Read({})->hints);
    CHECK_FALSE(Read({"-noibdboosterfile"})->hints);
    for (const char* bad : {"-ibdboosterfile=", "-ibdboosteraggregate=md5", "-ibdboosterloader=x",
                            "-ibdboosterthreads=0", "-ibdboostermem=0", "-ibdboosterinterval=0",
                            "-ibdboosterintervalbytes=0", "-ibdboosterdir=",
                            "-ibdboosterfullvalidation=true", "-ibdboosterfullvalidation=2",
                            "-noibdboosterfullvalidation=true"}) {
        const auto refused = Read({bad});
        REQUIRE_FALSE(refused.Ok());
        const std::string name(bad, std::string(bad).find('='));
        CHECK_THAT(refused.Message(), Catch::StartsWith(name));
    }
    for (const char* yes : {"-ibdboosterfullvalidation", "-ibdboosterfullvalidation=1",
                            "-noibdboosterfullvalidation=0"}) {
        CHECK(Read({yes})->booster.full_validation);
    }
    for (const char* no : {"-ibdboosterfullvalidation=0", "-noibdboosterfullvalidation"}) {
        CHECK_FALSE(Read({no})->booster.full_validation);
    }
    CHECK(Read({"-noibdboosterdir"})->booster.directory == Path("/data/regtest/ibdbooster"));
}

TEST_CASE("what this version cannot do is refused, what has no effect accepted")
{
    for (const char* bad : {"-txindex", "-prune=550", "-coinstatsindex=1", "-blockfilterindex=1",
                            "-blockfilterindex=basic", "-txospenderindex"}) {
        const auto refused = Read({bad});
        REQUIRE_FALSE(refused.Ok());
        CHECK_THAT(refused.Message(), Catch::Contains("not supported"));
    }
    CHECK(Read({"-txindex=0", "-prune=0", "-nolisten", "-connect=0", "-disablewallet",
                "-maxconnections=8", "-whitelist=127.0.0.1", "-noblockfilterindex"})
              .Ok());
}

TEST_CASE("options of Core that have no effect are all known, and named when set")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    // One of each part that Core has and this version has not.
    const char* words[] = {"x",           "-zmqpubrawtx=tcp://127.0.0.1:28332",
                           "-rest",       "-i2psam=127.0.0.1:7656",
                           "-nolisten",   "-maxorphantx=5",
                           "-paytxfee=1", "-deprecatedrpc=x"};
    REQUIRE(args.ParseCommandLine(std::size(words), words).Ok());
    CHECK(OptionsWithoutEffect(args) == std::vector<std::string>{"-i2psam", "-listen",
                                                                 "-maxorphantx", "-paytxfee",
                                                                 "-rest", "-zmqpubrawtx"});
    CHECK(OptionsWithoutEffect(ArgsManager()).empty());
}

TEST_CASE("tests may move activations; bad values are named")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    const char* words[] = {"x", "-testactivationheight=segwit@7", "-test=bip94"};
    REQUIRE(args.ParseCommandLine(3, words).Ok());
    const auto params = ReadChainParams(args, "regtest");
    REQUIRE(params.Ok());
    CHECK(params->consensus.segwit_height == 7);
    CHECK(params->consensus.enforce_bip94);
    CHECK_FALSE(Read({"-testactivationheight=segwit"}).Ok());
    CHECK_FALSE(Read({"-signetchallenge=zz"}, "signet").Ok());
    CHECK_FALSE(Read({"-signetchallenge=51", "-signetchallenge=51"}, "signet").Ok());
    CHECK(Read({"-signetchallenge=51"}, "signet").Ok());
    CHECK_FALSE(Read({"-vbparams=testdummy:x:0"}).Ok());
    CHECK_FALSE(Read({"-test=bip94"}, "main").Ok());
    // What is another network's is not looked at.
    CHECK(Read({"-signetchallenge=zz", "-vbparams=testdummy:x:0"}, "main").Ok());
}

TEST_CASE("settings.json ranks between command line and bitcoin.conf")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    CHECK(ReadSettingsFile(*env, args, dir.Get()).Ok());
    const auto write = [&](const char* text) {
        REQUIRE(WriteFileAtomically(*env, dir / "settings.json", AsBytes(text)).Ok());
    };
    write(R"({"dbcache":"77","reindex":true,"loadblock":["a","b"],"foreign":1,"par":2})");
    REQUIRE(ReadSettingsFile(*env, args, dir.Get()).Ok());
    REQUIRE(args.ParseConfig("dbcache=5\n", "conf").Ok());
    CHECK(args.GetInt("-dbcache", 0) == 77);
    CHECK(args.GetBool("-reindex", false));
    CHECK(args.GetAll("-loadblock") == std::vector<std::string>{"a", "b"});
    const char* words[] = {"x", "-dbcache=9"};
    REQUIRE(args.ParseCommandLine(2, words).Ok());
    CHECK(args.GetInt("-dbcache", 0) == 9);
    write("[1]");
    CHECK_THAT(ReadSettingsFile(*env, args, dir.Get()).Message(), Catch::Contains("settings.json"));
}

TEST_CASE("help shows every group; every shown option has help")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    const std::string help = args.Help(false);
    for (const char* part : {"Options:", "IBD Booster options:", "Debugging/Testing options:",
                             "Chain selection options:", "RPC server options:", "-ibdboosterfile",
                             "-reindex-chainstate", "-rpcauth"}) {
        CHECK_THAT(help, Catch::Contains(part));
    }
    CHECK_THAT(help, !Catch::Contains("-checkblocks"));
    CHECK_THAT(args.Help(true), Catch::Contains("-checkblocks"));
    for (size_t at = 0, end; at < help.size(); at = end + 1) {
        end = help.find('\n', at);
        CHECK(end - at <= 79);
    }
}

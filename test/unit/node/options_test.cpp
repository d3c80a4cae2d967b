// bitcoind's options: their parsed values, and refused values.
#include "mempool/pool_config.h"
#include "net/network_config.h"
#include "net/option_rows.h"
#include "node/option_table.h"
#include "node/options.h"
#include "node/parameter_interaction.h"
#include "node/settings.h"
#include "node/start_checks.h"
#include "rpc/server_options.h"
#include "support/option_checks.h"
#include "support/temp_dir.h"
#include "util/byte_units.h"
#include "util/version.h"

#include "support/catch.h"

using namespace ibd;
using ibd::test::TempDir;

namespace {

constexpr uint64_t kGibibyte = 1 << 30;

Result<NodeOptions> Read(std::vector<const char*> words, const char* chain = "regtest",
                         uint64_t memory = 2 * kGibibyte)
{
    const auto env = MakePosixEnv();
    FileLogger log(*env);
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    words.insert(words.begin(), "bitcoind");
    IBD_RETURN_IF_ERROR(args.ParseCommandLine(static_cast<int>(words.size()), words.data()));
    IBD_ASSIGN_OR_RETURN(const ChainParams params, ReadChainParams(args, chain));
    args.SelectNetwork(chain);
    ApplyParameterInteraction(args, log);
    IBD_RETURN_IF_ERROR(CheckParameters(args, params, log));
    const NetworkConfigSource source{args, params, *env, log, "/data/regtest"};
    IBD_ASSIGN_OR_RETURN(PeerNetworkOptions network, ReadNetworkOptions(source));
    IBD_RETURN_IF_ERROR(ReadListenOptions(source, network));
    IBD_ASSIGN_OR_RETURN(NodeOptions options,
                         ReadNodeOptions(args, params, "/data/regtest", memory));
    options.network = std::move(network);
    return options;
}

} // namespace

TEST_CASE("help states the defaults that the options have, and ranges hold")
{
    const std::vector<std::string> none;
    const auto read = Read({});
    REQUIRE(read.Ok());
    for (const NodeTopic& topic : NodeTopics()) {
        CHECK(test::WrongDefaults(topic.rows, *read) == none);
        CHECK(test::AcceptedBeyond(topic.rows) == none);
    }
    for (const PeerOptionTopic& topic : PeerOptionTopics()) {
        CHECK(test::WrongDefaults(topic.rows, read->network) == none);
        CHECK(test::AcceptedBeyond(topic.rows) == none);
    }
    CHECK(test::WrongDefaults(LogTopic().rows, LogOptions()) == none);
    CHECK(test::WrongDefaults(RpcServerTopic().rows, RpcServerOptions()) == none);
    CHECK(test::AcceptedBeyond(RpcServerTopic().rows) == none);
}

TEST_CASE("-dbcache is divided as in Core")
{
    const auto normal = Read({});
    REQUIRE(normal.Ok());
    CHECK(normal->cache.index_db == 2 << 20);
    CHECK(normal->cache.coins_db == 8 << 20);
    CHECK(normal->cache.coins == 440 << 20);
    CHECK(Read({}, "regtest", 4 * kGibibyte)->cache.coins == 1014 << 20);
    CHECK(Read({}, "regtest", 4 * kGibibyte - 1)->cache.coins == 440 << 20);
    const auto least = Read({"-dbcache=1"});
    CHECK(least->cache.index_db + least->cache.coins_db + least->cache.coins == 4 << 20);
    CHECK(Read({"-dbcache=-5"})->cache.coins == least->cache.coins);
    CHECK(Read({"-dbcache=17592186044416"})->cache.coins > size_t{1} << 60); // 2^64 bytes
}

TEST_CASE("-par counts threads, or cores left free, at least one")
{
    CHECK(Read({"-par=3"})->script_threads == 3);
    CHECK(Read({"-par=100"})->script_threads == 16);
    CHECK(Read({"-par=-1000"})->script_threads == 1);
    CHECK(Read({"-par=0"})->script_threads >= 1);
    CHECK(Read({"-par=3"})->prevout_threads == 8);
    CHECK(Read({"-prevoutfetchthreads=0"})->prevout_threads == 0);
    CHECK(Read({"-noprevoutfetchthreads"})->prevout_threads == 0);
    CHECK(Read({"-prevoutfetchthreads=3"})->prevout_threads == 3);
    CHECK(Read({"-prevoutfetchthreads=100"})->prevout_threads == 16);
}

TEST_CASE("directories of stores are canonical")
{
    const TempDir dir;
    std::filesystem::create_directories(dir / "fast");
    std::filesystem::create_directory_symlink(dir / "fast", dir / "link");
    const std::string link = (dir / "link").string();
    const std::string chainstate = "-chainstatedir=" + link, index = "-indexdir=" + link + "/.";
    const auto some = Read({chainstate.c_str(), index.c_str()});
    CHECK(some->chainstate_dir == std::filesystem::canonical(dir / "fast"));
    CHECK(some->index_dir == some->chainstate_dir);
    for (const auto& none : {Read({}), Read({"-nochainstatedir", "-noindexdir"})}) {
        CHECK(none->chainstate_dir.empty());
        CHECK(none->index_dir.empty());
    }
    CHECK(Read({"-chainstatedir=none"})->chainstate_dir ==
          std::filesystem::current_path() / "none");
}

TEST_CASE("assumed-valid block and minimum work")
{
    const std::string hash(64, 'a');
    CHECK(Read({("-assumevalid=" + hash).c_str()})->assume_valid.ToHex() == hash);
    const BlockHash built_in = MakeChainParams(Network::kMain).consensus.assume_valid;
    CHECK(Read({("-assumevalid=" + hash).c_str()}, "main")->known_valid.ToHex() == hash);
    for (const char* none : {"-assumevalid=0", "-ibdboosterfullvalidation", "-listen=0"}) {
        CHECK(Read({none}, "main")->known_valid == built_in);
        CHECK(Read({none})->known_valid.IsNull());
    }
    CHECK(Read({"-assumevalid=0"})->assume_valid.IsNull());
    CHECK(Read({"-noassumevalid"})->assume_valid.IsNull());
    CHECK(Read({}, "main")->assume_valid == built_in);
    CHECK(Read({"-assumevalid=0x1f"})->assume_valid.ToHex() == std::string(62, '0') + "1f");
    CHECK(Read({"-minimumchainwork=ff"})->minimum_work == Arith256(255));
    CHECK(Read({"-minimumchainwork=0x0"})->minimum_work == Arith256(0));
}

TEST_CASE("the booster's options are passed on or refused by name")
{
    const auto some = Read({"-ibdboosterfile=/h", "-ibdboosteraggregate=muhash",
                            "-ibdboosterloader=batch", "-ibdboosterthreads=5", "-ibdboosterpeers=9",
                            "-ibdboostermem=7", "-ibdboosterdir=/elsewhere",
                            "-ibdboosterinterval=9", "-ibdboosterintervalbytes=1000"});
    REQUIRE(some.Ok());
    CHECK(some->hints.file == Path("/h"));
    CHECK(some->booster.aggregate == AggregateKind::kMuHash);
    CHECK(some->booster.loader == LoaderKind::kBatch);
    CHECK(some->booster.threads == 5);
    CHECK(some->booster_peers == 9);
    CHECK(some->booster.memory_bytes == 7 << 20);
    CHECK(some->booster.checkpoint_seconds == 9);
    CHECK(some->booster.checkpoint_bytes == 1000);
    CHECK(some->booster.directory.parent_path() == Path("/elsewhere"));
    CHECK(some->booster.directory.filename().string().starts_with("regtest-"));
    CHECK(Read({})->booster.directory == Path("/data/regtest/ibdbooster"));
    CHECK_FALSE(Read({})->hints.file);
    CHECK_FALSE(Read({"-noibdboosterfile"})->hints.file);
    const auto automatic =
        Read({"-ibdboosterfile=auto", "-ibdboosterhash=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"});
    CHECK_FALSE(automatic->hints.file);
    CHECK(automatic->hints.folder == Path("/data/regtest/hints"));
    CHECK(automatic->hints.hash->ToHex() == std::string(64, 'a'));
    for (const char* never : {"-ibdbooster=0", "-noibdbooster"}) {
        CHECK_FALSE(Read({"-ibdboosterfile=auto", never})->hints.folder);
        CHECK_FALSE(Read({"-ibdboosterfile=auto", "-prune=1", never})->hints.folder);
        CHECK_THAT(Read({"-ibdboosterfile=/h", never}).Message(),
                   Catch::StartsWith("-ibdbooster=0 means never"));
    }
    CHECK(Read({"-ibdboosterfile=auto", "-ibdbooster"})->hints.folder);
    for (const char* bad :
         {"-ibdboosterthreads=abc", "-ibdboosterthreads=", "-ibdboosterpeers=3x",
          "-ibdboostermem=1.5", "-ibdboosterinterval=", "-ibdboosterintervalbytes=much",
          "-ibdboosterwait=soon", "-ibdboosterleast=-1", "-servehints=maybe",
          "-ibdboosterhash=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "-ibdboosterfile=", "-ibdboosterhash=12", "-ibdboosterhash=x", "-ibdboosteraggregate=md5",
          "-ibdboosterloader=x", "-ibdboosterthreads=0", "-ibdboosterpeers=1",
          "-ibdboosterpeers=65", "-ibdboostermem=0", "-ibdboosterinterval=0",
          "-ibdboosterintervalbytes=0", "-ibdboosterdir=", "-ibdboosterfullvalidation=true",
          "-ibdboosterfullvalidation=2", "-noibdboosterfullvalidation=true"}) {
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

TEST_CASE("what has no effect is accepted")
{
    CHECK(Read({"-prune=0"})->prune_target == 0);
    CHECK(Read({"-prune=1"})->prune_target == kManualPruning);
    CHECK(Read({"-prune=550"})->prune_target == 550u << 20);
    CHECK(Read({"-prune=0", "-nolisten", "-connect=0", "-disablewallet", "-maxconnections=8",
                "-whitelist=127.0.0.1", "-noblockfilterindex"})
              .Ok());
}

TEST_CASE("indexes get their share of -dbcache")
{
    const auto none = Read({"-dbcache=100", "-noblockfilterindex", "-txindex=0"});
    CHECK_FALSE(none->indexes.tx);
    CHECK_FALSE(none->indexes.filters);
    CHECK(none->indexes.tx_cache + none->indexes.filter_cache + none->indexes.spender_cache == 0);
    for (const char* filters : {"-blockfilterindex", "-blockfilterindex=basic"}) {
        const auto all = Read({"-dbcache=100", "-txindex", "-txospenderindex", filters});
        CHECK(all->indexes.tx);
        CHECK(all->indexes.spenders);
        CHECK(all->indexes.filters);
        CHECK(all->indexes.tx_cache == 10 << 20);
        CHECK(all->indexes.spender_cache == 5 << 20);
        CHECK(all->indexes.filter_cache == 5 << 20);
        CHECK(all->cache.coins == none->cache.coins - (20 << 20));
    }
}

TEST_CASE("options that ask for what this version does not do are named, others not")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    // One of each part that Core has and this version has not, and some that switch such parts off.
    const char* words[] = {"x",          "-walletnotify=x",  "-rest",      "-peerblockfilters",
                           "-listen=0",  "-dbcache=500",     "-connect=0", "-fallbackfee=1",
                           "-nodnsseed", "-deprecatedrpc=x", "-natpmp=0",  "-disablewallet"};
    REQUIRE(args.ParseCommandLine(std::size(words), words).Ok());
    CHECK(OptionsWithoutEffect(args) == std::vector<std::string>{"-fallbackfee", "-walletnotify"});
    CHECK(OptionsWithoutEffect(ArgsManager()).empty());
}

TEST_CASE("addresses to listen at and to connect to")
{
    const auto plain = Read({})->network;
    CHECK(plain.listen);
    CHECK(plain.bind_any);
    CHECK(plain.listen_port == 18444);
    REQUIRE(plain.binds.size() == 1); // for the onion service
    CHECK(plain.binds[0].address.ToString() == "127.0.0.1:18445");
    CHECK(plain.binds[0].onion);
    CHECK_FALSE(plain.connect_only);
    CHECK(plain.peers.services == (kNodeNetwork | kNodeWitness | kNodeNetworkLimited | kNodeP2pV2));
    CHECK_FALSE(plain.reachable.Contains(AddressNetwork::kOnion));
    CHECK_FALSE(plain.reachable.Contains(AddressNetwork::kCjdns));

    const auto bound = Read({"-bind=127.0.0.1:1", "-bind=127.0.0.2=onion", "-v2transport=0",
                             "-whitebind=noban@127.0.0.3:3", "-whitelist=mempool@10.0.0.0/8",
                             "-maxsendbuffer=7", "-maxuploadtarget=1G", "-timeout=0"})
                           ->network;
    CHECK_FALSE(bound.bind_any);
    REQUIRE(bound.binds.size() == 3);
    CHECK(bound.binds[0].address.ToString() == "127.0.0.1:1");
    CHECK(bound.binds[1].address.ToString() == "127.0.0.3:3");
    CHECK(bound.binds[1].permissions == kPermitNoBan);
    CHECK(bound.binds[2].address.ToString() == "127.0.0.2:18445");
    CHECK(bound.binds[2].onion);
    CHECK(bound.listen_port == 1);
    REQUIRE(bound.whitelist.size() == 1);
    CHECK(bound.whitelist[0].permissions == kPermitMempool);
    CHECK(bound.max_send_buffer == 7000);
    CHECK(bound.max_upload == 1 << 30);
    CHECK(bound.connect_milliseconds == 5000);
    CHECK((bound.peers.services & kNodeP2pV2) == 0);

    for (const char* none : {"-connect=0", "-noconnect"}) {
        const auto alone = Read({none})->network;
        CHECK(alone.connect_only);
        CHECK(alone.connect.empty());
        CHECK_FALSE(alone.listen);
        CHECK_FALSE(alone.dns_seed);
    }
    const auto few = Read({"-connect=a", "-connect=b:1", "-addnode=c"})->network;
    CHECK(few.connect == std::vector<std::string>{"a", "b:1"});
    CHECK(few.added == std::vector<std::string>{"c"});
}

TEST_CASE("networks that a proxy serves")
{
    const auto all = Read({"-proxy=127.0.0.1:9"})->network;
    CHECK(all.name_proxy.ToString() == "127.0.0.1:9");
    CHECK(all.name_proxy.randomize);
    CHECK(all.proxies.size() == 4);
    CHECK(all.reachable.Contains(AddressNetwork::kOnion));
    CHECK_FALSE(all.listen);
    const auto some = Read({"-proxy=127.0.0.1:9=ipv4", "-proxy=unix:/x=onion", "-proxyrandomize=0",
                            "-proxy=0=ipv4"})
                          ->network;
    REQUIRE(some.proxies.size() == 1);
    CHECK(some.proxies.at(AddressNetwork::kOnion).ToString() == "unix:/x");
    CHECK_FALSE(some.proxies.at(AddressNetwork::kOnion).randomize);
    CHECK_FALSE(some.name_proxy.IsSet());
    const auto onion = Read({"-proxy=127.0.0.1:9", "-onion=127.0.0.1"})->network;
    CHECK(onion.proxies.at(AddressNetwork::kOnion).ToString() == "127.0.0.1:9050");
    const auto none = Read({"-proxy=127.0.0.1:9", "-noonion"})->network;
    CHECK_FALSE(none.proxies.contains(AddressNetwork::kOnion));
    CHECK_FALSE(none.reachable.Contains(AddressNetwork::kOnion));
}

TEST_CASE("bad values are refused in Core's words")
{
    const std::pair<const char*, const char*> kRefused[] = {
        {"-assumevalid=xyz", "Invalid assumevalid block hash specified (xyz), must be up to 64 hex "
                             "digits (or 0 to disable)"},
        {"-minimumchainwork=-1",
         "Invalid minimum work specified (-1), must be up to 64 hex digits"},
        {"-prevoutfetchthreads=-1", "-prevoutfetchthreads must be non-negative (got -1). Use 0 to "
                                    "disable parallel input fetching."},
        {"-proxy=", "Can not set"},
        {"-proxy=no.such.host.invalid",
         "Invalid -proxy address or hostname: 'no.such.host.invalid'"},
        {"-proxy=127.0.0.1=", "Invalid -proxy address or hostname, ends with '=': '127.0.0.1='"},
        {"-proxy=127.0.0.1=ham", "Unrecognized network in -proxy='127.0.0.1=ham': 'ham'"},
        {"-proxy=127.0.0.1:x", "Invalid port specified in -proxy: '127.0.0.1:x'"},
        {"-port=65536", "Invalid port specified in -port: '65536'"},
        {"-onlynet=foo", "Unknown network specified in -onlynet: 'foo'"},
        {"-onlynet=cjdns", "Outbound connections restricted to CJDNS (-onlynet=cjdns) but "
                           "-cjdnsreachable is not provided"},
        {"-uacomment=/", "User Agent comment (/) contains unsafe characters."},
        {"-externalip=no.such.host.invalid",
         "Cannot resolve -externalip address: 'no.such.host.invalid'"},
        {"-bind=no.such.host.invalid", "Cannot resolve -bind address: 'no.such.host.invalid'"},
        {"-maxconnections=-1", "-maxconnections must be greater or equal than zero"},
        {"-peertimeout=0", "peertimeout must be a positive integer."},
        {"-blockmintxfee=x", "Invalid amount for -blockmintxfee=<amount>: 'x'"},
        {"-minrelaytxfee=-1", "Invalid amount for -minrelaytxfee=<amount>: '-1'"},
        {"-blockreservedweight=1999",
         "-blockreservedweight (1999) is lower than minimum safety value of (2000)"},
        {"-blockmaxweight=4000001",
         "-blockmaxweight (4000001) exceeds consensus maximum block weight (4000000)"},
        {"-limitclustercount=65", "limitclustercount must be less than or equal to 64"},
        {"-prune=-1", "Prune cannot be configured with a negative value."},
        {"-prune=549",
         "Prune configured below the minimum of 550 MiB.  Please use a higher number."},
        {"-blockfilterindex=x", "Unknown -blockfilterindex value x."},
        {"-debug=x", "Unsupported logging category -debug=x."},
        {"-debugexclude=none", "Unsupported logging category -debugexclude=none."},
        {"-loglevel=error",
         "Unsupported global logging level -loglevel=error. Valid values: info, debug, trace."},
        {"-blocksdir=/no/such/dir", "Specified blocks directory \"/no/such/dir\" does not exist."},
        {"-chainstatedir=", "-chainstatedir: names no directory"},
        {"-indexdir=", "-indexdir: names no directory"},
    };
    for (const auto& [option, text] : kRefused) {
        INFO(option);
        const auto refused = Read({option});
        if (std::string(text) == "Can not set") { // an empty proxy is none
            CHECK(refused.Ok());
        } else {
            REQUIRE_FALSE(refused.Ok());
            CHECK(refused.Message() == text);
        }
    }
    CHECK(Read({"-proxy"}).Message() ==
          "Can not set -proxy with no value. Please specify value with -proxy=value.");
    CHECK(Read({"-bind=127.0.0.1", "-listen=0"}).Message() ==
          "Cannot set -bind or -whitebind together with -listen=0");
    CHECK(Read({"-bind=127.0.0.1:9", "-bind=127.0.0.1:9"}).Message() ==
          "Duplicate binding configuration for address 127.0.0.1:9. Please check your -bind, "
          "-bind=...=onion and -whitebind settings.");
    CHECK(Read({"-testactivationheight=csv@1"}, "main").Message() ==
          "The -testactivationheight option may not be used on mainnet.");
    CHECK_THAT(Read({"-loglevel=net:x"}).Message(),
               Catch::StartsWith("Unsupported category-specific logging level -loglevel=net:x. "));
}

TEST_CASE("the user agent begins with Core's name, and 256 bounds all of it")
{
    const std::string plain = Read({})->network.peers.user_agent;
    CHECK(plain == "/Satoshi:31.0.0/ibd-booster:0.1.0/");
    CHECK(Read({"-uacomment=one", "-uacomment=two 2"})->network.peers.user_agent ==
          "/Satoshi:31.0.0/ibd-booster:0.1.0(one; two 2)/");

    const std::string longest(256 - plain.size() - std::string("()").size(), 'a');
    const std::string option = "-uacomment=" + longest;
    CHECK(Read({option.c_str()})->network.peers.user_agent.size() == 256);
    CHECK(Read({(option + 'a').c_str()}).Message() ==
          "Total length of network version string (257) exceeds maximum length (256). Reduce the "
          "number or size of uacomments.");
}

TEST_CASE("what Core's test framework sets is accepted")
{
    CHECK(Read({"-logtimemicros",
                "-debug",
                "-debugexclude=leveldb",
                "-debugexclude=rand",
                "-uacomment=testnode0",
                "-disablewallet",
                "-logthreadnames",
                "-logsourcelocations",
                "-loglevel=trace",
                "-nologratelimit",
                "-v2transport=0",
                "-bind=0.0.0.0:11000",
                "-bind=127.0.0.1:11001=onion",
                "-rpcservertimeout=99000",
                "-rpcdoccheck=1",
                "-rpcthreads=2",
                "-fallbackfee=1",
                "-keypool=1",
                "-discover=0",
                "-dnsseed=0",
                "-fixedseeds=0",
                "-listenonion=0",
                "-peertimeout=999999999",
                "-natpmp=0",
                "-shrinkdebugfile=0",
                "-unsafesqlitesync=1",
                "-connect=0",
                "-maxconnections=94",
                "-par=2",
                "-prevoutfetchthreads=1"})
              .Ok());
}

TEST_CASE("units of bytes and amounts of money")
{
    CHECK(ParseByteUnits("5", 1'000'000) == 5'000'000);
    CHECK(ParseByteUnits("2k", 1) == 2'000);
    CHECK(ParseByteUnits("2K", 1) == 2'048);
    CHECK(ParseByteUnits("1T", 1) == uint64_t{1} << 40);
    for (const char* bad :
         {"", "1.5G", "-1", "k", "99999999999999999999", "18446744073709551615k"}) {
        CHECK_FALSE(ParseByteUnits(bad, 1));
    }
    CHECK(ParseMoney("0.00000001") == 1);
    CHECK(ParseMoney(" 21000000 ") == 2'100'000'000'000'000);
    CHECK(ParseMoney(".5") == 50'000'000);
    for (const char* bad : {"", "x", "-1", "1.123456789", "21000000.1", "1 2", "1e3"}) {
        CHECK_FALSE(ParseMoney(bad));
    }
}

TEST_CASE("tests may move activations; bad values are named")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    const char* words[] = {"x", "-testactivationheight=segwit@7", "-test=bip94",
                           "-signetchallenge=51"};
    REQUIRE(args.ParseCommandLine(std::size(words), words).Ok());
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
    // Options of another network are not checked; deployments are checked on every network.
    CHECK(Read({"-signetchallenge=zz"}, "main").Ok());
    for (const char* chain : {"test", "testnet4", "signet"}) {
        INFO(chain);
        const auto moved = ReadChainParams(args, chain);
        REQUIRE(moved.Ok());
        CHECK(moved->consensus.segwit_height == 7);
        CHECK_FALSE(Read({"-vbparams=testdummy:x:0"}, chain).Ok());
    }
}

TEST_CASE("settings.json ranks between command line and bitcoin.conf")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    REQUIRE(ReadSettingsFile(*env, args, dir.Get()).Ok());
    const Path path = dir / "settings.json";
    const auto text = [&] { return std::string(AsChars(*ReadWholeFile(*env, path))); };
    CHECK(text() == "{\n    \"_warning_\": \"This file is automatically generated and updated by " +
                        std::string(kProjectName) +
                        ". Please do not edit this file while the node is running, as any changes "
                        "might be ignored or overwritten.\"\n}\n");
    const auto write = [&](const char* json) {
        REQUIRE(WriteFileAtomically(*env, path, AsBytes(json)).Ok());
    };
    write(R"({"dbcache":"77","reindex":true,"loadblock":["a","b"],"foreign":1,"par":2})");
    const auto told = ReadSettingsFile(*env, args, dir.Get());
    REQUIRE(told.Ok());
    CHECK(told->warnings == std::vector<std::string>{"Ignoring unknown rw_settings value foreign"});
    CHECK(told->lines[0] == "Setting file arg: dbcache = \"77\"");
    CHECK_THAT(text(), Catch::Contains("\n    \"foreign\": 1,\n")); // kept
    REQUIRE(args.ParseConfig("dbcache=5\n", "conf").Ok());
    CHECK(args.GetInt("-dbcache", 0) == 77);
    CHECK(args.GetBool("-reindex", false));
    CHECK(args.GetAll("-loadblock") == std::vector<std::string>{"a", "b"});
    const char* words[] = {"x", "-dbcache=9"};
    REQUIRE(args.ParseCommandLine(2, words).Ok());
    CHECK(args.GetInt("-dbcache", 0) == 9);
    const auto refused = [&](const char* json) {
        write(json);
        return ReadSettingsFile(*env, args, dir.Get()).Message();
    };
    CHECK(refused("[1]") == "Settings file could not be read:\n- Found non-object value [1] in "
                            "settings file " +
                                path.string());
    CHECK(refused(R"({"par":1,"par":2})") ==
          "Settings file could not be read:\n- Found duplicate key par in settings file " +
              path.string());
    CHECK_THAT(refused("{"), Catch::Contains(path.string() + " does not contain valid JSON."));
    CHECK(text() == "{"); // an unreadable file is kept for the user
}

TEST_CASE("parameter interaction sets options that the user did not, and logs it")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    FileLogger log(*env);
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    const char* words[] = {"x", "-connect=0", "-dnsseed=1"};
    REQUIRE(args.ParseCommandLine(3, words).Ok());
    ApplyParameterInteraction(args, log);
    CHECK(args.GetBool("-listen") == false);
    CHECK(args.GetBool("-listenonion") == false);
    CHECK(args.GetBool("-dnsseed") == true);
    LogOptions options;
    options.file = dir / "log";
    REQUIRE(log.Start(options).Ok());
    const std::string text(AsChars(*ReadWholeFile(*env, dir / "log")));
    CHECK_THAT(text, Catch::Contains(" parameter interaction: -connect or -maxconnections=0 set -> "
                                     "setting -listen=0\n"));
    CHECK_THAT(text, !Catch::Contains("-dnsseed=0"));
}

TEST_CASE("help shows every group; every shown option has help")
{
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    const std::string help = args.Help(false);
    for (const char* part :
         {"Options:", "IBD Booster options:", "Connection options:", "Debugging/Testing options:",
          "Chain selection options:", "Node relay options:", "Block creation options:",
          "RPC server options:", "-ibdboosterfile", "-reindex-chainstate", "-rpcauth",
          "-proxy=<ip>"}) {
        CHECK_THAT(help, Catch::Contains(part));
    }
    CHECK_THAT(help, !Catch::Contains("-checkblocks"));
    CHECK_THAT(args.Help(true), Catch::Contains("-checkblocks"));
    for (size_t at = 0, end; at < help.size(); at = end + 1) {
        end = help.find('\n', at);
        CHECK(end - at <= 79);
    }
}

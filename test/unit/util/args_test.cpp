// Options: forms on the command line, sections and includes of bitcoin.conf, precedence, help.
#include "support/temp_dir.h"
#include "util/args.h"

#include <catch2/catch.hpp>

using namespace ibd;
using ibd::test::TempDir;
using Strings = std::vector<std::string>;

namespace {

ArgsManager MakeArgs()
{
    ArgsManager args;
    for (const char* name : {"-conf", "-datadir", "-includeconf", "-chain", "-regtest", "-signet",
                             "-testnet", "-testnet4", "-dbcache", "-debug", "-server", "-foo"}) {
        args.Add(name, "", "help", OptionGroup::kGeneral);
    }
    args.Add("-port", "=<port>", "port", OptionGroup::kConnection, OptionSpec::kNetworkOnly);
    args.Add("-secret", "=<s>", "hidden one", OptionGroup::kRpc,
             OptionSpec::kHidden | OptionSpec::kSensitive | OptionSpec::kNoNegation);
    return args;
}

Result<> Parse(ArgsManager& args, std::vector<const char*> words)
{
    words.insert(words.begin(), "program");
    return args.ParseCommandLine(static_cast<int>(words.size()), words.data());
}

} // namespace

TEST_CASE("forms of options on the command line")
{
    ArgsManager args = MakeArgs();
    REQUIRE(Parse(args, {"-dbcache=100", "--dbcache=200", "-server", "-debug=net", "-debug=rpc",
                         "-nofoo", "command", "-x"})
                .Ok());
    CHECK(args.GetInt("-dbcache", 5) == 200);
    CHECK(args.GetBool("-server", false));
    CHECK(args.GetAll("-debug") == Strings{"net", "rpc"});
    CHECK(args.Get("-debug") == "rpc");
    CHECK(args.IsNegated("-foo"));
    CHECK(args.IsSet("-foo"));
    CHECK_FALSE(args.GetBool("-foo", true));
    CHECK(args.GetAll("-foo").empty());
    CHECK(args.Command() == Strings{"command", "-x"});
    CHECK_FALSE(args.IsSet("-port"));
    CHECK(args.GetInt("-port", 8333) == 8333);
}

TEST_CASE("negation hides what came before, a value brings it back")
{
    ArgsManager args = MakeArgs();
    REQUIRE(Parse(args, {"-debug=a", "-nodebug", "-debug=b", "-nofoo=0", "-foo=3", "-nofoo"}).Ok());
    REQUIRE(args.ParseConfig("debug=c\nfoo=7\n", "conf").Ok());
    CHECK(args.GetAll("-debug") == Strings{"b"});
    CHECK(args.IsNegated("-foo"));
    CHECK(args.Get("-foo") == "0");
    ArgsManager twice = MakeArgs();
    REQUIRE(Parse(twice, {"-nofoo=0"}).Ok());
    CHECK(twice.GetBool("-foo", false));
    CHECK_FALSE(twice.IsNegated("-foo"));
}

TEST_CASE("unknown and forbidden options are errors that name them")
{
    for (const char* bad :
         {"-unknown=1", "-nosecret", "-", "-=1", "-includeconf=x", "-test.port=1"}) {
        INFO(bad);
        ArgsManager args = MakeArgs();
        if (std::string(bad) == "-") {
            CHECK(Parse(args, {bad}).Ok());
            CHECK(args.Command() == Strings{"-"});
        } else {
            CHECK_FALSE(Parse(args, {bad}).Ok());
        }
    }
    ArgsManager args = MakeArgs();
    CHECK_THAT(Parse(args, {"-unknown=1"}).Message(), Catch::Contains("-unknown"));
}

TEST_CASE("-noincludeconf leaves out the files that bitcoin.conf includes")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    REQUIRE(WriteFileAtomically(*env, dir / "bitcoin.conf", AsBytes("includeconf=more.conf\n")));
    REQUIRE(WriteFileAtomically(*env, dir / "more.conf", AsBytes("foo=7\n")));
    for (const bool with : {true, false}) {
        ArgsManager args = MakeArgs();
        REQUIRE(Parse(args, {with ? "-server" : "-noincludeconf"}).Ok());
        REQUIRE(args.ReadConfigFiles(*env, dir.Get()).Ok());
        CHECK(args.IsSet("-foo") == with);
    }
}

TEST_CASE("sections, precedence and network-only options")
{
    const std::string conf = "# comment\n dbcache = 1 # more\ndbcache=2\nport=1000\nfoo=top\n"
                             "regtest.debug=dotted\n[regtest]\ndbcache=3\ndebug=r\n[main]\nfoo=m\n";
    ArgsManager args = MakeArgs();
    REQUIRE(Parse(args, {"-debug=cl"}).Ok());
    REQUIRE(args.ParseConfig(conf, "conf").Ok());
    args.SelectNetwork("regtest");
    CHECK(args.GetInt("-dbcache", 0) == 3);
    CHECK(args.GetAll("-dbcache") == Strings{"3", "1", "2"});
    CHECK(args.GetAll("-debug") == Strings{"cl", "dotted", "r"});
    CHECK_FALSE(args.IsSet("-port"));
    CHECK(args.Get("-foo") == "top");
    CHECK(args.Misplaced() == Strings{"-port"});

    args.SelectNetwork("main");
    CHECK(args.Misplaced().empty());
    CHECK(args.GetInt("-port", 0) == 1000);
    CHECK(args.GetInt("-dbcache", 0) == 1); // in a file the first value counts
    CHECK(args.Get("-foo") == "m");
    args.AddSetting("-foo", "setting");
    CHECK(args.Get("-foo") == "setting");
    args.ForceSet("-foo", "forced");
    CHECK(args.Get("-foo") == "forced");
}

TEST_CASE("malformed configuration files name the line")
{
    for (const char* bad : {"foo", "nofoo", "-foo=1", "secret=1\nnosecret=1"}) {
        ArgsManager args = MakeArgs();
        const auto result = args.ParseConfig(std::string("dbcache=1\n") + bad, "the.conf");
        REQUIRE_FALSE(result.Ok());
        CHECK_THAT(result.Message(), Catch::StartsWith("the.conf:"));
    }
    ArgsManager args = MakeArgs();
    REQUIRE(args.ParseConfig("[nowhere]\nfoo=1\n[main]\nnonsense=1", "c").Ok());
    CHECK(args.Warnings().size() == 2);
}

TEST_CASE("the chain is chosen once, by flag or by name")
{
    const auto chain = [](std::vector<const char*> words, const char* conf) {
        ArgsManager args = MakeArgs();
        REQUIRE(Parse(args, std::move(words)).Ok());
        REQUIRE(args.ParseConfig(conf, "c").Ok());
        const auto name = args.ChainName();
        return name.Ok() ? *name : "error: " + name.Message();
    };
    CHECK(chain({}, "") == "main");
    CHECK(chain({"-regtest"}, "") == "regtest");
    CHECK(chain({"-chain=signet"}, "") == "signet");
    CHECK(chain({}, "testnet4=1") == "testnet4");
    CHECK(chain({"-noregtest"}, "regtest=1") == "main");
    CHECK(chain({"-testnet=0"}, "") == "main");
    CHECK(chain({}, "[regtest]\nsignet=1") == "main");
    CHECK_THAT(chain({"-regtest", "-signet"}, ""), Catch::StartsWith("error"));
    CHECK_THAT(chain({"-regtest", "-chain=main"}, ""), Catch::StartsWith("error"));
    CHECK_THAT(chain({"-chain=nonet"}, ""), Catch::Contains("nonet"));
}

TEST_CASE("configuration files include others, once")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto write = [&](const char* name, std::string_view text) {
        REQUIRE(WriteFileAtomically(*env, dir / name, AsBytes(text)).Ok());
    };
    {
        ArgsManager args = MakeArgs();
        CHECK(args.ReadConfigFiles(*env, dir.Get()).Ok()); // none there, none asked for
    }
    write("bitcoin.conf", "regtest=1\nincludeconf=a.conf\n[regtest]\nincludeconf=b.conf\n");
    write("a.conf", "foo=a\nincludeconf=b.conf\n");
    write("b.conf", "[regtest]\ndbcache=77\n");
    ArgsManager args = MakeArgs();
    REQUIRE(args.ReadConfigFiles(*env, dir.Get()).Ok());
    args.SelectNetwork("regtest");
    CHECK(args.Get("-foo") == "a");
    CHECK(args.GetInt("-dbcache", 0) == 77);
    CHECK(args.Warnings().size() == 1);

    write("a.conf", "regtest=0\nchain=main\n");
    write("bitcoin.conf", "includeconf=c.conf\n");
    ArgsManager missing = MakeArgs();
    CHECK_THAT(missing.ReadConfigFiles(*env, dir.Get()).Message(), Catch::Contains("c.conf"));
    write("c.conf", "regtest=1\n");
    ArgsManager changed = MakeArgs();
    CHECK_FALSE(changed.ReadConfigFiles(*env, dir.Get()).Ok());

    ArgsManager named = MakeArgs();
    REQUIRE(Parse(named, {"-conf=other.conf"}).Ok());
    CHECK_THAT(named.ReadConfigFiles(*env, dir.Get()).Message(), Catch::Contains("other.conf"));
    ArgsManager off = MakeArgs();
    REQUIRE(Parse(off, {"-noconf"}).Ok());
    CHECK(off.ReadConfigFiles(*env, dir.Get()).Ok());
    CHECK_FALSE(off.IsSet("-includeconf"));
}

TEST_CASE("help shows groups in order and hides hidden options; the log hides secrets")
{
    ArgsManager args = MakeArgs();
    const std::string help = args.Help(false);
    CHECK_THAT(help, Catch::StartsWith("Options:\n\n  -chain\n       help\n\n"));
    CHECK_THAT(help, Catch::Contains("Connection options:\n\n  -port=<port>\n"));
    CHECK_THAT(help, !Catch::Contains("-secret"));
    CHECK_THAT(args.Help(true), Catch::Contains("-secret=<s>"));
    REQUIRE(Parse(args, {"-secret=topsecret", "-foo=1"}).Ok());
    CHECK(args.DescribeForLog() == Strings{"Command line: -foo=1", "Command line: -secret=****"});
}

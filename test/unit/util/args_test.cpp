// Options: forms on the command line, sections and includes of bitcoin.conf, precedence, help.
#include "support/temp_dir.h"
#include "util/args.h"
#include "util/config.h"

#include "support/catch.h"

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
             OptionSpec::kHidden | OptionSpec::kSensitive | OptionSpec::kNoNegation |
                 OptionSpec::kNoElision);
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
    // A value behind a negation brings back what the file says.
    CHECK(args.GetAll("-debug") == Strings{"b", "c"});
    CHECK(args.GetAll("-foo").empty());
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
            CHECK(args.Command().empty());
        } else {
            CHECK_FALSE(Parse(args, {bad}).Ok());
        }
    }
    ArgsManager args = MakeArgs();
    const auto message = [](std::vector<const char*> words) {
        ArgsManager fresh = MakeArgs();
        return Parse(fresh, std::move(words)).Message();
    };
    CHECK(message({"-unknown=1"}) == "Invalid parameter -unknown=1");
    CHECK(message({"-nosecret"}) == "Negating of -secret is meaningless and therefore forbidden");
    CHECK(message({"-secret"}) ==
          "Can not set -secret with no value. Please specify value with -secret=value.");
    CHECK(message({"-includeconf=a", "-includeconf=b"}) ==
          "-includeconf cannot be used from commandline; -includeconf=\"a\"");
    CHECK(message({"-noincludeconf=0"}) ==
          "-includeconf cannot be used from commandline; -includeconf=true");
}

TEST_CASE("values in the log are JSON, secrets are not")
{
    ArgsManager args = MakeArgs();
    REQUIRE(Parse(args, {"-foo=a\"b\\", "-nodebug", "-secret=x", "-nodbcache=0"}).Ok());
    REQUIRE(args.ParseConfig("[regtest]\nport=1\n", "c").Ok());
    CHECK(args.DescribeCommandLine() ==
          Strings{"Command-line arg: dbcache=true", "Command-line arg: debug=false",
                  "Command-line arg: foo=\"a\\\"b\\\\\"", "Command-line arg: secret=****"});
    CHECK(args.DescribeConfig() == Strings{"Config file arg: [regtest] port=\"1\""});
    CHECK(args.Warnings() == Strings{"Parsed potentially confusing double-negative -dbcache=0"});
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
    args.AddSetting("-foo", {ArgValue::Kind::kText, "setting"});
    CHECK(args.Get("-foo") == "setting");
    args.ForceSet("-foo", "forced");
    CHECK(args.Get("-foo") == "forced");
}

TEST_CASE("malformed configuration files name the line")
{
    const auto message = [](const std::string& line) {
        ArgsManager args = MakeArgs();
        return args.ParseConfig("dbcache=1\n" + line, "the.conf").Message();
    };
    CHECK(message("foo") == "parse error on line 2: foo");
    CHECK(message("nofoo") == "parse error on line 2: nofoo, if you intended to specify a negated "
                              "option, use nofoo=1 instead");
    CHECK(message("-foo=1") == "parse error on line 2: -foo=1, options in configuration file must "
                               "be specified without leading -");
    CHECK(message("rpcpassword=a#b") == "parse error on line 2, using # in rpcpassword can be "
                                        "ambiguous and should be avoided");
    CHECK(message("nosecret=1") == "Negating of -secret is meaningless and therefore forbidden");
    CHECK_THAT(message("conf=x"),
               Catch::StartsWith("conf cannot be set in the configuration file"));
    ArgsManager args = MakeArgs();
    REQUIRE(args.ParseConfig("[nowhere]\nfoo=1\n[main]\nnonsense=1", "c").Ok());
    CHECK(args.Warnings() == Strings{"Ignoring unknown configuration value main.nonsense"});
    CHECK(args.UnknownSections() == Strings{"c:1 Section [nowhere] is not recognized."});
    ArgsManager dotted = MakeArgs();
    REQUIRE(dotted.ParseConfig("else.foo=1", "c").Ok());
    CHECK(dotted.UnknownSections() == Strings{"c:1 Section [else] is not recognized."});
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
    // As in Core: a negated option on the command line is treated as absent, and of lines in the
    // file the last counts.
    CHECK(chain({"-noregtest"}, "regtest=1") == "regtest");
    CHECK(chain({"-regtest=0"}, "regtest=1") == "main");
    CHECK(chain({}, "regtest=1\nregtest=0") == "main");
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
    CHECK(args.IgnoredIncludes() == Strings{"b.conf"});

    write("bitcoin.conf", "includeconf=c.conf\n");
    ArgsManager missing = MakeArgs();
    CHECK(missing.ReadConfigFiles(*env, dir.Get()).Message() ==
          "Failed to include configuration file c.conf");
}

TEST_CASE("the section of the network may name the data directory")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const Path other = dir / "other";
    REQUIRE(env->CreateDirectories(other).Ok());
    const auto load = [&](const std::string& text) {
        REQUIRE(WriteFileAtomically(*env, dir / "x.conf", AsBytes(text)).Ok());
        ArgsManager args;
        AddCommonOptions(args);
        const std::string conf = "-conf=" + (dir / "x.conf").string();
        REQUIRE(Parse(args, {conf.c_str()}).Ok());
        return LoadConfiguration(*env, args);
    };
    const std::string named = "datadir=" + other.string() + "\n";
    CHECK(load("regtest=1\n[main]\ndatadir=/none\n[regtest]\n" + named)->base == other);
    CHECK(load("[main]\n" + named)->base == other);
    CHECK(load("signet=1\n[regtest]\n" + named)->base != other);
    CHECK(load("regtest=1\n[regtest]\ndatadir=/none\n").Message() ==
          "Error reading configuration file: specified data directory \"/none\" does not exist.");
    CHECK(load("regtest=1\n[regtest]\nchain=main\n").Message() ==
          "Invalid combination of -regtest, -signet, -testnet, -testnet4 and -chain. Can use at "
          "most one.");
}

TEST_CASE("an included file may choose the network")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto write = [&](const char* name, std::string_view text) {
        REQUIRE(WriteFileAtomically(*env, dir / name, AsBytes(text)).Ok());
    };
    write("bitcoin.conf", "includeconf=net.conf\n[signet]\ndbcache=7\nincludeconf=late.conf\n");
    write("net.conf", "signet=1\n");
    ArgsManager args = MakeArgs();
    REQUIRE(args.ReadConfigFiles(*env, dir.Get()).Ok());
    REQUIRE(args.ChainName().Ok());
    CHECK(*args.ChainName() == "signet");
    args.SelectNetwork("signet");
    CHECK(args.GetInt("-dbcache", 0) == 7);
    // An include of its section is read too late.
    CHECK(args.IgnoredIncludes() == Strings{"late.conf"});

    ArgsManager named = MakeArgs();
    REQUIRE(Parse(named, {"-conf=other.conf"}).Ok());
    CHECK(named.ReadConfigFiles(*env, dir.Get()).Message() ==
          fmt::format("specified config file \"{}\" could not be opened.",
                      (dir / "other.conf").string()));
    // A file that exists but cannot be read differs from no configuration.
    std::filesystem::create_directory(dir / "loop");
    std::filesystem::create_symlink("bitcoin.conf", dir / "loop" / "bitcoin.conf");
    ArgsManager unreadable = MakeArgs();
    CHECK_THAT(unreadable.ReadConfigFiles(*env, dir / "loop").Message(),
               Catch::Contains((dir / "loop" / "bitcoin.conf").string()));
    ArgsManager off = MakeArgs();
    REQUIRE(Parse(off, {"-noconf"}).Ok());
    CHECK(off.ReadConfigFiles(*env, dir.Get()).Ok());
    CHECK_FALSE(off.IsSet("-includeconf"));
}

TEST_CASE("help shows groups in order and hides hidden options")
{
    ArgsManager args = MakeArgs();
    const std::string help = args.Help(false);
    CHECK_THAT(help, Catch::StartsWith("Options:\n\n  -chain\n       help\n\n"));
    CHECK_THAT(help, Catch::Contains("Connection options:\n\n  -port=<port>\n"));
    CHECK_THAT(help, !Catch::Contains("-secret"));
    CHECK_THAT(args.Help(true), Catch::Contains("-secret=<s>"));
}

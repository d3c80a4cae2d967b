// banlist.json: there and back, and files that are no such thing.
#include "rpc/ban_list_file.h"

#include "support/must.h"
#include "support/temp_dir.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

TEST_CASE("bans on disk", "[ban_list]")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto logger = MakeNullLogger();
    const auto read = [&](bool cjdns = false) {
        return Must(ReadBans(*env, dir.Get(), cjdns, *logger));
    };
    CHECK_FALSE(read());
    Bans bans;
    bans[*Subnet::Parse("1.2.3.0/24")] = {1, 2};
    bans[*Subnet::Parse("::1")] = {3, 1700000000};
    bans[*Subnet::Parse("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion")] = {5, 6};
    Must(WriteBans(*env, dir.Get(), bans));
    CHECK(read() == bans);
    bans = {{*Subnet::Parse("fc00::1", true), {1, 2}}};
    Must(WriteBans(*env, dir.Get(), bans));
    CHECK(read(true) == bans);
    CHECK(read(false) != bans);

    const auto from = [&](std::string_view text) {
        Must(WriteFileAtomically(*env, dir / "banlist.json", AsBytes(text)));
        return read();
    };
    // As Core writes it, and with entries that are left out.
    const auto some = from(R"({
    "_warning_": "x",
    "banned_nets": [
        {"version": 1, "ban_created": 7, "banned_until": 8, "address": "1.2.3.4/32"},
        {"version": 2, "ban_created": 7, "banned_until": 8, "address": "1.2.3.5/32"},
        {"version": 1, "ban_created": 7, "banned_until": 8, "address": "1.2.3/x"}
    ]})");
    REQUIRE(some);
    CHECK(*some == Bans{{*Subnet::Parse("1.2.3.4"), {7, 8}}});
    for (const char* bad : {"", "[]", "{}", R"({"banned_nets": 1})", R"({"banned_nets": [1]})",
                            R"({"banned_nets": [{"version": "1"}]})",
                            R"({"banned_nets": [{"version": 1e99, "ban_created": 7,
                                "banned_until": 8, "address": "1.2.3.4"}]})"}) {
        INFO(bad);
        CHECK_FALSE(from(bad));
    }
}

TEST_CASE("a ban list that the system cannot read is an error", "[ban_list]")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto logger = MakeNullLogger();
    std::filesystem::create_directory(dir / "banlist.json");
    CHECK_FALSE(ReadBans(*env, dir.Get(), false, *logger).Ok());
    CHECK(std::filesystem::exists(dir / "banlist.json"));
}

} // namespace ibd

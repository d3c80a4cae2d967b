// A line of Tor's control port: KEY=value pairs, with quotes and escapes.
#include "net/socket/tor_control.h"
#include "support/catch.h"

#include <random>

using namespace ibd;

namespace {

using Values = std::map<std::string, std::string>;

} // namespace

TEST_CASE("values of a line of Tor's")
{
    CHECK(ParseTorMapping("").empty());
    CHECK(ParseTorMapping("METHODS=COOKIE,SAFECOOKIE COOKIEFILE=\"/home/x/a file\"") ==
          Values{{"METHODS", "COOKIE,SAFECOOKIE"}, {"COOKIEFILE", "/home/x/a file"}});
    CHECK(ParseTorMapping("ServiceID=exampleonion1234") ==
          Values{{"ServiceID", "exampleonion1234"}});
    CHECK(ParseTorMapping("Foo=") == Values{{"Foo", ""}});
    CHECK(ParseTorMapping("Foo=Bar=Baz Spam=\"\"") == Values{{"Foo", "Bar=Baz"}, {"Spam", ""}});
    CHECK(ParseTorMapping(R"(Foo="a \"b\" \\ c")") == Values{{"Foo", "a \"b\" \\ c"}});
    CHECK(ParseTorMapping(R"(Foo="\n\t\r\x")") == Values{{"Foo", "\n\t\rx"}});
    CHECK(ParseTorMapping(R"(Foo="\0\1018\12")") == Values{{"Foo", std::string("\0A8\n", 4)}});
    CHECK(ParseTorMapping(R"(Foo="\4011")") == Values{{"Foo", " 11"}});
}

TEST_CASE("lines that are no values")
{
    for (const char* bad : {"Foo", "Foo Bar=Baz", "Foo=Bar Baz", R"(Foo="bar)", R"(Foo="bar\)",
                            "=", " =x", "Foo=a  Bar=b"}) {
        INFO(bad);
        const Values values = ParseTorMapping(bad);
        CHECK((values.empty() || values.begin()->first.empty()));
    }
    std::mt19937 rng(7);
    constexpr std::string_view kLetters = "ab =\"\\017\n";
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (size_t size = rng() % 20; size > 0; --size) text += kLetters[rng() % kLetters.size()];
        (void)ParseTorMapping(text); // whatever it says, it ends
    }
}

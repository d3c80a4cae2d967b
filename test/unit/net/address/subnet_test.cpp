// Ranges of addresses.
#include "net/address/subnet.h"
#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

namespace {

constexpr const char* kOnion = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion";

std::string Text(std::string_view range)
{
    const auto subnet = Subnet::Parse(range);
    return subnet ? subnet->ToString() : "none";
}

bool Contains(std::string_view range, std::string_view address)
{
    INFO(range);
    const auto subnet = Subnet::Parse(range);
    REQUIRE(subnet);
    return subnet->Contains(*NetAddress::Parse(address));
}

} // namespace

TEST_CASE("what a range contains", "[subnet]")
{
    CHECK(Contains("127.0.0.0/8", "127.9.9.9"));
    CHECK_FALSE(Contains("127.0.0.0/8", "128.0.0.1"));
    CHECK(Contains("1.2.3.4", "1.2.3.4"));
    CHECK_FALSE(Contains("1.2.3.4", "1.2.3.5"));
    CHECK(Contains("1.2.3.4/255.255.255.0", "1.2.3.200"));
    CHECK(Contains("1.2.3.4/0", "200.1.1.1"));
    CHECK_FALSE(Contains("1.2.3.4/0", "2001::1"));
    CHECK(Contains("::/0", "2001::1"));
    CHECK_FALSE(Contains("::/0", "1.2.3.4"));
    CHECK(Contains("2001:470::/33", "2001:470:7fff::1"));
    CHECK_FALSE(Contains("2001:470::/33", "2001:470:8000::1"));
    CHECK(Contains("::1", "::1%1"));
    CHECK(Contains(kOnion, kOnion));
    // No range has an address that is not valid.
    CHECK_FALSE(Contains("0.0.0.0/0", "255.255.255.255"));
    CHECK_FALSE(Contains("2001:db8::1", "2001:db8::1"));
    CHECK(Subnet::Parse("fc00::1", true)->Contains(NetAddress::Parse("fc00::1")->WithCjdns(true)));
    CHECK_FALSE(Subnet::Parse("fc00::1", true)->Contains(*NetAddress::Parse("fc00::1")));
}

TEST_CASE("ranges as text", "[subnet]")
{
    CHECK(Text("1.2.3.4") == "1.2.3.4/32");
    CHECK(Text("1.2.3.4/20") == "1.2.0.0/20");
    CHECK(Text("1.2.3.4/255.255.240.0") == "1.2.0.0/20");
    CHECK(Text("1.2.3.4/0.0.0.0") == "0.0.0.0/0");
    CHECK(Text("2001:470:ffff::/35") == "2001:470:e000::/35");
    CHECK(Text("::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe") == "::/127");
    CHECK(Text(kOnion) == kOnion);
    for (const char* bad :
         {"", "x", "1.2.3.4/33", "1.2.3.4/-1", "::/129", "1.2.3.4/255.0.255.0",
          "1.2.3.4/::", "1.2.3.4/", "1.2.3.4/1/1", "::/255.255.0.0", "1.2.3.4/300", "/8"}) {
        INFO(bad);
        CHECK_FALSE(Subnet::Parse(bad));
    }
    CHECK_FALSE(Subnet::Parse(std::string(kOnion) + "/1"));
    CHECK_FALSE(Subnet::Parse("fc00::/8", true));
    CHECK(Subnet::Parse("fd00::/8", true));
    CHECK(Contains("[::1]", "::1"));
    CHECK(Contains("[1.2.3.4]", "1.2.3.4"));
    CHECK(Contains("fc00::/8", "fc01::1"));
}

TEST_CASE("a range has what agrees with it in its first bits", "[subnet]")
{
    for (int i = 0; i < 2000; ++i) {
        const Bytes random = test::RandomBytes(6);
        const size_t bits = random[4] % 33;
        const NetAddress base = NetAddress::FromIpv4({random[0], random[1], random[2], random[3]});
        const auto subnet = Subnet::Parse(base.ToString() + "/" + std::to_string(bits));
        REQUIRE(subnet);
        const size_t flipped = random[5] % 32;
        std::array<uint8_t, 4> other = {random[0], random[1], random[2], random[3]};
        other[flipped / 8] ^= static_cast<uint8_t>(0x80 >> flipped % 8);
        const NetAddress near = NetAddress::FromIpv4(other);
        CHECK(subnet->Contains(base) == base.IsValid());
        CHECK(subnet->Contains(near) == (near.IsValid() && flipped >= bits));
        CHECK(Subnet::Parse(subnet->ToString()) == subnet);
    }
}

} // namespace ibd

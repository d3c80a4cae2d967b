// Bans, and addresses that are discouraged.
#include "net/address/ban_list.h"

#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

namespace {

NetAddress Address(std::string_view text) { return *NetAddress::Parse(text); }
Subnet Range(std::string_view text) { return *Subnet::Parse(text); }

} // namespace

TEST_CASE("a ban holds for its range and its time", "[ban_list]")
{
    BanList list({1, 2}, 100);
    CHECK(list.Ban(Range("1.2.0.0/16"), 50, false, 1000));
    CHECK(list.Ban(Range("1.2.3.4"), 2000, true, 1000));
    CHECK(list.Ban(Range("::1"), 0, true, 1000)); // the default time
    CHECK(list.IsBanned(Address("1.2.9.9"), 1049));
    CHECK_FALSE(list.IsBanned(Address("1.2.9.9"), 1050));
    CHECK(list.IsBanned(Address("1.2.3.4"), 1999));
    CHECK_FALSE(list.IsBanned(Address("1.3.0.0"), 1000));
    CHECK(list.IsBanned(Range("1.2.0.0/16"), 1000));
    CHECK_FALSE(list.IsBanned(Range("1.2.0.0/17"), 1000));
    CHECK(list.IsBanned(Address("::1"), 1099));
    CHECK_FALSE(list.IsBanned(Address("::1"), 1100));

    // A shorter one changes nothing.
    CHECK_FALSE(list.Ban(Range("1.2.3.4"), 10, false, 1000));
    CHECK(list.Ban(Range("1.2.3.4"), 3000, true, 1100));
    CHECK(list.Banned(1100).at(Range("1.2.3.4")) == BanEntry{1100, 3000});

    CHECK(list.Banned(1100).size() == 2); // 1.2.0.0/16 has ended
    CHECK(list.Unban(Range("::1")));
    CHECK_FALSE(list.Unban(Range("::1")));
    CHECK(list.Banned(1100).size() == 1);
    CHECK(list.Banned(4000).empty());
    list.Ban(Range("::1"), 10, false, 0);
    list.Clear();
    CHECK_FALSE(list.IsBanned(Address("::1"), 1));
}

TEST_CASE("a list is sorted as Core's, by network and address", "[ban_list]")
{
    BanList list({1, 2});
    for (const char* range : {"::1", "2.0.0.0/8", "1.2.3.4", "1.2.3.0/24", "1.2.3.0/25"}) {
        list.Ban(Range(range), 10, false, 0);
    }
    std::string order;
    for (const auto& [range, entry] : list.Banned(0)) order += range.ToString() + " ";
    CHECK(order == "1.2.3.0/24 1.2.3.0/25 1.2.3.4/32 2.0.0.0/8 ::1/128 ");
}

TEST_CASE("the last fifty thousand misbehaving peers are remembered", "[ban_list]")
{
    BanList list({1, 2});
    const auto numbered = [](uint32_t i) {
        return NetAddress::FromIpv4({10, uint8_t(i >> 16), uint8_t(i >> 8), uint8_t(i)});
    };
    const uint32_t last = 180'000;
    for (uint32_t i = 0; i < last; ++i) list.Discourage(numbered(i));
    size_t known = 0;
    for (uint32_t i = last - BanList::kDiscouraged; i < last; ++i) {
        known += list.IsDiscouraged(numbered(i));
    }
    CHECK(known == BanList::kDiscouraged);
    CHECK_FALSE(list.IsDiscouraged(numbered(0)));
    CHECK_FALSE(list.IsDiscouraged(numbered(last)));
}

} // namespace ibd

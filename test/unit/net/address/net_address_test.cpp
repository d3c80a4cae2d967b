// NetAddress and Endpoint: text, kinds, serialization. Texts and digests come from Python's
// ipaddress, base64 and hashlib; kinds from the RFCs that name them.
#include "net/address/net_address.h"

#include "crypto/sha256.h"
#include "support/testdata.h"
#include "util/base32.h"
#include "util/endian.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Net = AddressNetwork;

namespace {

// The Tor project's example, and Core's of I2P; then both of the key 00 01 .. 1f.
constexpr const char* kOnion = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion";
constexpr const char* kOnionOfCount =
    "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dyp3kead.onion";
constexpr const char* kI2p = "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p";
constexpr const char* kI2pOfCount = "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq.b32.i2p";

NetAddress Address(std::string_view text)
{
    INFO(text);
    const auto address = NetAddress::Parse(text);
    REQUIRE(address);
    return *address;
}

NetAddress Cjdns(std::string_view text) { return Address(text).WithCjdns(true); }

Bytes V2(const NetAddress& address)
{
    Bytes out;
    Writer writer(out);
    address.EncodeV2(writer);
    return out;
}

/** Decoded, or the reason why not. */
std::string FromV2(std::string_view hex)
{
    const Bytes bytes = *FromHex(hex);
    PayloadReader reader(bytes);
    const NetAddress address = NetAddress::DecodeV2(reader);
    return reader.Ok() ? address.ToString() : reader.GetError().message;
}

} // namespace

TEST_CASE("base32 as RFC 4648 has it", "[net_address]")
{
    Bytes all;
    for (size_t n = 0; n <= 100; ++n) {
        Bytes message(n);
        for (size_t i = 0; i < n; ++i) message[i] = static_cast<uint8_t>(i * 131 + n);
        Append(all, AsBytes(ToBase32(message)));
        CHECK(FromBase32(ToBase32(message)) == message);
    }
    CHECK(ToHex(Sha256Of(all)) ==
          "2a99916fd6eaf7639b09d72b4b6643d655d444f3fffbad88bf6df8252678bf9f");
    CHECK(FromBase32("MZXW6YTB") == Bytes{'f', 'o', 'o', 'b', 'a'});
    for (const char* bad : {"mzxw6yt", "mzxw6yt1", "mz======x",
                            "mzx=====", "mzxw6y==", "mr======", "========", "mzxw6yt\x80"}) {
        INFO(bad);
        CHECK_FALSE(FromBase32(bad));
    }
}

TEST_CASE("numeric addresses are read as the system reads them", "[net_address]")
{
    CHECK(Address("1.2.3.4").ToString() == "1.2.3.4");
    CHECK(Address("127.1").ToString() == "127.0.0.1");
    CHECK(Address("0x7f000001").ToString() == "127.0.0.1");
    CHECK(Address("[::1]").ToString() == "::1");
    CHECK(Address("::FFFF:1.2.3.4").ToString() == "1.2.3.4");
    CHECK(Address("::ffff:1.2.3.4").Network() == Net::kIpv4);
    CHECK(Address("2001:DB8:0:0:1:0:0:1").ToString() == "2001:db8::1:0:0:1");
    CHECK(Address("fe80::1%7").ToString() == "fe80::1%7");
    CHECK(Address("fe80::1%7").Scope() == 7);
    CHECK(Address("fe80::1%7") == Address("fe80::1"));
    // The prefix of Tor version 2 is invalid now; internal addresses cannot be written.
    CHECK_FALSE(Address("fd87:d87e:eb43::1").IsValid());
    for (const std::string_view bad :
         {std::string_view{}, std::string_view("localhost"), std::string_view("1.2.3.4.5"),
          std::string_view("256.1.1.1"), std::string_view(":::"), std::string_view("[1.2.3.4"),
          std::string_view("1.2.3.4\0", 8), std::string_view("fd6b:88c0:8724::1"),
          std::string_view("1.2.3.4 "), std::string_view("]"), std::string_view("[")}) {
        INFO(bad);
        CHECK_FALSE(NetAddress::Parse(bad));
    }
}

TEST_CASE("IPv6 is written with its longest row of zeros left out", "[net_address]")
{
    uint64_t x = 1;
    std::string all;
    for (int i = 0; i < 2000; ++i) {
        std::array<uint8_t, 16> bytes;
        for (size_t g = 0; g < 8; ++g) {
            x = x * 6364136223846793005 + 1442695040888963407;
            const uint64_t v = x >> 33;
            WriteBE<uint16_t>(bytes.data() + 2 * g, (v & 1) ? 0 : static_cast<uint16_t>(v >> 1));
        }
        all += (i ? "\n" : "") + NetAddress::FromIpv6(bytes).ToString();
    }
    CHECK(ToHex(Sha256Of(AsBytes(all))) ==
          "cabbd6a7dcfa99a08c0bda96ba3943b6aeee5f5429bcb899f8036a2f3556b31b");
}

TEST_CASE("Tor and I2P addresses carry what proves that they were not mistyped", "[net_address]")
{
    for (const char* text : {kOnion, kOnionOfCount}) {
        CHECK(Address(text).ToString() == text);
        CHECK(Address(text).Network() == Net::kOnion);
    }
    for (const char* text : {kI2p, kI2pOfCount}) {
        CHECK(Address(text).ToString() == text);
        CHECK(Address(text).Network() == Net::kI2p);
    }
    for (uint8_t i = 0; i < 32; ++i) {
        CHECK(Address(kOnionOfCount).Raw()[i] == i);
        CHECK(Address(kI2pOfCount).Raw()[i] == i);
    }
    CHECK(Address("UKEU3K5OYCGAAUNEQGTNVSELMT4YEMVOILKLN7JPVAMVFX7DNKDQ.B32.I2P") == Address(kI2p));
    // Every change of one character of the name breaks checksum or version.
    const std::string good = kOnion;
    for (size_t i = 0; i < 56; ++i) {
        std::string bad = good;
        bad[i] = bad[i] == 'a' ? 'b' : 'a';
        CHECK_FALSE(NetAddress::Parse(bad));
    }
    CHECK_FALSE(NetAddress::Parse("6hzph5hv6337r6p2.onion")); // version 2
    CHECK_FALSE(NetAddress::Parse("ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.i2p"));
    // The last digit has four bits that make no byte.
    CHECK_FALSE(NetAddress::Parse("aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypr.b32.i2p"));
    const NetAddress internal = NetAddress::Internal("seed.example");
    CHECK(internal.ToString() == "p45umcapata4dier.internal");
    CHECK_FALSE(NetAddress::Parse(internal.ToString()));
}

TEST_CASE("which addresses are routable, local or valid", "[net_address]")
{
    for (const char* text :
         {"1.2.3.4", "172.15.255.255", "172.32.0.1", "100.63.0.1", "100.128.0.1", "198.17.0.1",
          "198.20.0.1", "192.0.3.1", "8.8.8.8", "2001:470::1", "2002:102:304::1", "2001::1",
          "64:ff9b::102:304", "::ffff:0:102:304", "2001:30::1", "fe80:0:0:1::1", kOnion, kI2p}) {
        INFO(text);
        CHECK(Address(text).IsRoutable());
        CHECK(Address(text).IsValid());
        CHECK_FALSE(Address(text).IsLocal());
    }
    for (const char* text :
         {"10.1.2.3",    "192.168.1.1",  "172.16.0.1", "172.31.255.255", "100.64.0.1",
          "100.127.1.1", "169.254.1.1",  "192.0.2.9",  "198.51.100.9",   "203.0.113.9",
          "198.18.0.1",  "198.19.255.1", "127.9.9.9",  "0.1.2.3",        "::1",
          "fc00::1",     "fd00::1",      "fe80::1",    "2001:10::1",     "2001:2f::1"}) {
        INFO(text);
        CHECK_FALSE(Address(text).IsRoutable());
        CHECK(Address(text).IsValid());
        CHECK(Address(text).RoutableNetwork() == Net::kUnroutable);
    }
    for (const char* text : {"0.0.0.0", "255.255.255.255", "::", "2001:db8::1"}) {
        INFO(text);
        CHECK_FALSE(Address(text).IsValid());
        CHECK_FALSE(Address(text).IsRoutable());
    }
    for (const char* text : {"127.0.0.1", "0.1.2.3", "::1"}) CHECK(Address(text).IsLocal());
    CHECK(Address("0.0.0.0").IsBindAny());
    CHECK(Address("::").IsBindAny());
    CHECK_FALSE(Address("0.0.0.1").IsBindAny());

    CHECK(Cjdns("fc00::1").Network() == Net::kCjdns);
    CHECK(Cjdns("fc00::1").IsRoutable());
    CHECK(Cjdns("fd00::1").Network() == Net::kIpv6);
    CHECK(Address("fc00::1").WithCjdns(false).Network() == Net::kIpv6);
    const NetAddress internal = NetAddress::Internal("x");
    CHECK_FALSE(internal.IsValid());
    CHECK_FALSE(internal.IsRoutable());
    CHECK(internal.RoutableNetwork() == Net::kInternal);
}

TEST_CASE("IPv6 that stands for IPv4", "[net_address]")
{
    for (const char* text : {"1.2.3.4", "64:ff9b::102:304", "::ffff:0:102:304", "2002:102:304::7",
                             "2001:0:9999:9999:9999:9999:fefd:fcfb"}) {
        INFO(text);
        CHECK(Address(text).LinkedIpv4() == 0x01020304u);
        CHECK(Address(text).NetworkClass() == Net::kIpv4);
    }
    CHECK_FALSE(Address("10.0.0.1").LinkedIpv4());
    CHECK(Address("2001:470::1").NetworkClass() == Net::kIpv6);
    CHECK(Address(kOnion).NetworkClass() == Net::kOnion);
}

TEST_CASE("what a partner can reach best", "[net_address]")
{
    const NetAddress v4 = Address("1.2.3.4"), v6 = Address("2001:470::1"),
                     teredo = Address("2001::1"), tunnel = Address("2002:102:304::7"),
                     onion = Address(kOnion), i2p = Address(kI2p), cjdns = Cjdns("fc00::1"),
                     none = Address("10.0.0.1");
    const std::vector<NetAddress> ours = {v4, v6, teredo, tunnel, onion, i2p, cjdns, none};
    const auto row = [&](const NetAddress& partner) {
        std::vector<int> out;
        for (const NetAddress& own : ours) out.push_back(own.ReachabilityFrom(partner));
        return out;
    };
    using Row = std::vector<int>;
    CHECK(row(v4) == Row{4, 1, 1, 1, 1, 1, 1, 0});
    CHECK(row(v6) == Row{4, 5, 2, 3, 1, 1, 1, 0});
    CHECK(row(tunnel) == Row{4, 5, 2, 3, 1, 1, 1, 0});
    CHECK(row(teredo) == Row{4, 3, 2, 3, 1, 1, 1, 0});
    CHECK(row(onion) == Row{4, 1, 1, 1, 6, 1, 1, 0});
    CHECK(row(i2p) == Row{1, 1, 1, 1, 1, 6, 1, 0});
    CHECK(row(cjdns) == Row{1, 1, 1, 1, 1, 1, 6, 0});
    CHECK(row(none) == Row{4, 3, 2, 3, 6, 1, 1, 0});
}

TEST_CASE("addresses in version 2 messages", "[net_address]")
{
    CHECK(ToHex(V2(Address("1.2.3.4"))) == "010401020304");
    CHECK(ToHex(V2(Address("::1"))) == "021000000000000000000000000000000001");
    const std::string count = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    CHECK(ToHex(V2(Address(kOnionOfCount))) == "0420" + count);
    CHECK(ToHex(V2(Address(kI2pOfCount))) == "0520" + count);
    CHECK(ToHex(V2(Cjdns("fc00::1"))) == "0610fc000000000000000000000000000001");
    CHECK(ToHex(V2(NetAddress::Internal("seed.example"))) ==
          "0210fd6b88c087247f3b46080f04c1c1a091");

    CHECK(FromV2("010401020304") == "1.2.3.4");
    CHECK(FromV2("0420" + count) == kOnionOfCount);
    CHECK(FromV2("0210fd6b88c087247f3b46080f04c1c1a091") == "p45umcapata4dier.internal");
    // Hidden in IPv6, where they have no place now; from networks of the future; Tor version 2.
    CHECK(FromV2("021000000000000000000000ffff01020304") == "::");
    CHECK(FromV2("0210fd87d87eeb430102030405060708090a") == "::");
    CHECK(FromV2("0704"
                 "01020304") == "::");
    CHECK(FromV2("aa00") == "::");
    CHECK(FromV2("030a"
                 "0102030405060708090a") == "::");
    CHECK(FromV2("0105"
                 "0102030405") == "BIP155 IPv4 address with length 5 (should be 4)");
    CHECK(FromV2("0204"
                 "01020304") == "BIP155 IPv6 address with length 4 (should be 16)");
    CHECK(FromV2("0400") == "BIP155 TORv3 address with length 0 (should be 32)");
    CHECK(FromV2("0510" + count) == "BIP155 I2P address with length 16 (should be 32)");
    CHECK(FromV2("0611" + count) == "BIP155 CJDNS address with length 17 (should be 16)");
    CHECK(FromV2("07fd0102") == "Address too long: 513 > 512");
    CHECK(FromV2("0704010203") == "DataStream::ignore(): end of data");
    CHECK(FromV2("0104010203") == "DataStream::read(): end of data");
    CHECK(FromV2("") == "DataStream::read(): end of data");
    CHECK(FromV2("07fd00020000000000") == "DataStream::ignore(): end of data");
    CHECK(FromV2("07fd0100") == "non-canonical ReadCompactSize()"); // a size in too many bytes
}

TEST_CASE("endpoints as text and as entries of addr", "[net_address]")
{
    const auto parse = [](std::string_view text) {
        const auto endpoint = Endpoint::Parse(text, 8333);
        return endpoint ? endpoint->ToString() : "none";
    };
    CHECK(parse("1.2.3.4") == "1.2.3.4:8333");
    CHECK(parse("1.2.3.4:5") == "1.2.3.4:5");
    CHECK(parse("[::1]:5") == "[::1]:5");
    CHECK(parse("[::1]") == "[::1]:8333");
    CHECK(parse("::1") == "[::1]:8333");
    CHECK(parse("1:2:3") == "none");
    CHECK(parse("1.2.3.4:65536") == "none");
    CHECK(parse("1.2.3.4:x") == "none");
    CHECK(parse("") == "none");
    CHECK(parse(std::string(kOnion) + ":80") == std::string(kOnion) + ":80");
    CHECK(Endpoint{Cjdns("fc00::1"), 7}.ToString() == "[fc00::1]:7");

    PeerAddress peer{*Endpoint::Parse("1.2.3.4:8333", 0), 0x409, 0x11223344};
    Bytes v1, v2;
    Writer to_v1(v1), to_v2(v2);
    peer.EncodeV1(to_v1);
    peer.EncodeV2(to_v2);
    CHECK(ToHex(v1) == "44332211"
                       "0904000000000000"
                       "00000000000000000000ffff01020304"
                       "208d");
    CHECK(ToHex(v2) == "44332211"
                       "fd0904"
                       "010401020304"
                       "208d");
    PayloadReader from_v1(v1), from_v2(v2);
    CHECK(PeerAddress::DecodeV1(from_v1) == peer);
    CHECK(PeerAddress::DecodeV2(from_v2) == peer);
    CHECK(from_v1.AtEnd());
    CHECK(from_v2.AtEnd());
    CHECK(ToHex(peer.endpoint.Key()) == "00000000000000000000ffff01020304208d");
    CHECK(Endpoint{Address(kOnion), 1}.Key().size() == 34);
    // An address that version 1 cannot carry is written as zeros.
    Bytes zeros;
    Writer to_zeros(zeros);
    Endpoint{Address(kOnion), 0x0102}.EncodeV1(to_zeros);
    CHECK(ToHex(zeros) == "00000000000000000000000000000000"
                          "0102");
}

TEST_CASE("random version 1 bytes and the address that they are", "[net_address]")
{
    for (int i = 0; i < 1000; ++i) {
        std::array<uint8_t, 16> bytes;
        const Bytes random = RandomBytes(16);
        std::copy(random.begin(), random.end(), bytes.begin());
        if (i % 4 == 1) std::fill_n(bytes.begin(), 10, uint8_t{0});
        if (i % 4 == 1) bytes[10] = bytes[11] = 0xff;
        const NetAddress address = NetAddress::FromIpv6(bytes);
        CHECK(address.ToV1() == bytes);
        CHECK(Address(address.ToString()) == address);
        CHECK((!address.IsRoutable() || address.IsValid()));
    }
}

TEST_CASE("names of networks", "[net_address]")
{
    for (const Net net : {Net::kIpv4, Net::kIpv6, Net::kOnion, Net::kI2p, Net::kCjdns}) {
        CHECK(ParseAddressNetwork(AddressNetworkName(net)) == net);
    }
    CHECK(ParseAddressNetwork("IPv4") == Net::kIpv4);
    for (const char* bad : {"tor", "internal", "not_publicly_routable", ""}) {
        CHECK_FALSE(ParseAddressNetwork(bad));
    }
}

} // namespace ibd

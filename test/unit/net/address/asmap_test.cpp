// Maps of autonomous systems, built here from prefixes, and groups of addresses.
#include "net/address/asmap.h"
#include "net/address/net_groups.h"

#include "net/transport_support.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

/** Writes programs as the format has them: numbers in classes, bits lowest first. */
class Assembler {
public:
    void Return(uint32_t system) { Opcode({false}), System(system); }
    void Default(uint32_t system) { Opcode({true, true, true}), System(system); }
    void Match(uint32_t value)
    {
        Opcode({true, true, false});
        Number(value - 2, 1, 8);
    }
    /** To behind `left`, which follows at once. */
    void Jump(const Assembler& left)
    {
        Opcode({true, false});
        Number(static_cast<uint32_t>(left.m_bits.size()) - 17, 5, 30);
        m_bits.insert(m_bits.end(), left.m_bits.begin(), left.m_bits.end());
    }
    void Then(const Assembler& right)
    {
        m_bits.insert(m_bits.end(), right.m_bits.begin(), right.m_bits.end());
    }
    Bytes Program() const
    {
        Bytes out((m_bits.size() + 7) / 8);
        for (size_t i = 0; i < m_bits.size(); ++i) {
            out[i / 8] |= static_cast<uint8_t>(m_bits[i] << i % 8);
        }
        return out;
    }

private:
    void Opcode(std::initializer_list<bool> bits) { m_bits.insert(m_bits.end(), bits); }
    void System(uint32_t system) { Number(system - 1, 15, 24); }
    void Number(uint32_t value, int first_bits, int last_bits)
    {
        int bits = first_bits;
        for (; value >> bits != 0 && bits < last_bits; ++bits) {
            m_bits.push_back(true);
            value -= 1U << bits;
        }
        if (bits < last_bits) m_bits.push_back(false);
        for (int i = bits - 1; i >= 0; --i) m_bits.push_back(value >> i & 1);
    }
    std::vector<bool> m_bits;
};

struct Tree {
    uint32_t system = 0; //!< of a leaf
    std::unique_ptr<Tree> sides[2];
};

/** A tree of random shape whose leaves have random systems, at most `depth` bits deep. */
Tree RandomTree(int depth)
{
    Tree tree;
    if (depth == 0 || RandomBelow(4) == 0) {
        tree.system = 1 + uint32_t(RandomBelow(RandomBelow(2) ? 100 : 10'000'000));
    } else {
        for (auto& side : tree.sides) side = std::make_unique<Tree>(RandomTree(depth - 1));
    }
    return tree;
}

Assembler Compile(const Tree& tree)
{
    Assembler out;
    if (tree.system != 0) {
        out.Return(tree.system);
    } else {
        out.Jump(Compile(*tree.sides[0]));
        out.Then(Compile(*tree.sides[1]));
    }
    return out;
}

uint32_t Walk(const Tree& tree, const std::array<uint8_t, 16>& ip, size_t bit = 0)
{
    if (tree.system != 0) return tree.system;
    return Walk(*tree.sides[ip[bit / 8] >> (7 - bit % 8) & 1], ip, bit + 1);
}

std::array<uint8_t, 16> RandomIp()
{
    std::array<uint8_t, 16> out{};
    const Bytes bytes = RandomBytes(out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

std::array<uint8_t, 16> Ip(uint8_t first) { return {first}; }

std::string Group(const NetGroups& groups, std::string_view text, bool cjdns = false)
{
    return ToHex(groups.GroupOf(NetAddress::Parse(text)->WithCjdns(cjdns)));
}

} // namespace

TEST_CASE("a map says what the tree says that it was made from", "[asmap]")
{
    for (int round = 0; round < 40; ++round) {
        const Tree tree = RandomTree(9);
        const auto map = Asmap::Parse(Compile(tree).Program());
        REQUIRE(map);
        for (int i = 0; i < 200; ++i) {
            const auto ip = RandomIp();
            CHECK(map->Lookup(ip) == Walk(tree, ip));
        }
    }
}

TEST_CASE("matches and defaults of a map", "[asmap]")
{
    // 0x05.. is system 7; other addresses that begin with 0000 are 9; the rest has none.
    Assembler program;
    program.Match(0b10000);
    program.Default(9);
    program.Match(0b10101);
    program.Return(7);
    // Two short matches in a row could be one, so a default has to stand between them.
    const auto map = Asmap::Parse(program.Program());
    REQUIRE(map);
    CHECK(map->Lookup(Ip(0x05)) == 7);
    CHECK(map->Lookup(Ip(0x0a)) == 9);
    CHECK(map->Lookup(Ip(0x15)) == 0);
    CHECK_FALSE(map->Version().IsNull());
}

TEST_CASE("programs that are no maps", "[asmap]")
{
    const auto sound = [](const Assembler& a) { return Asmap::Parse(a.Program()).has_value(); };
    Assembler leaf;
    leaf.Return(1);
    CHECK(sound(leaf));
    CHECK_FALSE(Asmap::Parse({}));
    Bytes padded = leaf.Program();
    padded.push_back(0);
    CHECK_FALSE(Asmap::Parse(padded)); // too much padding
    Bytes ones = leaf.Program();
    ones.back() |= 0x80;
    CHECK_FALSE(Asmap::Parse(ones));
    Assembler twice;
    twice.Default(1);
    twice.Default(2);
    twice.Match(2);
    twice.Return(1);
    CHECK_FALSE(sound(twice));
    Assembler useless;
    useless.Default(1);
    useless.Return(1);
    CHECK_FALSE(sound(useless));
    Assembler shorts;
    shorts.Match(0b10);
    shorts.Match(0b10);
    shorts.Return(1);
    CHECK_FALSE(sound(shorts));
    Assembler deep;
    for (int i = 0; i < 16; ++i) deep.Match(0b100000000);
    Assembler deeper = deep;
    deep.Return(1);
    CHECK(sound(deep)); // 128 bits
    deeper.Match(0b10);
    deeper.Return(1);
    CHECK_FALSE(sound(deeper));

    // Cut off, or with a bit changed, a map is refused or a map, but never read beyond its end.
    for (int round = 0; round < 300; ++round) {
        Bytes bytes = Compile(RandomTree(5)).Program();
        if (RandomBelow(2)) {
            bytes.resize(RandomBelow(bytes.size() + 1));
        } else {
            bytes[RandomBelow(bytes.size())] ^= static_cast<uint8_t>(1 << RandomBelow(8));
        }
        const auto map = Asmap::Parse(bytes);
        for (int i = 0; map && i < 50; ++i) map->Lookup(RandomIp());
    }
}

TEST_CASE("groups of addresses", "[net_groups]")
{
    const NetGroups groups;
    CHECK(Group(groups, "1.2.3.4") == "010102");
    CHECK(Group(groups, "64:ff9b::102:304") == "010102");
    CHECK(Group(groups, "2002:102:304::7") == "010102");
    CHECK(Group(groups, "2001:0:9999:9999:9999:9999:fefd:fcfb") == "010102");
    CHECK(Group(groups, "2001:470:abcd:9999::1") == "0220010470af");
    CHECK(Group(groups, "2001:2001:9999::1") == "0220012001");
    CHECK(Group(groups, "127.0.0.1") == "00");
    CHECK(Group(groups, "::1") == "00");
    CHECK(Group(groups, "10.1.2.3") == "00");
    CHECK(Group(groups, "fd00::1") == "00");
    CHECK(Group(groups, "fc12:3456::1", true) == "05fc1f");
    // Its first five characters are 11 bits: 0x79b...
    CHECK(Group(groups, "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion") ==
          "037f");
    CHECK(Group(groups, "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p") == "04af");
    CHECK(ToHex(groups.GroupOf(NetAddress::Internal("seed.example"))) == "067f3b46080f04c1c1a091");
    CHECK_FALSE(groups.UsesAsmap());
    CHECK(groups.AsmapVersion().IsNull());
}

TEST_CASE("groups by autonomous systems", "[net_groups]")
{
    // System 0x010203 announces all that begins with a zero bit, 5 the rest.
    Assembler low, high, program;
    low.Return(0x010203);
    high.Return(5);
    program.Jump(low);
    program.Then(high);
    const NetGroups groups(*Asmap::Parse(program.Program()));
    CHECK(groups.UsesAsmap());
    CHECK(Group(groups, "1.2.3.4") == "0203020100"); // as ::ffff:1.2.3.4
    CHECK(Group(groups, "200.2.3.4") == "0203020100");
    CHECK(Group(groups, "2001:470::1") == "0203020100");
    CHECK(groups.MappedAs(*NetAddress::Parse("1.2.3.4")) == 0x010203);
    CHECK(groups.MappedAs(*NetAddress::Parse("8000::1")) == 5);
    // Addresses that are not IP, or not routable, are grouped as without a map.
    CHECK(Group(groups, "10.1.2.3") == "00");
    CHECK(groups.MappedAs(*NetAddress::Parse("10.1.2.3")) == 0);
    CHECK(Group(groups, "fc12:3456::1", true) == "05fc1f");
}

} // namespace ibd

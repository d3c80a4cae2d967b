// MuHash3072: Core's known value, values derived with Python's integers, and the group's laws.
#include "crypto/muhash.h"

#include "crypto/known_answers.h"
#include "crypto/muhash_multiply.h"
#include "support/testdata.h"
#include "util/endian.h"

#include <algorithm>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

/** The element that Core's own unit test calls `i`. */
MuHash3072 FromInt(uint8_t i)
{
    Bytes bytes(32);
    bytes[0] = i;
    return MuHash3072(bytes);
}

Num3072 RandomNumber()
{
    Num3072::Serialized bytes;
    std::ranges::copy(RandomBytes(bytes.size()), bytes.begin());
    return Num3072(bytes);
}

/** 2^3072 - `below`, for 0 < below < 2^32. */
Num3072 JustBelowTwoTo3072(uint32_t below)
{
    Num3072::Serialized bytes;
    bytes.fill(0xff);
    WriteLE32(bytes.data(), uint32_t{0} - below);
    return Num3072(bytes);
}

Num3072 Small(uint64_t value)
{
    Num3072::Serialized bytes{};
    WriteLE64(bytes.data(), value);
    return Num3072(bytes);
}

std::string SquareDigest(Num3072 x)
{
    x *= x;
    return ToHex(Sha256Of(x.ToBytes()));
}

/** x^(p-2), the inverse by Fermat: the slow reference of Num3072::Inverse. */
Num3072 FermatInverse(const Num3072& x)
{
    Num3072::Serialized exponent = JustBelowTwoTo3072(Num3072::kExcess + 2).ToBytes();
    Num3072 out;
    for (size_t bit = 3072; bit-- > 0;) {
        out *= out;
        if (exponent[bit / 8] >> (bit % 8) & 1) out *= x;
    }
    return out;
}

} // namespace

TEST_CASE("muhash known answers")
{
    CHECK(ToHex(MuHash3072().Finalize()) ==
          "c85525462fdcf30a2c18d6f4b92923000974355c2477f59594d2c205a1d25add");
    MuHash3072 acc = FromInt(0);
    acc *= FromInt(1);
    acc /= FromInt(2);
    Hash32 hash = acc.Finalize();
    std::ranges::reverse(hash); // printed as numbers are
    CHECK(ToHex(hash) == "10d312b100cbd32ada024a6646e40d3482fcff103668d2625f10002a607d5863");
}

TEST_CASE("muhash equals the derivation with big integers")
{
    MuHash3072 acc;
    for (size_t i = 0; i < 100; ++i) acc.Insert(Message(i)).Remove(Message(200 + i));
    CHECK(ToHex(acc.Finalize()) ==
          "542ab3e32998d01335ed6f25358d37976f8b206786ad138c94423bbf6eb6c772");
    CHECK(ToHex(Sha256Of(acc.Serialize())) ==
          "f5b5923f3433d6cfa32377342e2754531b17fbc670569c823ca9f86bfdf40e27");
}

TEST_CASE("num3072 squares at the edges of its range")
{
    const std::string one = "c85525462fdcf30a2c18d6f4b92923000974355c2477f59594d2c205a1d25add";
    const std::string zero = "a1a4f5721c1c4610af7f71078f3a68c330536d679803b0e0507ee8dc10c5dfca";
    CHECK(SquareDigest(Small(0)) == zero);
    CHECK(SquareDigest(Small(1)) == one);
    CHECK(SquareDigest(Small(2)) ==
          "0694f2883a92b68c40cb45e61ac46a16613e904bac0fb6954c95342084873fc5");
    CHECK(SquareDigest(JustBelowTwoTo3072(Num3072::kExcess + 1)) == one); // (-1)^2
    CHECK(SquareDigest(JustBelowTwoTo3072(Num3072::kExcess)) == zero);
    CHECK(SquareDigest(JustBelowTwoTo3072(Num3072::kExcess - 1)) == one);
    CHECK(SquareDigest(JustBelowTwoTo3072(1)) ==
          "1724303002e50c85bf36a6bd1a272587537b966f26b9e3d54b0a2e09d6ded663");
}

TEST_CASE("num3072 serializes the reduced value")
{
    const Num3072 two_more = JustBelowTwoTo3072(Num3072::kExcess - 2);
    CHECK(two_more.ToBytes() == Small(2).ToBytes());
    const Num3072 number = RandomNumber(); // below p, but for a chance of 2^-3051
    CHECK(Num3072(number.ToBytes()).ToBytes() == number.ToBytes());
}

TEST_CASE("num3072 inverse times the number is one")
{
    std::vector<Num3072> numbers = {Small(1),
                                    Small(2),
                                    Small(Num3072::kExcess),
                                    JustBelowTwoTo3072(1),
                                    JustBelowTwoTo3072(Num3072::kExcess - 1),
                                    JustBelowTwoTo3072(Num3072::kExcess + 1),
                                    JustBelowTwoTo3072(Num3072::kExcess + 2)};
    for (uint64_t shift = 0; shift < 64; shift += 7) numbers.push_back(Small(uint64_t{1} << shift));
    for (int i = 0; i < 200; ++i) numbers.push_back(RandomNumber());
    for (size_t size = 1; size < 384; size += 13) { // short numbers end the gcd early
        Num3072::Serialized bytes{};
        std::ranges::copy(RandomBytes(size), bytes.begin());
        bytes[0] |= 1;
        numbers.emplace_back(bytes);
    }
    for (const Num3072& number : numbers) {
        Num3072 product = number.Inverse();
        product *= number;
        CHECK(product.ToBytes() == Small(1).ToBytes());
    }
    for (size_t i = 0; i < numbers.size(); i += 40) {
        CHECK(FermatInverse(numbers[i]).ToBytes() == numbers[i].Inverse().ToBytes());
    }
    CHECK(Small(0).Inverse().ToBytes() == Small(0).ToBytes());
    CHECK(JustBelowTwoTo3072(Num3072::kExcess).Inverse().ToBytes() == Small(0).ToBytes());
}

TEST_CASE("num3072 multiplication is commutative, associative, and one is neutral")
{
    for (int i = 0; i < 300; ++i) {
        const Num3072 a = RandomNumber(), b = RandomNumber(), c = RandomNumber();
        Num3072 ab = a, ba = b, bc = b, one_a;
        ab *= b;
        ba *= a;
        CHECK(ab.ToBytes() == ba.ToBytes());
        bc *= c;
        ab *= c;
        bc *= a;
        CHECK(ab.ToBytes() == bc.ToBytes());
        one_a *= a;
        CHECK(one_a.ToBytes() == a.ToBytes());
    }
}

TEST_CASE("each 3072-bit multiplier gives the portable one's product")
{
    const WideMultiplier& portable = WideMultipliers().front();
    for (const WideMultiplier& multiplier : WideMultipliers()) {
        if (!multiplier.available) continue;
        INFO(multiplier.name);
        for (int round = 0; round < 500; ++round) {
            Num3072::Limbs a, b;
            for (uint64_t& limb : a) limb = TestRng()();
            for (uint64_t& limb : b) limb = TestRng()();
            // Runs of ones and zeros make long carries.
            if (round % 3 == 1) std::fill_n(a.begin(), TestRng()() % 49, ~uint64_t{0});
            if (round % 3 == 2) std::fill_n(b.begin(), TestRng()() % 49, uint64_t{0});
            if (round % 5 == 1) std::fill_n(b.begin(), TestRng()() % 49, ~uint64_t{0});
            if (round == 0) a.fill(~uint64_t{0});
            if (round == 0) b = a;
            if (round % 7 == 1) std::copy_n(a.begin(), a.size() / 2, a.begin() + a.size() / 2);
            WideProduct want, got;
            portable.multiply(a, b, want);
            multiplier.multiply(a, b, got);
            CHECK(got == want);
        }
    }
    CHECK(BestWideMultiplier().available);
}

TEST_CASE("muhash does not depend on order, and removing undoes inserting")
{
    std::vector<Bytes> set;
    for (size_t i = 0; i < 30; ++i) set.push_back(RandomBytes(TestRng()() % 100));
    MuHash3072 forward, shuffled, part;
    for (const Bytes& element : set) forward.Insert(element);
    std::shuffle(set.begin(), set.end(), TestRng());
    for (const Bytes& element : set) shuffled.Insert(element);
    CHECK(forward.Finalize() == shuffled.Finalize());
    // Union and difference with a part built elsewhere.
    for (size_t i = 0; i < 10; ++i) part.Insert(set[i]);
    MuHash3072 rest;
    for (size_t i = 10; i < set.size(); ++i) rest.Insert(set[i]);
    CHECK(rest.Finalize() != forward.Finalize());
    MuHash3072 both = rest;
    both *= part;
    CHECK(both.Finalize() == forward.Finalize());
    both /= part;
    CHECK(both.Finalize() == rest.Finalize());
    // Everything out again, before or after it went in.
    for (const Bytes& element : set) shuffled.Remove(element);
    CHECK(shuffled.Finalize() == MuHash3072().Finalize());
    const MuHash3072& itself = forward;
    forward /= itself;
    CHECK(forward.Finalize() == MuHash3072().Finalize());
    MuHash3072 early;
    early.Remove(set[0]).Insert(set[1]).Insert(set[0]);
    CHECK(early.Finalize() == MuHash3072(set[1]).Finalize());
}

TEST_CASE("muhash survives serialization")
{
    MuHash3072 acc;
    for (int i = 0; i < 10; ++i) acc.Insert(RandomBytes(40)).Remove(RandomBytes(41));
    const MuHash3072::Serialized bytes = acc.Serialize();
    MuHash3072 back = MuHash3072::Deserialize(bytes);
    CHECK(back.Serialize() == bytes);
    CHECK(back.Finalize() == acc.Finalize());
    const Bytes more = RandomBytes(36);
    CHECK(back.Insert(more).Finalize() == acc.Insert(more).Finalize());
}

} // namespace ibd

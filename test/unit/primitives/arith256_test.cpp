// Arith256: identities on random numbers, the compact form against known encodings, and a
// digit-by-digit reference for multiplication and division.
#include "primitives/arith256.h"

#include "support/testdata.h"

#include <cmath>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** A random number of a random length, so that carries, zeros and full limbs all occur. */
Arith256 RandomNumber()
{
    Arith256 out;
    for (int i = 0; i < 4; ++i) {
        const uint64_t kind = TestRng()() % 4;
        const uint64_t limb = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : TestRng()();
        out = (out << 64) + Arith256(limb);
    }
    return out >> static_cast<unsigned>(TestRng()() % 256);
}

bool Bit(const Arith256& n, unsigned i) { return ((n >> i).Low64() & 1) != 0; }

/** Schoolbook multiplication by doubling and adding. */
Arith256 SlowProduct(const Arith256& a, const Arith256& b)
{
    Arith256 sum;
    for (unsigned i = 0; i < 256; ++i) {
        if (Bit(b, i)) sum += a << i;
    }
    return sum;
}

Arith256 Number(const char* hex)
{
    std::string padded(64 - std::string(hex).size(), '0');
    return Arith256::FromHex(padded + hex).value();
}

const Arith256 kMax = ~Arith256(0);

} // namespace

TEST_CASE("arith256 identities")
{
    for (int round = 0; round < 2000; ++round) {
        const Arith256 a = RandomNumber(), b = RandomNumber(), c = RandomNumber();
        CHECK(a + b == b + a);
        CHECK(a + b - b == a);
        CHECK(a - b + b == a);
        CHECK((a + b) + c == a + (b + c));
        CHECK(a * (b + c) == a * b + a * c);
        CHECK(a * b == SlowProduct(a, b));
        CHECK(a + ~a == kMax);
        CHECK((a <=> b) == (~b <=> ~a));
        CHECK((a < b) == (a != b && !(b < a)));
        if (b != Arith256(0)) {
            const Arith256 q = a / b, rest = a - q * b;
            CHECK(rest < b);
            CHECK(q <= a);
        }
        CHECK(Arith256::FromUint256(a.ToUint256()) == a);
        CHECK(Arith256::FromHex(a.ToHex()) == a);
    }
}

TEST_CASE("arith256 shifts agree with single steps and lose what leaves")
{
    for (int round = 0; round < 200; ++round) {
        const Arith256 a = RandomNumber();
        Arith256 left = a, right = a;
        for (unsigned n = 0; n <= 256; ++n) {
            CHECK((a << n) == left);
            CHECK((a >> n) == right);
            left += left;
            right /= Arith256(2);
        }
        CHECK(left == Arith256(0));
        CHECK(right == Arith256(0));
    }
}

TEST_CASE("arith256 bit length and double")
{
    CHECK(Arith256(0).BitLength() == 0);
    CHECK(Arith256(0).ToDouble() == 0);
    CHECK(kMax.BitLength() == 256);
    for (unsigned i = 0; i < 256; ++i) {
        CHECK((Arith256(1) << i).BitLength() == i + 1);
        CHECK((Arith256(1) << i).ToDouble() == std::ldexp(1.0, static_cast<int>(i)));
    }
    CHECK(Arith256::FromHex("12") == std::nullopt);
    CHECK(Arith256::FromHex(std::string(64, 'g')) == std::nullopt);
}

TEST_CASE("compact targets of the networks")
{
    CHECK(Arith256::FromCompact(0x1d00ffff) == Number("ffff") << 208);
    CHECK(Arith256::FromCompact(0x207fffff) == Number("7fffff") << 232);
    CHECK(Arith256::FromCompact(0x1b0404cb).ToHex() ==
          "00000000000404cb000000000000000000000000000000000000000000000000");
    CHECK((Number("ffff") << 208).ToCompact() == 0x1d00ffff);
}

TEST_CASE("compact form: value, sign, overflow and canonical encoding")
{
    struct Row {
        uint32_t bits;
        const char* value;
        bool negative, overflow;
        uint32_t canonical;
    };
    const Row rows[] = {
        {0x00000000, "0", false, false, 0},
        {0x00123456, "0", false, false, 0},
        {0x01003456, "0", false, false, 0},
        {0x02000056, "0", false, false, 0},
        {0x03000000, "0", false, false, 0},
        {0x04000000, "0", false, false, 0},
        {0x00923456, "0", false, false, 0},
        {0x01803456, "0", false, false, 0},
        {0x02800056, "0", false, false, 0},
        {0x03800000, "0", false, false, 0},
        {0x04800000, "0", false, false, 0},
        {0x01123456, "12", false, false, 0x01120000},
        {0x01fedcba, "7e", true, false, 0x017e0000},
        {0x02123456, "1234", false, false, 0x02123400},
        {0x03123456, "123456", false, false, 0x03123456},
        {0x04123456, "12345600", false, false, 0x04123456},
        {0x04923456, "12345600", true, false, 0x04123456},
        {0x05009234, "92340000", false, false, 0x05009234},
        {0x20123456, "1234560000000000000000000000000000000000000000000000000000000000", false,
         false, 0x20123456},
        {0x21007fff, "7fff000000000000000000000000000000000000000000000000000000000000", false,
         false, 0x207fff00},
        {0x220000ff, "ff00000000000000000000000000000000000000000000000000000000000000", false,
         false, 0x2100ff00},
        {0x21010000, "0", false, true, 0},
        {0x22000100, "0", false, true, 0},
        {0x23000001, "0", false, true, 0},
        {0xff123456, "0", false, true, 0},
        {0xff923456, "0", true, true, 0},
        {0xff000000, "0", false, false, 0},
    };
    for (const Row& row : rows) {
        INFO("bits " << std::hex << row.bits);
        bool negative = false, overflow = false;
        const Arith256 value = Arith256::FromCompact(row.bits, &negative, &overflow);
        CHECK(value == Number(row.value));
        CHECK(negative == row.negative);
        CHECK(overflow == row.overflow);
        CHECK(value.ToCompact() == row.canonical);
    }
    CHECK(Arith256(0x80).ToCompact() == 0x02008000); // top bit would be the sign
}

TEST_CASE("compact form keeps the leading 15 bits and never rounds up")
{
    for (int round = 0; round < 5000; ++round) {
        const Arith256 a = RandomNumber();
        const Arith256 back = Arith256::FromCompact(a.ToCompact());
        CHECK(back <= a);
        CHECK(back.BitLength() == a.BitLength());
        if (a.BitLength() > 15) CHECK(((a - back) >> (a.BitLength() - 15)) == Arith256(0));
        CHECK(back.ToCompact() == a.ToCompact());
    }
}

// Points of secp256k1 in lanes, and g * G + q * Q for one key Q in each lane. Public data only.
// Included after lanes_field.h, with the same macros. `Curve`: Secp256k1, or in tests a curve of a
// few points over the same field, on which every case can be run.
//
// Algorithm: interleaved windows of signed digits (Moeller, "Algorithms for Multi-Exponentiation",
// 2001). One sequence of 128 doublings serves four factors: the lower and the upper 128 bits
// of g, with digits of 11 bits and tables of multiples of G and 2^128 G that are made once; and the
// halves of q, with digits of 4 bits and a table of 1 Q to 8 Q that is made in each lane. Its
// points get the same Z, by the ratios of the Z of successive sums (compare Meloni, "New Point
// Addition Formulae for ECC Applications", 2007).
//
// Bounds: coordinates are reduced (lanes_field.h) before and after each function; loose differences
// occur only inside.
//
// Formulas, of the Explicit-Formulas Database (dbl-2009-l, madd-2004-hmv): Jacobian coordinates (x
// = X / Z^2, y = Y / Z^3) of a curve y^2 = x^3 + b; b does not occur in them. They fail in these
// cases: an operand is infinity, or the two are equal or opposite.
//   - Infinity at the start (all digits so far were zero): a mask of lanes and blends handle it.
//   - Equal or opposite operands: AddAffine multiplies Z by the difference of the x coordinates,
//     so Z becomes zero, and every later Double and AddAffine multiplies that Z. So a result with
//     Z != 0 met no such case, whatever key and signature an attacker chose; one with Z = 0 is
//     "unsure".
//   - Double never fails: no point of this curve has y = 0, as the order of the group is odd.
#pragma once

#include "crypto/lanes_field.h"
#include "crypto/lanes_scalar.h"

#include <memory>
#include <vector>

namespace ibd::lanes {

namespace {

/** A field element, the least significant limb first. */
using Limbs = std::array<uint64_t, kLimbs>;

/** The parameters of the curve y^2 = x^3 + kB. All curves over this field with that form have the
 *  endomorphism (x, y) -> (beta x, y). */
struct Secp256k1 {
    static constexpr uint64_t kB = 7;
    static constexpr Limbs kGeneratorX = {0x2815B16F81798, 0xDB2DCE28D959F, 0xE870B07029BFC,
                                          0xBBAC55A06295C, 0x79BE667EF9DC};
    static constexpr Limbs kGeneratorY = {0x7D08FFB10D4B8, 0x48A68554199C4, 0xE1108A8FD17B4,
                                          0xC4655DA4FBFC0, 0x483ADA7726A3};
    /** Bits of a digit for the generator, whose table is made once. */
    static constexpr int kGeneratorBits = 11;
    /** The factors of a point and of its image that add up to k times the point. */
    static Halves Split(const Scalar& k) { return SplitByLambda(k); }
};

inline constexpr Limbs kBeta = {0x96C28719501EE, 0x7512F58995C13, 0xC3434E99CF049, 0x7106E64479EA,
                                0x7AE96A2B657C};

struct Affine {
    Field x, y;
};

struct Jacobian {
    Field x, y, z;
};

/** dbl-2009-l, with S = 4 x y^2. */
IBD_LANES_INLINE void Double(Jacobian& p)
{
    Field slope, y2, s, sum, difference;
    Square<3>(slope, p.x);
    Square(y2, p.y);
    Multiply<2>(p.z, p.y, p.z);
    Multiply<4>(s, p.x, y2);
    Negate<2>(sum, s);
    SquareAdd(p.x, slope, sum);
    Subtract(difference, s, p.x);
    Square(y2, y2);
    Negate<8>(sum, y2);
    MultiplyAdd(p.y, slope, difference, sum);
}

/** p += q (madd-2004-hmv). `x_difference`: the factor of Z. */
IBD_LANES_INLINE void AddAffine(Jacobian& p, const Affine& q, Field& x_difference)
{
    Field z2, z3, negated, r, h2, h3, v, sum;
    Field& h = x_difference;
    Square(z2, p.z);
    Negate(negated, p.x);
    MultiplyAdd(h, q.x, z2, negated);
    Multiply(z3, z2, p.z);
    Negate(negated, p.y);
    MultiplyAdd(r, q.y, z3, negated);
    Multiply(p.z, p.z, h);
    Square(h2, h);
    Multiply(v, p.x, h2);
    Multiply(h3, h2, h);
    Negate<2>(sum, v);
    Negate(negated, h3);
    Add(sum, sum, negated);
    SquareAdd(p.x, r, sum);
    Multiply(h3, h3, p.y);
    Subtract(v, v, p.x);
    Negate(negated, h3);
    MultiplyAdd(p.y, r, v, negated);
}

/** A point that may be infinity in some lanes. */
struct Accumulator {
    Jacobian point;
    Mask infinite = kAllLanes;
};

IBD_LANES_INLINE void SetOne(Field& a)
{
    a = Field{};
    Broadcast(a.limb[0], 1);
}

/** The same element in all lanes. */
IBD_LANES_INLINE void SetAll(Field& a, const Limbs& value)
{
    for (size_t i = 0; i < kLimbs; ++i) Broadcast(a.limb[i], value[i]);
}

/** sum += q in the lanes of `used`; q must not be infinity there. */
IBD_LANES_INLINE void AddIn(Accumulator& sum, const Affine& q, Mask used)
{
    Jacobian added = sum.point;
    Field ignored, one;
    AddAffine(added, q, ignored);
    const Mask first = used & sum.infinite;
    SetOne(one);
    Select(added.x, first, q.x, added.x);
    Select(added.y, first, q.y, added.y);
    Select(added.z, first, one, added.z);
    Select(sum.point.x, used, added.x, sum.point.x);
    Select(sum.point.y, used, added.y, sum.point.y);
    Select(sum.point.z, used, added.z, sum.point.z);
    sum.infinite &= Not(used);
}

/** Bits of a digit for a key, whose table is made for each verification. */
constexpr int kKeyBits = 4;
constexpr size_t kKeyEntries = size_t{1} << (kKeyBits - 1);
template <typename Curve>
constexpr size_t kGeneratorEntries = size_t{1} << (Curve::kGeneratorBits - 1);

/** 1 Q to 8 Q and their images under the endomorphism (x, y) -> (beta x, y). All have the same Z,
 *  so that they count as affine points of another curve of the same form, on which they are added.
 *  At the end Z is multiplied by `z`. This saves the inversion for real affine points. */
struct KeyTable {
    Affine multiple[kKeyEntries];
    Field beta_x[kKeyEntries];
    Field z;
};

IBD_LANES_TARGET inline void MakeKeyTable(KeyTable& table, const Affine& key)
{
    Field beta, ratio[kKeyEntries]; // ratio[i]: Z of entry i over Z of entry i - 1
    SetAll(beta, kBeta);
    Jacobian point{key.x, key.y, {}};
    SetOne(point.z);
    table.multiple[0] = key;
    for (size_t i = 1; i < kKeyEntries; ++i) {
        if (i == 1) {
            Double(point);
            ratio[1] = point.z;
        } else {
            AddAffine(point, key, ratio[i]);
        }
        table.multiple[i] = {point.x, point.y};
    }
    table.z = point.z;
    Field scale, square;
    SetOne(scale);
    for (size_t i = kKeyEntries - 1; i-- > 0;) {
        Multiply(scale, scale, ratio[i + 1]); // Z of the last entry over Z of this one
        Affine& entry = table.multiple[i];
        Square(square, scale);
        Multiply(entry.x, entry.x, square);
        Multiply(square, square, scale);
        Multiply(entry.y, entry.y, square);
    }
    for (size_t i = 0; i < kKeyEntries; ++i) {
        Multiply(table.beta_x[i], table.multiple[i].x, beta);
    }
}

/** One digit in each lane: its magnitude, and the mask of negative lanes. */
struct DigitLanes {
    Vector magnitude;
    Mask negative;
    Mask used; //!< nonzero digits
};

IBD_LANES_INLINE void SpreadDigits(DigitLanes& out, const int16_t (&digits)[kLanes])
{
    out.negative = out.used = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
        const int digit = digits[lane];
        out.magnitude[lane] = static_cast<uint64_t>(digit < 0 ? -digit : digit);
        out.negative |= static_cast<Mask>((digit < 0) << lane);
        out.used |= static_cast<Mask>((digit != 0) << lane);
    }
}

IBD_LANES_INLINE void NegateLanes(Field& y, Mask negative)
{
    Field negated;
    Negate(negated, y);
    Carry(negated);
    Select(y, negative, negated, y);
}

/** The table's entry for each lane's digit, with the digit's sign; the first entry for a zero
 *  digit. Reads all entries: gathering is slower than blending eight. */
IBD_LANES_INLINE void Choose(Affine& out, const KeyTable& table, const DigitLanes& digit,
                             bool image)
{
    out = {image ? table.beta_x[0] : table.multiple[0].x, table.multiple[0].y};
    for (size_t i = 1; i < kKeyEntries; ++i) {
        Vector wanted;
        Broadcast(wanted, i + 1);
        const Mask here = IBD_EQUAL(digit.magnitude, wanted);
        Select(out.x, here, image ? table.beta_x[i] : table.multiple[i].x, out.x);
        Select(out.y, here, table.multiple[i].y, out.y);
    }
    NegateLanes(out.y, digit.negative);
}

/** An affine point, not in lanes. */
struct TablePoint {
    Limbs x, y;
};
template <typename Curve>
using GeneratorTable = std::array<TablePoint, kGeneratorEntries<Curve>>;
/** Multiples of G and of 2^128 G. */
template <typename Curve>
using GeneratorTables = std::array<GeneratorTable<Curve>, 2>;

/** The factors of g G + q Q in each lane. The digits of g are those of its lower and upper 128
 * bits; the digits of q are those of its halves by the endomorphism. */
template <typename Curve>
struct Factors {
    int16_t generator[2][kDigitCount<Curve::kGeneratorBits>][kLanes];
    int16_t key[2][kDigitCount<kKeyBits>][kLanes];
};

/** The entry of a generator's table for each lane's digit, on the curve of the key's table. */
template <typename Curve>
IBD_LANES_INLINE void ChooseGenerator(Affine& out, const GeneratorTable<Curve>& table,
                                      const int16_t (&digits)[kLanes], const DigitLanes& digit,
                                      const Field& z2, const Field& z3)
{
    for (size_t lane = 0; lane < kLanes; ++lane) {
        const int value = digits[lane] < 0 ? -digits[lane] : digits[lane];
        const TablePoint& point = table[static_cast<size_t>(value == 0 ? 0 : value - 1)];
        for (size_t i = 0; i < kLimbs; ++i) {
            out.x.limb[i][lane] = point.x[i];
            out.y.limb[i][lane] = point.y[i];
        }
    }
    NegateLanes(out.y, digit.negative);
    Multiply(out.x, out.x, z2);
    Multiply(out.y, out.y, z3);
}

template <typename Curve>
IBD_LANES_TARGET void MultiplyPoints(Accumulator& out, const Factors<Curve>& factors,
                                     const Affine& key, const GeneratorTables<Curve>& generator)
{
    constexpr int kGeneratorBits = Curve::kGeneratorBits;
    KeyTable table;
    MakeKeyTable(table, key);
    Field z2, z3;
    Square(z2, table.z);
    Multiply(z3, z2, table.z);
    Accumulator sum{};
    Affine term;
    DigitLanes digit;
    constexpr size_t kTop = kKeyBits * (kDigitCount<kKeyBits> - 1);
    static_assert(kGeneratorBits * (kDigitCount<kGeneratorBits> - 1) <= kTop);
    for (size_t bit = kTop + 1; bit-- > 0;) {
        if (bit != kTop) Double(sum.point);
        for (size_t half = 0; half < 2 && bit % kKeyBits == 0; ++half) {
            SpreadDigits(digit, factors.key[half][bit / kKeyBits]);
            if (digit.used == 0) continue;
            Choose(term, table, digit, half == 1);
            AddIn(sum, term, digit.used);
        }
        for (size_t half = 0; half < 2 && bit % kGeneratorBits == 0; ++half) {
            const auto& digits = factors.generator[half][bit / kGeneratorBits];
            SpreadDigits(digit, digits);
            if (digit.used == 0) continue;
            ChooseGenerator<Curve>(term, generator[half], digits, digit, z2, z3);
            AddIn(sum, term, digit.used);
        }
    }
    Multiply(sum.point.z, sum.point.z, table.z);
    out = sum;
}

/** The affine point of a Jacobian one, given 1 / Z. */
IBD_LANES_INLINE void ToAffine(Affine& out, const Jacobian& p, const Field& inverse)
{
    Field power;
    Square(power, inverse);
    Multiply(out.x, p.x, power);
    Multiply(power, power, inverse);
    Multiply(out.y, p.y, power);
    Normalize(out.x);
    Normalize(out.y);
}

/** G in lane 0, 2^128 G in the others. */
template <typename Curve>
IBD_LANES_TARGET void MakeGenerators(Affine& out)
{
    Jacobian g{}, shifted{};
    SetAll(g.x, Curve::kGeneratorX);
    SetAll(g.y, Curve::kGeneratorY);
    SetOne(g.z);
    shifted = g;
    for (int i = 0; i < 128; ++i) Double(shifted);
    Field inverse[1] = {shifted.z};
    Invert(inverse);
    ToAffine(out, shifted, inverse[0]);
    constexpr Mask kFirstLane = 1;
    Select(out.x, kFirstLane, g.x, out.x);
    Select(out.y, kFirstLane, g.y, out.y);
}

template <typename Curve>
IBD_LANES_TARGET std::unique_ptr<GeneratorTables<Curve>> MakeGeneratorTables()
{
    Affine base;
    MakeGenerators<Curve>(base);
    std::vector<Jacobian> multiples(kGeneratorEntries<Curve>);
    std::vector<Field> before(multiples.size()); // product of all earlier Z
    Jacobian point{base.x, base.y, {}};
    SetOne(point.z);
    Field ignored, product[1] = {point.z};
    for (size_t i = 0; i < multiples.size(); ++i) {
        if (i == 1) Double(point);
        if (i > 1) AddAffine(point, base, ignored);
        multiples[i] = point;
        before[i] = product[0];
        Multiply(product[0], product[0], point.z);
    }
    Invert(product);
    auto tables = std::make_unique<GeneratorTables<Curve>>();
    for (size_t i = multiples.size(); i-- > 0;) {
        Field inverse;
        Affine affine;
        Multiply(inverse, product[0], before[i]);
        Multiply(product[0], product[0], multiples[i].z);
        ToAffine(affine, multiples[i], inverse);
        for (size_t lane = 0; lane < 2; ++lane) {
            for (size_t limb = 0; limb < kLimbs; ++limb) {
                (*tables)[lane][i].x[limb] = affine.x.limb[limb][lane];
                (*tables)[lane][i].y[limb] = affine.y.limb[limb][lane];
            }
        }
    }
    return tables;
}

} // namespace

} // namespace ibd::lanes

// Verification in lanes: decompresses keys, multiplies points and compares them with signatures.
// Included last, with the macros of lanes_field.h. A group fills all lanes; kGroups of them are
// processed at a time, so that they share an inversion and fill each other's latencies.
//
// Algorithm: y of a key is a square root of x^3 + 7, a power as p = 3 mod 4 (SEC 1, 2.3.4). The sum
// g G + q Q is compared with r, modulo p (signature_batch.cpp makes the equations):
//   - ECDSA, g = message / s, q = r / s: x is r;
//   - BIP 340, g = s, q = -challenge: x is r and y is even;
//   - a taproot tweak, g = tweak, q = 1: x is the output key's, and y has the stated parity.
//
// Bounds: x, y and r are below p, or the lane is "bad". Factors are below n; signature_batch.cpp
// refuses an r or s of ECDSA that is zero or not below n. An r below p - n is "unsure", because the
// x modulo n that ECDSA compares may be that of r + n.
#pragma once

#include "crypto/lanes.h"
#include "crypto/lanes_point.h"
#include "util/check.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace ibd::lanes {

namespace {

constexpr size_t kGroups = 8;

/** Four words of a big-endian number, the least significant first. */
inline std::array<uint64_t, 4> Words(const Word32& bytes)
{
    std::array<uint64_t, 4> out{};
    for (size_t i = 0; i < bytes.size(); ++i) out[3 - i / 8] = out[3 - i / 8] << 8 | bytes[i];
    return out;
}

/** p, in the form of Words. */
constexpr std::array<uint64_t, 4> kPrimeWords = {0xFFFFFFFEFFFFFC2F, ~uint64_t{0}, ~uint64_t{0},
                                                 ~uint64_t{0}};
/** p - n. An r below it may stand for two x, as x of a point is taken modulo n. */
constexpr std::array<uint64_t, 4> kPrimeMinusOrder = {0x402DA1722FC9BAEE, 0x4551231950B75FC4, 1, 0};

inline bool Below(const std::array<uint64_t, 4>& a, const std::array<uint64_t, 4>& b)
{
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

inline void SetLane(Field& out, size_t lane, const std::array<uint64_t, 4>& w)
{
    out.limb[0][lane] = w[0] & kMask52;
    out.limb[1][lane] = (w[0] >> 52 | w[1] << 12) & kMask52;
    out.limb[2][lane] = (w[1] >> 40 | w[2] << 24) & kMask52;
    out.limb[3][lane] = (w[2] >> 28 | w[3] << 36) & kMask52;
    out.limb[4][lane] = w[3] >> 16;
}

/** One job in each lane, being processed. */
template <typename Curve>
struct Group {
    Affine key{};
    Field r{}, x3{};
    Factors<Curve> factors{};
    Accumulator sum{};
    Mask odd_wanted = 0, y_given = 0;        //!< of the key
    Mask sum_parity_wanted = 0, odd_sum = 0; //!< required parity of y of the sum, if any
    Mask bad = 0;                            //!< no such point, or r is p or more
    Mask unsure = 0;                         //!< an r that stands for two x
};

template <size_t kCount>
void SetDigits(int16_t (&out)[kCount][kLanes], size_t lane, const std::array<int16_t, kCount>& in)
{
    for (size_t i = 0; i < kCount; ++i) out[i][lane] = in[i];
}

template <typename Curve>
void SetFactors(Factors<Curve>& out, size_t lane, const Job& job)
{
    constexpr int kGeneratorBits = Curve::kGeneratorBits;
    const auto& g = job.g.word;
    const Half low{Uint128{g[1]} << 64 | g[0], false}, high{Uint128{g[3]} << 64 | g[2], false};
    SetDigits(out.generator[0], lane, SignedDigits<kGeneratorBits>(low));
    SetDigits(out.generator[1], lane, SignedDigits<kGeneratorBits>(high));
    const Halves halves = Curve::Split(job.q);
    SetDigits(out.key[0], lane, SignedDigits<kKeyBits>(halves.first));
    SetDigits(out.key[1], lane, SignedDigits<kKeyBits>(halves.second));
}

/** Sets one lane; lanes without a job get a copy of another one. */
template <typename Curve>
void SetJob(Group<Curve>& group, size_t lane, const Job& job)
{
    const Mask bit = static_cast<Mask>(1u << lane);
    const auto x = Words(job.key_x), y = Words(job.key_y), r = Words(job.r);
    const bool given = job.form == KeyForm::kGivenY;
    if (!Below(x, kPrimeWords) || (given && !Below(y, kPrimeWords)) || !Below(r, kPrimeWords)) {
        group.bad |= bit;
    }
    SetLane(group.key.x, lane, x);
    SetLane(group.key.y, lane, y);
    SetLane(group.r, lane, r);
    if (given) group.y_given |= bit;
    if (job.form == KeyForm::kOddY) group.odd_wanted |= bit;
    if (job.equation != Equation::kEcdsa) {
        group.sum_parity_wanted |= bit;
        if (job.equation == Equation::kOddY) group.odd_sum |= bit;
    } else if (Below(r, kPrimeMinusOrder)) {
        group.unsure |= bit;
    }
    SetFactors(group.factors, lane, job);
}

/** x^3 + b of each key, reduced. */
template <typename Curve>
IBD_LANES_TARGET void CurveRightSide(Group<Curve>& group)
{
    Field b{};
    Broadcast(b.limb[0], Curve::kB);
    Square(group.x3, group.key.x);
    MultiplyAdd(group.x3, group.x3, group.key.x, b);
}

/** Uses the root as y if y is not given, with the required parity. */
template <typename Curve>
IBD_LANES_TARGET void TakeRoot(Group<Curve>& group, const Field& root)
{
    Field y = root;
    Normalize(y);
    NegateLanes(y, OddLanes(y) ^ group.odd_wanted);
    Select(group.key.y, group.y_given, group.key.y, y);
}

/** Marks keys that are not on the curve, and replaces them by a point on which all formulas work;
 *  its verdict is ignored. */
template <typename Curve>
IBD_LANES_TARGET void CheckOnCurve(Group<Curve>& group, const TablePoint& stand_in)
{
    Field difference;
    Square(difference, group.key.y);
    Subtract(difference, difference, group.x3);
    group.bad |= Not(ZeroLanes(difference));
    Affine other;
    SetAll(other.x, stand_in.x);
    SetAll(other.y, stand_in.y);
    Select(group.key.x, group.bad, other.x, group.key.x);
    Select(group.key.y, group.bad, other.y, group.key.y);
}

/** Decompresses the keys of all groups, two groups at a time, and checks them. */
template <typename Curve>
IBD_LANES_TARGET void MakeKeys(std::span<Group<Curve>> groups, const TablePoint& stand_in)
{
    for (Group<Curve>& group : groups) CurveRightSide(group);
    for (size_t i = 0; i < groups.size(); i += 2) {
        Group<Curve>& other = groups[std::min(i + 1, groups.size() - 1)];
        if ((groups[i].y_given & other.y_given) != kAllLanes) {
            Field roots[2] = {groups[i].x3, other.x3};
            SquareRoot(roots);
            TakeRoot(groups[i], roots[0]);
            if (&other != &groups[i]) TakeRoot(other, roots[1]);
        }
    }
    for (Group<Curve>& group : groups) CheckOnCurve(group, stand_in);
}

/** 1 / Z of all sums with one inversion (Montgomery's trick), in each lane. A zero Z counts as one;
 *  its result is ignored. */
template <typename Curve>
IBD_LANES_TARGET void InvertDenominators(std::span<const Group<Curve>> groups,
                                         Field (&out)[kGroups])
{
    Field z[kGroups], product[1], one;
    SetOne(one);
    product[0] = one;
    for (size_t i = 0; i < groups.size(); ++i) {
        Select(z[i], ZeroLanes(groups[i].sum.point.z), one, groups[i].sum.point.z);
        out[i] = product[0];
        Multiply(product[0], product[0], z[i]);
    }
    Invert(product);
    for (size_t i = groups.size(); i-- > 0;) {
        Multiply(out[i], out[i], product[0]);
        Multiply(product[0], product[0], z[i]);
    }
}

struct Masks {
    Mask valid, unsure;
};

template <typename Curve>
IBD_LANES_TARGET Masks Judge(const Group<Curve>& group, const Field& inverse)
{
    const Jacobian& point = group.sum.point;
    Field power, x, y, difference;
    Square(power, inverse);
    Multiply(x, point.x, power);
    Multiply(power, power, inverse);
    Multiply(y, point.y, power);
    Subtract(difference, x, group.r);
    const Mask wrong_parity = (OddLanes(y) ^ group.odd_sum) & group.sum_parity_wanted;
    Masks masks{};
    masks.unsure = group.unsure | group.sum.infinite | ZeroLanes(point.z);
    masks.valid = ZeroLanes(difference) & Not(wrong_parity);
    return masks;
}

inline Verdict VerdictOf(const Masks& masks, Mask bad, size_t lane)
{
    if ((bad >> lane & 1) != 0) return Verdict::kInvalid;
    if ((masks.unsure >> lane & 1) != 0) return Verdict::kUnsure;
    return (masks.valid >> lane & 1) != 0 ? Verdict::kValid : Verdict::kInvalid;
}

/** For at least one and at most kGroups * kLanes jobs. */
template <typename Curve>
IBD_LANES_TARGET void VerifySome(std::span<const Job> jobs, std::span<Verdict> verdicts,
                                 const GeneratorTables<Curve>& generator)
{
    Group<Curve> all[kGroups];
    const std::span<Group<Curve>> groups(all, (jobs.size() + kLanes - 1) / kLanes);
    for (size_t i = 0; i < groups.size() * kLanes; ++i) {
        SetJob(groups[i / kLanes], i % kLanes, jobs[std::min(i, jobs.size() - 1)]);
    }
    MakeKeys<Curve>(groups, generator[0][0]);
    for (Group<Curve>& group : groups) {
        MultiplyPoints<Curve>(group.sum, group.factors, group.key, generator);
    }
    Field inverses[kGroups];
    InvertDenominators<Curve>(groups, inverses);
    for (size_t i = 0; i < groups.size(); ++i) {
        const Masks masks = Judge(groups[i], inverses[i]);
        for (size_t lane = 0; lane < kLanes && i * kLanes + lane < jobs.size(); ++lane) {
            verdicts[i * kLanes + lane] = VerdictOf(masks, groups[i].bad, lane);
        }
    }
}

template <typename Curve>
void VerifyOn(std::span<const Job> jobs, std::span<Verdict> verdicts)
{
    static const std::unique_ptr<GeneratorTables<Curve>> generator = MakeGeneratorTables<Curve>();
    CHECK(jobs.size() == verdicts.size());
    constexpr size_t kAtOnce = kGroups * kLanes;
    for (size_t done = 0; done < jobs.size(); done += kAtOnce) {
        const size_t count = std::min(kAtOnce, jobs.size() - done);
        VerifySome<Curve>(jobs.subspan(done, count), verdicts.subspan(done, count), *generator);
    }
}

} // namespace

} // namespace ibd::lanes

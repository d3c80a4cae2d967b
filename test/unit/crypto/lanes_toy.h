// The lanes on curves of 13 and 199 points over the same field: y^2 = x^3 + 2 and y^2 = x^3 + 4
// have subgroups of these orders. The formulas contain neither b nor the order, so every addition
// and every exceptional case can be tried. To be included by a file of a test after the headers of
// the lanes, once for each set of instructions.
#pragma once

#include "support/testdata.h"

#include <boost/multiprecision/cpp_int.hpp>

#include "support/catch.h"

namespace ibd::lanes {

namespace {

using Big = boost::multiprecision::cpp_int;

/** Chosen by the test: the two halves of the number, each with its highest bit as its sign. */
Halves SplitAsGiven(const Scalar& k)
{
    constexpr Uint128 kMagnitude = (Uint128{1} << 127) - 1;
    const auto half = [](Uint128 bits) { return Half{bits & kMagnitude, (bits >> 127) != 0}; };
    return {half(Uint128{k.word[1]} << 64 | k.word[0]), half(Uint128{k.word[3]} << 64 | k.word[2])};
}

struct Toy13 {
    static constexpr uint64_t kB = 2;
    static constexpr Limbs kGeneratorX = {0x1F97C12902B8A, 0xB87CA04BCDC15, 0x91D77E7962476,
                                          0x658AFA2E3B404, 0x79EE1C36AEBD};
    static constexpr Limbs kGeneratorY = {0xD3B19BA84B045, 0xA915B8AA6A166, 0xE3E443FDF182A,
                                          0x94923A701CC3E, 0x942536CBA3E4};
    static constexpr int kGeneratorBits = 4;
    static constexpr int kOrder = 13;
    static constexpr int kLambda = 9; //!< (beta x, y) of a point is 9 times the point
    static Halves Split(const Scalar& k) { return SplitAsGiven(k); }
};

struct Toy199 {
    static constexpr uint64_t kB = 4;
    static constexpr Limbs kGeneratorX = {0xFDC49932FADEC, 0x995037208F56, 0xE953D8B918514,
                                          0x6BB86289EED13, 0xA619CFCEAA48};
    static constexpr Limbs kGeneratorY = {0x59210B2755A0A, 0x4E1AB2751909C, 0x6D2C0AFE4D792,
                                          0xF1B04E4943D8E, 0x6198D2F0300A};
    static constexpr int kGeneratorBits = 8;
    static constexpr int kOrder = 199;
    static constexpr int kLambda = 92;
    static Halves Split(const Scalar& k) { return SplitAsGiven(k); }
};

const Big kToyPrime("0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");

Big ModPrime(const Big& a) { return ((a % kToyPrime) + kToyPrime) % kToyPrime; }

Big InverseModPrime(const Big& a) { return powm(a, kToyPrime - 2, kToyPrime); }

Big BigOf(const Limbs& limbs)
{
    Big out = 0;
    for (size_t i = kLimbs; i-- > 0;) out = (out << 52) + limbs[i];
    return out;
}

Big LaneOf(const Field& a, size_t lane)
{
    Limbs limbs;
    for (size_t i = 0; i < kLimbs; ++i) limbs[i] = a.limb[i][lane];
    return ModPrime(BigOf(limbs));
}

void PutLane(Field& a, size_t lane, const Big& value)
{
    for (size_t i = 0; i < kLimbs; ++i) {
        a.limb[i][lane] = static_cast<uint64_t>((value >> (52 * i)) & kMask52);
    }
}

Word32 BytesOf(const Big& value)
{
    Word32 out;
    for (size_t i = 0; i < out.size(); ++i) {
        out[31 - i] = static_cast<uint8_t>((value >> (8 * i)) & 0xff);
    }
    return out;
}

struct BigPoint {
    Big x, y;
};

BigPoint AddAffineBig(const BigPoint& a, const BigPoint& b)
{
    const bool same = a.x == b.x;
    const Big slope = ModPrime(same ? Big(3 * a.x * a.x * InverseModPrime(ModPrime(2 * a.y)))
                                    : Big((b.y - a.y) * InverseModPrime(ModPrime(b.x - a.x))));
    const Big x = ModPrime(slope * slope - a.x - b.x);
    return {x, ModPrime(slope * (a.x - x) - a.y)};
}

/** k G at index k, for k from 1 to the order - 1; checks that they are a group of that order on the
 *  curve, and the endomorphism. */
template <typename Curve>
std::vector<BigPoint> AllPoints()
{
    std::vector<BigPoint> out(2, {BigOf(Curve::kGeneratorX), BigOf(Curve::kGeneratorY)});
    while (out.size() < Curve::kOrder) out.push_back(AddAffineBig(out.back(), out[1]));
    for (size_t k = 1; k < out.size(); ++k) {
        const BigPoint &point = out[k], &opposite = out[out.size() - k];
        REQUIRE(ModPrime(point.y * point.y - point.x * point.x * point.x) == Curve::kB);
        REQUIRE(opposite.x == point.x);
        REQUIRE(opposite.y == kToyPrime - point.y);
        const BigPoint& image = out[k * Curve::kLambda % Curve::kOrder];
        REQUIRE(image.x == ModPrime(BigOf(kBeta) * point.x));
        REQUIRE(image.y == point.y);
    }
    return out;
}

int RandomBelow(int end)
{
    return static_cast<int>(test::TestRng().Below(static_cast<size_t>(end)));
}

/** One addition in a lane: a + b, where 0 stands for infinity. */
struct Addition {
    int a, b;
    bool used;
    Big z;
};

template <typename Curve>
IBD_LANES_TARGET void CheckSums(const std::vector<BigPoint>& points,
                                const std::array<Addition, kLanes>& additions)
{
    Accumulator sum{};
    Affine term{};
    Mask used = 0;
    sum.infinite = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
        const auto& [a, b, is_used, z] = additions[lane];
        const BigPoint& first = points[static_cast<size_t>(a == 0 ? 1 : a)];
        PutLane(sum.point.x, lane, ModPrime(first.x * z * z));
        PutLane(sum.point.y, lane, ModPrime(first.y * z * z * z));
        PutLane(sum.point.z, lane, z);
        PutLane(term.x, lane, points[static_cast<size_t>(b)].x);
        PutLane(term.y, lane, points[static_cast<size_t>(b)].y);
        if (is_used) used |= static_cast<Mask>(1u << lane);
        if (a == 0) sum.infinite |= static_cast<Mask>(1u << lane);
    }
    AddIn(sum, term, used);
    const Mask zero = ZeroLanes(sum.point.z);
    for (size_t lane = 0; lane < kLanes; ++lane) {
        const auto& [a, b, is_used, ignored] = additions[lane];
        const bool exceptional = is_used && a != 0 && (a == b || a + b == Curve::kOrder);
        REQUIRE((sum.infinite >> lane & 1) == (a == 0 && !is_used ? 1 : 0));
        REQUIRE((zero >> lane & 1) == (exceptional ? 1 : 0));
        if (exceptional || (a == 0 && !is_used)) continue;
        const BigPoint& wanted = points[static_cast<size_t>((is_used ? a + b : a) % Curve::kOrder)];
        const Big z = LaneOf(sum.point.z, lane);
        REQUIRE(LaneOf(sum.point.x, lane) == ModPrime(wanted.x * z * z));
        REQUIRE(LaneOf(sum.point.y, lane) == ModPrime(wanted.y * z * z * z));
    }
}

/** Every pair of points, infinity on the left too, added or left alone, with any Z. */
template <typename Curve>
void CheckEveryAddition()
{
    const std::vector<BigPoint> points = AllPoints<Curve>();
    std::array<Addition, kLanes> additions;
    size_t filled = 0;
    const auto add = [&](int a, int b, bool used) {
        Big z = 1;
        for (const uint8_t byte : test::RandomBytes(32)) z = z * 256 + byte;
        additions[filled++] = {a, b, used, ModPrime(z)};
        if (filled < kLanes) return;
        CheckSums<Curve>(points, additions);
        filled = 0;
    };
    for (int a = 0; a < Curve::kOrder; ++a) {
        for (int b = 1; b < Curve::kOrder; ++b) {
            add(a, b, true);
            if (RandomBelow(8) == 0) add(a, b, false);
        }
    }
    while (filled != 0) add(0, 1, true);
}

/** Every doubling, of doubled points. */
template <typename Curve>
IBD_LANES_TARGET void CheckEveryDoubling()
{
    const std::vector<BigPoint> points = AllPoints<Curve>();
    for (size_t begin = 1; begin < points.size(); begin += kLanes) {
        Jacobian point{};
        const auto index = [&](size_t lane) { return std::min(begin + lane, points.size() - 1); };
        for (size_t lane = 0; lane < kLanes; ++lane) {
            PutLane(point.x, lane, points[index(lane)].x);
            PutLane(point.y, lane, points[index(lane)].y);
            PutLane(point.z, lane, 1);
        }
        for (size_t times = 2; times <= 8; times *= 2) {
            Double(point);
            for (size_t lane = 0; lane < kLanes; ++lane) {
                const BigPoint& wanted = points[index(lane) * times % Curve::kOrder];
                const Big z = LaneOf(point.z, lane);
                REQUIRE(LaneOf(point.x, lane) == ModPrime(wanted.x * z * z));
                REQUIRE(LaneOf(point.y, lane) == ModPrime(wanted.y * z * z * z));
            }
        }
    }
}

/** A model of the ladder of lanes_point.h, in numbers modulo the order. */
template <typename Curve>
class LadderModel {
public:
    /** `key`: the key is key * G. */
    LadderModel(const Job& job, int key)
    {
        const Uint128 low = Uint128{job.g.word[1]} << 64 | job.g.word[0];
        const Uint128 high = Uint128{job.g.word[3]} << 64 | job.g.word[2];
        const Halves q = Curve::Split(job.q);
        const Digits<kKeyBits> keys[2] = {SignedDigits<kKeyBits>(q.first),
                                          SignedDigits<kKeyBits>(q.second)};
        const Digits<kBits> generators[2] = {SignedDigits<kBits>({low, false}),
                                             SignedDigits<kBits>({high, false})};
        int two_to_128 = 1;
        for (int i = 0; i < 128; ++i) two_to_128 = two_to_128 * 2 % Curve::kOrder;
        const int key_points[2] = {key, key * Curve::kLambda};
        const int generator_points[2] = {1, two_to_128};
        for (size_t bit = 129; bit-- > 0;) {
            m_at = m_at * 2 % Curve::kOrder;
            if (bit % kKeyBits == 0) AddDigits(keys, key_points, bit / kKeyBits);
            if (bit % kBits == 0) AddDigits(generators, generator_points, bit / kBits);
        }
    }

    bool Unsure() const { return m_exceptional || m_infinite; }
    int Sum() const { return m_at; }

private:
    static constexpr int kBits = Curve::kGeneratorBits;

    template <typename Digits>
    void AddDigits(const Digits (&digits)[2], const int (&points)[2], size_t at)
    {
        for (size_t half = 0; half < 2; ++half) {
            if (at < digits[half].size() && digits[half][at] != 0) {
                Add(digits[half][at] * points[half]);
            }
        }
    }

    void Add(int term)
    {
        const int wanted = ((term % Curve::kOrder) + Curve::kOrder) % Curve::kOrder;
        REQUIRE(wanted != 0);
        const int sum = (m_at + wanted) % Curve::kOrder;
        if (!m_infinite && (m_at == wanted || sum == 0)) m_exceptional = true;
        m_infinite = false;
        m_at = sum;
    }

    int m_at = 0;
    bool m_infinite = true; //!< nothing added yet
    bool m_exceptional = false;
};

/** Jobs with their right verdicts, which are compared in large batches. */
template <typename Curve>
class ToyJobs {
public:
    ~ToyJobs() { Judge(); }

    /** g G + q * (key G) in the given form of key; `wide`: with large factors of the same value. r
     *  is x of r_point * G; 0: of no point. */
    void Add(int key, int g, int q, bool wide, int r_point, KeyForm form, Equation equation)
    {
        Job job{};
        const BigPoint& point = m_points[static_cast<size_t>(key)];
        const bool odd = point.y % 2 != 0;
        if (form != KeyForm::kGivenY) form = odd ? KeyForm::kOddY : KeyForm::kEvenY;
        job.form = form;
        job.equation = equation;
        job.key_x = BytesOf(point.x);
        if (form == KeyForm::kGivenY) job.key_y = BytesOf(point.y);
        SetFactors(job, g, q, wide);
        job.r = BytesOf(r_point == 0 ? kToyPrime - 1 : m_points[static_cast<size_t>(r_point)].x);
        m_expected.push_back(Expected(job, key, (g + q * key) % Curve::kOrder, r_point));
        m_jobs.push_back(job);
        if (m_jobs.size() == 512) Judge();
    }
    size_t Unsure() const { return m_unsure; }
    size_t Valid() const { return m_valid; }

private:
    static int Value(Uint128 number) { return static_cast<int>(number % Curve::kOrder); }
    static Uint128 Random127()
    {
        Uint128 out = 0;
        for (const uint8_t byte : test::RandomBytes(16)) out = out << 8 | byte;
        return out >> 1;
    }

    static void SetFactors(Job& job, int g, int q, bool wide)
    {
        Uint128 g_low = 0, g_high = 0, q_first = 0, q_second = 0;
        if (wide) {
            g_high = Random127();
            q_second = Random127();
            g_low = Random127() >> 8;
            q_first = Random127() >> 8;
        }
        int two_to_128 = 1;
        for (int i = 0; i < 128; ++i) two_to_128 = two_to_128 * 2 % Curve::kOrder;
        while ((Value(g_low) + Value(g_high) * two_to_128) % Curve::kOrder != g) ++g_low;
        const bool negative = wide && RandomBelow(2) == 0;
        const int sign = negative ? Curve::kOrder - 1 : 1;
        while ((Value(q_first) + Value(q_second) * sign * Curve::kLambda) % Curve::kOrder != q) {
            ++q_first;
        }
        if (negative) q_second |= Uint128{1} << 127;
        const auto set = [](Scalar& out, Uint128 low, Uint128 high) {
            out.word = {static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64),
                        static_cast<uint64_t>(high), static_cast<uint64_t>(high >> 64)};
        };
        set(job.g, g_low, g_high);
        set(job.q, q_first, q_second);
    }

    Verdict Expected(const Job& job, int key, int sum, int r_point)
    {
        const LadderModel<Curve> model(job, key);
        REQUIRE(model.Sum() == sum);
        if (model.Unsure()) return ++m_unsure, Verdict::kUnsure;
        REQUIRE(sum != 0);
        const bool odd = m_points[static_cast<size_t>(sum)].y % 2 != 0;
        const bool fits = r_point == sum || r_point == Curve::kOrder - sum;
        if (job.equation == Equation::kEvenY && odd) return Verdict::kInvalid;
        if (job.equation == Equation::kOddY && !odd) return Verdict::kInvalid;
        if (!fits) return Verdict::kInvalid;
        return ++m_valid, Verdict::kValid;
    }

    void Judge()
    {
        std::vector<Verdict> verdicts(m_jobs.size());
        VerifyOn<Curve>(m_jobs, verdicts);
        CHECK(verdicts == m_expected);
        m_jobs.clear();
        m_expected.clear();
    }

    const std::vector<BigPoint> m_points = AllPoints<Curve>();
    std::vector<Job> m_jobs;
    std::vector<Verdict> m_expected;
    size_t m_unsure = 0, m_valid = 0;
};

constexpr Equation kEquations[] = {Equation::kEcdsa, Equation::kEvenY, Equation::kOddY};

KeyForm RandomForm() { return RandomBelow(2) == 0 ? KeyForm::kGivenY : KeyForm::kEvenY; }

/** Every key, both factors and every r, with small and with large factors. */
template <typename Curve>
void CheckEveryVerdict()
{
    ToyJobs<Curve> jobs;
    for (int key = 1; key < Curve::kOrder; ++key) {
        for (int g = 0; g < Curve::kOrder; ++g) {
            for (int q = 0; q < Curve::kOrder; ++q) {
                for (int r = 0; r <= Curve::kOrder / 2; ++r) {
                    for (const Equation equation : kEquations) {
                        jobs.Add(key, g, q, false, r, RandomForm(), equation);
                        jobs.Add(key, g, q, true, r, RandomForm(), equation);
                    }
                }
            }
        }
    }
    CHECK(jobs.Valid() > 1'000);
    CHECK(jobs.Unsure() > 1'000);
}

/** Some of these: for each key and one factor, and the right r mostly. `step`: every so many keys.
 */
template <typename Curve>
void CheckVerdicts(int step)
{
    ToyJobs<Curve> jobs;
    for (int key = 1; key < Curve::kOrder; key += step) {
        for (int factor = 0; factor < Curve::kOrder; ++factor) {
            for (const bool wide : {false, true}) {
                const int other = RandomBelow(Curve::kOrder);
                const bool first = RandomBelow(2) == 0;
                const int g = first ? factor : other, q = first ? other : factor;
                const bool right = RandomBelow(4) != 0;
                const int r = right ? (g + q * key) % Curve::kOrder : RandomBelow(Curve::kOrder);
                jobs.Add(key, g, q, wide, r, RandomForm(), kEquations[RandomBelow(3)]);
            }
        }
    }
    CHECK(jobs.Valid() > 10);
    CHECK(jobs.Unsure() > 10);
}

} // namespace

} // namespace ibd::lanes

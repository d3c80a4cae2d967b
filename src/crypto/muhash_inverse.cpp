// See muhash_inverse.h. The method is that of Bernstein and Yang, "Fast constant-time gcd
// computation and modular inversion" (2019), in its variable-time form: 62 division steps are
// computed from the low words alone and collected in a 2x2 matrix, which is then applied to the
// long numbers f, g (the gcd) and d, e (with d*x = f and e*x = g mod p, up to powers of two).
#include "crypto/muhash_inverse.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

__extension__ typedef __int128 Int128;

/** 62-bit limbs, least significant first; the top one carries the sign. */
constexpr size_t kDigits = 50;
constexpr int kDigitBits = 62;
constexpr uint64_t kDigitMask = (uint64_t{1} << kDigitBits) - 1;
using Signed = std::array<int64_t, kDigits>;

/** The modulus has two nonzero digits. */
constexpr int64_t kModulusLow = -static_cast<int64_t>(kNum3072Excess);
constexpr int64_t kModulusHigh = int64_t{1} << (3072 - kDigitBits * (kDigits - 1));

/** 1 / p mod 2^64; each Newton step doubles the number of correct bits. */
constexpr uint64_t InverseOfModulus()
{
    const auto p = static_cast<uint64_t>(kModulusLow);
    uint64_t x = p; // correct in 3 bits, as for every odd number
    for (int i = 0; i < 5; ++i) x *= 2 - p * x;
    return x;
}
static_assert(InverseOfModulus() * static_cast<uint64_t>(kModulusLow) == 1);

/** 2^62 times the effect of 62 division steps: f' = u f + v g, g' = q f + r g. */
struct Matrix {
    int64_t u, v, q, r;
};

/** Runs 62 division steps on the low words of f and g (f odd). `eta` is minus the paper's delta. */
Matrix DivisionSteps(int64_t& eta, uint64_t f, uint64_t g)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    for (int left = kDigitBits;;) {
        const int zeros = std::countr_zero(g | (~uint64_t{0} << left));
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (eta < 0) {
            eta = -eta;
            std::swap(f, g);
            std::swap(u, q);
            std::swap(v, r);
            g = -g;
            q = -q;
            r = -r;
        }
        // Adds the multiple of f that clears up to six low bits of g: as many as possible before f
        // and g could be swapped again.
        const auto limit = static_cast<int>(std::min<int64_t>({eta + 1, left, 6}));
        const uint64_t mask = (uint64_t{1} << limit) - 1;
        const uint64_t w = (g * f * (f * f - 2)) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q),
            static_cast<int64_t>(r)};
}

int64_t LowDigit(Int128 x) { return static_cast<int64_t>(static_cast<uint64_t>(x) & kDigitMask); }

/** (f, g) = t (f, g) / 2^62, which is exact, in the digits below `size`. */
void UpdateFG(Signed& f, Signed& g, const Matrix& t, size_t size)
{
    Int128 cf = Int128{t.u} * f[0] + Int128{t.v} * g[0];
    Int128 cg = Int128{t.q} * f[0] + Int128{t.r} * g[0];
    cf >>= kDigitBits;
    cg >>= kDigitBits;
    for (size_t i = 1; i < size; ++i) {
        cf += Int128{t.u} * f[i] + Int128{t.v} * g[i];
        cg += Int128{t.q} * f[i] + Int128{t.r} * g[i];
        f[i - 1] = LowDigit(cf);
        g[i - 1] = LowDigit(cg);
        cf >>= kDigitBits;
        cg >>= kDigitBits;
    }
    f[size - 1] = static_cast<int64_t>(cf);
    g[size - 1] = static_cast<int64_t>(cg);
}

/** (d, e) = t (d, e) / 2^62 mod p. Both stay above -2p and below p. */
void UpdateDE(Signed& d, Signed& e, const Matrix& t)
{
    const int64_t d_sign = d[kDigits - 1] >> 63;
    const int64_t e_sign = e[kDigits - 1] >> 63;
    int64_t md = (t.u & d_sign) + (t.v & e_sign);
    int64_t me = (t.q & d_sign) + (t.r & e_sign);
    Int128 cd = Int128{t.u} * d[0] + Int128{t.v} * e[0];
    Int128 ce = Int128{t.q} * d[0] + Int128{t.r} * e[0];
    // Multiples of p that cancel the lowest digits.
    constexpr uint64_t kInverse = InverseOfModulus();
    md -= LowDigit(static_cast<Int128>(kInverse * static_cast<uint64_t>(cd)) + md);
    me -= LowDigit(static_cast<Int128>(kInverse * static_cast<uint64_t>(ce)) + me);
    cd += Int128{kModulusLow} * md;
    ce += Int128{kModulusLow} * me;
    cd >>= kDigitBits;
    ce >>= kDigitBits;
    for (size_t i = 1; i < kDigits; ++i) {
        cd += Int128{t.u} * d[i] + Int128{t.v} * e[i];
        ce += Int128{t.q} * d[i] + Int128{t.r} * e[i];
        if (i == kDigits - 1) {
            cd += Int128{kModulusHigh} * md;
            ce += Int128{kModulusHigh} * me;
        }
        d[i - 1] = LowDigit(cd);
        e[i - 1] = LowDigit(ce);
        cd >>= kDigitBits;
        ce >>= kDigitBits;
    }
    d[kDigits - 1] = static_cast<int64_t>(cd);
    e[kDigits - 1] = static_cast<int64_t>(ce);
}

/** Brings all digits but the top one into 0 .. 2^62 - 1. */
void Carry(Signed& x)
{
    for (size_t i = 0; i + 1 < kDigits; ++i) {
        x[i + 1] += x[i] >> kDigitBits;
        x[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) & kDigitMask);
    }
}

void AddModulusIfNegative(Signed& x)
{
    if (x[kDigits - 1] >= 0) return;
    x[0] += kModulusLow;
    x[kDigits - 1] += kModulusHigh;
    Carry(x);
}

/** d, or -d, in the range 0 .. p-1. */
void Normalize(Signed& d, bool negate)
{
    AddModulusIfNegative(d);
    if (negate) {
        for (int64_t& digit : d) digit = -digit;
        Carry(d);
    }
    AddModulusIfNegative(d);
}

/** Regroups the bits of digits or limbs; both arrays hold 3072 bits in digits of different sizes.
 */
template <size_t kFromBits, size_t kToBits, typename To, typename From>
To Regroup(const From& from)
{
    To to{};
    for (size_t bit = 0; bit < 3072;) {
        const size_t n =
            std::min({kFromBits - bit % kFromBits, kToBits - bit % kToBits, size_t{3072} - bit});
        const uint64_t mask = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
        const uint64_t part =
            (static_cast<uint64_t>(from[bit / kFromBits]) >> (bit % kFromBits)) & mask;
        auto& digit = to[bit / kToBits];
        digit = static_cast<typename To::value_type>(static_cast<uint64_t>(digit) |
                                                     part << (bit % kToBits));
        bit += n;
    }
    return to;
}

bool IsZero(const Signed& x, size_t size)
{
    return std::all_of(x.begin(), x.begin() + static_cast<ptrdiff_t>(size),
                       [](int64_t digit) { return digit == 0; });
}

/** Drops the top digit of both while it holds only the sign; returns the new size. */
size_t Shrink(Signed& f, Signed& g, size_t size)
{
    while (size > 1) {
        const int64_t top_f = f[size - 1];
        const int64_t top_g = g[size - 1];
        if (top_f != top_f >> 63 || top_g != top_g >> 63) break;
        // The digit below takes the sign, in its two bits above the 62nd.
        f[size - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_f) << kDigitBits);
        g[size - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_g) << kDigitBits);
        --size;
    }
    return size;
}

} // namespace

Num3072Limbs InverseModP(const Num3072Limbs& value)
{
    Signed f{}, d{}, e{};
    f[0] = kModulusLow;
    f[kDigits - 1] = kModulusHigh;
    Carry(f);
    Signed g = Regroup<64, kDigitBits, Signed>(value);
    e[0] = 1;
    int64_t eta = -1;
    size_t size = kDigits;
    while (!IsZero(g, size)) {
        const Matrix t =
            DivisionSteps(eta, static_cast<uint64_t>(f[0]), static_cast<uint64_t>(g[0]));
        UpdateDE(d, e, t);
        UpdateFG(f, g, t, size);
        size = Shrink(f, g, size);
    }
    Normalize(d, f[size - 1] < 0); // f is 1 or -1; or the modulus if value is zero
    return Regroup<kDigitBits, 64, Num3072Limbs>(d);
}

} // namespace ibd

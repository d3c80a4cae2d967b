// See muhash.h.
#include "crypto/muhash.h"

#include "crypto/chacha20.h"
#include "crypto/muhash_inverse.h"
#include "crypto/muhash_multiply.h"
#include "crypto/muhash_products.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr size_t kLimbs = Num3072::kLimbs;

constexpr uint64_t kExcess = Num3072::kExcess;

using Limbs = Num3072::Limbs;

uint64_t Low(Uint128 x) { return static_cast<uint64_t>(x); }

uint64_t High(Uint128 x) { return static_cast<uint64_t>(x >> 64); }

/** Adds a number below 2^128 to x; returns whether the sum wrapped at 2^3072. */
bool AddSmall(Limbs& x, Uint128 addend)
{
    for (size_t i = 0; i < kLimbs && addend != 0; ++i) {
        const Uint128 sum = Uint128{x[i]} + Low(addend);
        x[i] = Low(sum);
        addend = (addend >> 64) + High(sum);
    }
    return addend != 0;
}

/** out = product mod p, below 2^3072: 2^3072 = kExcess mod p, so the upper half is multiplied by
 *  kExcess. */
void Reduce(const WideProduct& product, Limbs& out)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < kLimbs; ++i) {
        const Uint128 sum = Uint128{product[kLimbs + i]} * kExcess + product[i] + carry;
        out[i] = Low(sum);
        carry = High(sum);
    }
    // The carry is below 2^22, so after a wrap the low limbs are small.
    if (AddSmall(out, Uint128{carry} * kExcess)) AddSmall(out, kExcess);
}

/** Multiplies by the elements of the keys. */
void MultiplyElements(Num3072& product, std::span<const Hash32> keys)
{
    static const MuHashProducts in_lanes = IfmaMuHashProducts();
    // Each lane ends with one multiplication more.
    if (in_lanes == nullptr || keys.size() <= kMuHashLanes) {
        for (const Hash32& key : keys) product *= MuHash3072::HashedElement(key);
        return;
    }
    MuHashFactors factors;
    in_lanes(keys, factors);
    for (const Num3072Limbs& factor : factors) product *= Num3072(factor);
}

} // namespace

Num3072::Num3072(const Serialized& bytes)
{
    for (size_t i = 0; i < kLimbs; ++i) m_limbs[i] = ReadLE64(bytes.data() + 8 * i);
}

Num3072& Num3072::operator*=(const Num3072& other)
{
    WideProduct product;
    BestWideMultiplier().multiply(m_limbs, other.m_limbs, product);
    Reduce(product, m_limbs);
    return *this;
}

/** Whether the value is not below the modulus. */
bool Num3072::IsOverflow() const
{
    return m_limbs[0] >= uint64_t{0} - kExcess &&
           std::all_of(m_limbs.begin() + 1, m_limbs.end(), [](uint64_t x) { return x + 1 == 0; });
}

void Num3072::ReduceOnce()
{
    if (IsOverflow()) AddSmall(m_limbs, kExcess); // subtracts p: wraps at 2^3072
}

Num3072 Num3072::Inverse() const
{
    Num3072 reduced = *this;
    reduced.ReduceOnce();
    Num3072 out;
    out.m_limbs = InverseModP(reduced.m_limbs);
    return out;
}

Num3072::Serialized Num3072::ToBytes() const
{
    Num3072 reduced = *this;
    reduced.ReduceOnce();
    Serialized out;
    for (size_t i = 0; i < kLimbs; ++i) WriteLE64(out.data() + 8 * i, reduced.m_limbs[i]);
    return out;
}

MuHash3072& MuHash3072::Insert(ByteSpan element)
{
    m_numerator *= Element(element);
    return *this;
}

MuHash3072& MuHash3072::Remove(ByteSpan element)
{
    m_denominator *= Element(element);
    return *this;
}

MuHash3072& MuHash3072::InsertHashed(std::span<const Hash32> elements)
{
    MultiplyElements(m_numerator, elements);
    return *this;
}

MuHash3072& MuHash3072::RemoveHashed(std::span<const Hash32> elements)
{
    MultiplyElements(m_denominator, elements);
    return *this;
}

MuHash3072& MuHash3072::operator*=(const MuHash3072& other)
{
    m_numerator *= other.m_numerator;
    m_denominator *= other.m_denominator;
    return *this;
}

MuHash3072& MuHash3072::operator/=(const MuHash3072& other)
{
    // Copies, so that a hash can be divided by itself.
    const Num3072 up = other.m_denominator;
    const Num3072 down = other.m_numerator;
    m_numerator *= up;
    m_denominator *= down;
    return *this;
}

Hash32 MuHash3072::Finalize() const
{
    Num3072 quotient = m_numerator;
    quotient *= m_denominator.Inverse();
    return Sha256Of(quotient.ToBytes());
}

MuHash3072::Serialized MuHash3072::Serialize() const
{
    const Num3072::Serialized up = m_numerator.ToBytes();
    const Num3072::Serialized down = m_denominator.ToBytes();
    Serialized out;
    std::ranges::copy(up, out.begin());
    std::ranges::copy(down, out.begin() + Num3072::kByteSize);
    return out;
}

MuHash3072 MuHash3072::Deserialize(const Serialized& bytes)
{
    Num3072::Serialized half;
    MuHash3072 out;
    std::copy_n(bytes.begin(), half.size(), half.begin());
    out.m_numerator = Num3072(half);
    std::copy_n(bytes.begin() + Num3072::kByteSize, half.size(), half.begin());
    out.m_denominator = Num3072(half);
    return out;
}

Num3072 MuHash3072::HashedElement(const Hash32& key)
{
    Num3072::Serialized bytes;
    ChaCha20(key).Keystream(bytes);
    return Num3072(bytes);
}

} // namespace ibd

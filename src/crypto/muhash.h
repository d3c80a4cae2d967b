// MuHash3072: a hash of a set to which elements can be added, and from which they can be removed,
// in any order (Bellare, Micciancio 1997, with the modulus 2^3072 - 1103717). Equal to the UTXO set
// hash `muhash` of Bitcoin Core. 768 bytes; a value type, owned by one thread at a time; results of
// several threads are combined by *=.
#pragma once

#include "crypto/num3072_limbs.h"
#include "crypto/sha256.h"

#include <span>

namespace ibd {

/** An integer modulo 2^3072 - 1103717; may be held unreduced below 2^3072. */
class Num3072 {
public:
    static constexpr uint64_t kExcess = kNum3072Excess;
    static constexpr size_t kLimbs = kNum3072Limbs;
    static constexpr size_t kByteSize = 384;
    using Limbs = Num3072Limbs;
    using Serialized = std::array<uint8_t, kByteSize>;

    /** One. */
    Num3072() { m_limbs[0] = 1; }

    /** From limbs, any value. */
    explicit Num3072(const Limbs& limbs) : m_limbs(limbs) {}

    /** From 384 little-endian bytes, any value. */
    explicit Num3072(const Serialized& bytes);

    Num3072& operator*=(const Num3072& other);

    /** The multiplicative inverse; zero for zero. */
    Num3072 Inverse() const;

    /** The fully reduced value as 384 little-endian bytes. */
    Serialized ToBytes() const;

private:
    void ReduceOnce();
    bool IsOverflow() const;

    Limbs m_limbs{};
};

class MuHash3072 {
public:
    static constexpr size_t kByteSize = 2 * Num3072::kByteSize;
    using Serialized = std::array<uint8_t, kByteSize>;

    /** The hash of the empty set. */
    MuHash3072() = default;

    /** The set with just this element. */
    explicit MuHash3072(ByteSpan element) : m_numerator(Element(element)) {}

    MuHash3072& Insert(ByteSpan element);
    MuHash3072& Remove(ByteSpan element);

    /** As Insert() and Remove() of many elements, of which the SHA-256 are given: with vector lanes
     *  in a quarter of the time (crypto/muhash_products.h). */
    MuHash3072& InsertHashed(std::span<const Hash32> elements);
    MuHash3072& RemoveHashed(std::span<const Hash32> elements);

    /** Union with the other (multi)set. */
    MuHash3072& operator*=(const MuHash3072& other);

    /** Difference with the other (multi)set. */
    MuHash3072& operator/=(const MuHash3072& other);

    /** SHA-256 of numerator / denominator as 384 little-endian bytes; one inversion. The object is
     *  unchanged. */
    Hash32 Finalize() const;

    /** Numerator then denominator, each 384 little-endian bytes (as in Core's coinstats index). */
    Serialized Serialize() const;
    static MuHash3072 Deserialize(const Serialized& bytes);

    /** The group element of a byte string: ChaCha20 keystream keyed by its SHA-256. */
    static Num3072 Element(ByteSpan data) { return HashedElement(Sha256Of(data)); }
    /** The same of the byte string's SHA-256. */
    static Num3072 HashedElement(const Hash32& key);

private:
    Num3072 m_numerator;
    Num3072 m_denominator;
};

} // namespace ibd

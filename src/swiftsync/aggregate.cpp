// See aggregate.h.
#include "swiftsync/aggregate.h"

#include "crypto/muhash.h"
#include "crypto/sha256_batch.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

/** Digests hashed at once: 8 KiB, so that they are summed while still in the L1 cache. */
constexpr size_t kBatch = 256;

/** A number mod 2^256, least significant limb first. */
using Limbs = std::array<uint64_t, 4>;

uint64_t AddWithCarry(uint64_t a, uint64_t b, uint64_t& carry)
{
    const uint64_t with_carry = a + carry;
    const uint64_t sum = with_carry + b;
    carry = static_cast<uint64_t>(with_carry < carry) + static_cast<uint64_t>(sum < b);
    return sum;
}

void AddTo(Limbs& sum, const Limbs& term)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = AddWithCarry(sum[i], term[i], carry);
}

Limbs Negated(const Limbs& value)
{
    Limbs out;
    uint64_t carry = 1;
    for (size_t i = 0; i < out.size(); ++i) out[i] = AddWithCarry(~value[i], 0, carry);
    return out;
}

Limbs LimbsOf(const uint8_t* bytes)
{
    return {ReadLE64(bytes), ReadLE64(bytes + 8), ReadLE64(bytes + 16), ReadLE64(bytes + 24)};
}

__extension__ typedef unsigned __int128 Uint128;

/** Sum of the digests. Each column is added separately and the carries are applied once at the end,
 *  so that no limb waits for the carry of another. */
Limbs SumOfDigests(std::span<const Hash32> digests)
{
    Uint128 a = 0, b = 0, c = 0, d = 0; // separate variables stay in registers; an array would not
    for (const Hash32& digest : digests) {
        a += ReadLE64(digest.data());
        b += ReadLE64(digest.data() + 8);
        c += ReadLE64(digest.data() + 16);
        d += ReadLE64(digest.data() + 24);
    }
    Limbs sum;
    size_t limb = 0;
    Uint128 carry = 0;
    for (const Uint128 column : {a, b, c, d}) {
        carry += column;
        sum[limb++] = static_cast<uint64_t>(carry);
        carry >>= 64;
    }
    return sum;
}

Error WrongSize(ByteSpan serialized)
{
    return BadData("an aggregate of {} bytes has the wrong size", serialized.size());
}

/** SHA-256 of messages behind a salt. */
class SaltedHasher {
public:
    explicit SaltedHasher(const AggregateSalt& salt)
        : m_salted(Sha256().Write(salt)), m_midstate(m_salted.State()), m_digests(kBatch)
    {
    }

    Hash32 Digest(ByteSpan message) const { return Sha256(m_salted).Write(message).Finalize(); }

    /** Calls `use(digests)` for some outpoints at a time. */
    template <typename Use>
    void ForEachBatch(const uint8_t* outpoints, size_t count, Use use)
    {
        while (count > 0) {
            const size_t n = std::min(count, kBatch);
            HashOutpoints(m_midstate, outpoints, kOutpointSize, n, m_digests.data());
            use(std::span<const Hash32>(m_digests).first(n));
            outpoints += n * kOutpointSize;
            count -= n;
        }
    }

private:
    const Sha256 m_salted;
    const Sha256State m_midstate;
    std::vector<Hash32> m_digests;
};

class Sha256Aggregate final : public Aggregate {
public:
    explicit Sha256Aggregate(const AggregateSalt& salt) : m_hasher(salt) {}

    void AddCreated(const uint8_t* outpoints, size_t count) override
    {
        AddTo(m_sum, SumOf(outpoints, count));
    }
    void AddSpent(const uint8_t* outpoints, size_t count) override
    {
        AddTo(m_sum, Negated(SumOf(outpoints, count)));
    }
    // Not in lanes: whole coins come with scripts, which take 100 times as long to verify.
    void AddCreatedCoin(ByteSpan coin) override
    {
        AddTo(m_sum, LimbsOf(m_hasher.Digest(coin).data()));
    }
    void AddSpentCoin(ByteSpan coin) override
    {
        AddTo(m_sum, Negated(LimbsOf(m_hasher.Digest(coin).data())));
    }
    void Combine(const Aggregate& other) override
    {
        CHECK(other.Kind() == Kind());
        AddTo(m_sum, LimbsOf(other.Serialize().data()));
    }
    bool IsZero() const override { return m_sum == Limbs{}; }
    void Clear() override { m_sum = {}; }
    AggregateKind Kind() const override { return AggregateKind::kSha256; }
    Bytes Serialize() const override
    {
        Bytes out(32);
        for (size_t i = 0; i < m_sum.size(); ++i) WriteLE64(out.data() + 8 * i, m_sum[i]);
        return out;
    }
    Result<> Load(ByteSpan serialized) override
    {
        if (serialized.size() != 32) return WrongSize(serialized);
        m_sum = LimbsOf(serialized.data());
        return {};
    }

private:
    Limbs SumOf(const uint8_t* outpoints, size_t count)
    {
        Limbs sum{};
        m_hasher.ForEachBatch(outpoints, count,
                              [&](auto digests) { AddTo(sum, SumOfDigests(digests)); });
        return sum;
    }

    SaltedHasher m_hasher;
    Limbs m_sum{};
};

class MuHashAggregate final : public Aggregate {
public:
    explicit MuHashAggregate(const AggregateSalt& salt) : m_hasher(salt) {}

    void AddCreated(const uint8_t* outpoints, size_t count) override
    {
        m_hasher.ForEachBatch(outpoints, count,
                              [&](auto digests) { m_hash.InsertHashed(digests); });
    }
    void AddSpent(const uint8_t* outpoints, size_t count) override
    {
        m_hasher.ForEachBatch(outpoints, count,
                              [&](auto digests) { m_hash.RemoveHashed(digests); });
    }
    // Not in lanes: see Sha256Aggregate.
    void AddCreatedCoin(ByteSpan coin) override
    {
        const Hash32 digest = m_hasher.Digest(coin);
        m_hash.InsertHashed({&digest, 1});
    }
    void AddSpentCoin(ByteSpan coin) override
    {
        const Hash32 digest = m_hasher.Digest(coin);
        m_hash.RemoveHashed({&digest, 1});
    }
    void Combine(const Aggregate& other) override
    {
        CHECK(other.Kind() == Kind());
        m_hash *= static_cast<const MuHashAggregate&>(other).m_hash;
    }
    bool IsZero() const override { return m_hash.Finalize() == MuHash3072().Finalize(); }
    void Clear() override { m_hash = {}; }
    AggregateKind Kind() const override { return AggregateKind::kMuHash; }
    Bytes Serialize() const override
    {
        const MuHash3072::Serialized bytes = m_hash.Serialize();
        return {bytes.begin(), bytes.end()};
    }
    Result<> Load(ByteSpan serialized) override
    {
        MuHash3072::Serialized bytes;
        if (serialized.size() != bytes.size()) return WrongSize(serialized);
        std::copy(serialized.begin(), serialized.end(), bytes.begin());
        m_hash = MuHash3072::Deserialize(bytes);
        return {};
    }

private:
    SaltedHasher m_hasher;
    MuHash3072 m_hash;
};

class SlowSha256Aggregate final : public Aggregate {
public:
    explicit SlowSha256Aggregate(const AggregateSalt& salt) : m_salt(salt) {}

    void AddCreated(const uint8_t* outpoints, size_t count) override
    {
        for (size_t i = 0; i < count; ++i) AddCreatedCoin({outpoints + i * kOutpointSize, 36});
    }
    void AddSpent(const uint8_t* outpoints, size_t count) override
    {
        for (size_t i = 0; i < count; ++i) AddSpentCoin({outpoints + i * kOutpointSize, 36});
    }
    void AddCreatedCoin(ByteSpan coin) override { AddBytes(Digest(coin)); }
    void AddSpentCoin(ByteSpan coin) override { SubtractBytes(Digest(coin)); }
    void Combine(const Aggregate& other) override
    {
        CHECK(other.Kind() == Kind());
        Hash32 term;
        const Bytes bytes = other.Serialize();
        std::copy_n(bytes.begin(), term.size(), term.begin());
        AddBytes(term);
    }
    bool IsZero() const override { return m_sum == Hash32{}; }
    void Clear() override { m_sum = {}; }
    AggregateKind Kind() const override { return AggregateKind::kSha256; }
    Bytes Serialize() const override { return {m_sum.begin(), m_sum.end()}; }
    Result<> Load(ByteSpan serialized) override
    {
        if (serialized.size() != m_sum.size()) return WrongSize(serialized);
        std::copy(serialized.begin(), serialized.end(), m_sum.begin());
        return {};
    }

private:
    Hash32 Digest(ByteSpan message) const
    {
        return Sha256().Write(m_salt).Write(message).Finalize();
    }
    void AddBytes(const Hash32& term)
    {
        unsigned carry = 0;
        for (size_t i = 0; i < m_sum.size(); ++i) {
            carry += unsigned{m_sum[i]} + term[i];
            m_sum[i] = static_cast<uint8_t>(carry);
            carry >>= 8;
        }
    }
    void SubtractBytes(const Hash32& term)
    {
        unsigned borrow = 0;
        for (size_t i = 0; i < m_sum.size(); ++i) {
            const unsigned value = 256u + m_sum[i] - term[i] - borrow;
            m_sum[i] = static_cast<uint8_t>(value);
            borrow = value < 256 ? 1 : 0;
        }
    }

    const AggregateSalt m_salt;
    Hash32 m_sum{};
};

} // namespace

const char* AggregateKindName(AggregateKind kind)
{
    return kind == AggregateKind::kSha256 ? "sha256" : "muhash";
}

std::optional<AggregateKind> AggregateKindFromName(std::string_view name)
{
    for (const auto kind : {AggregateKind::kSha256, AggregateKind::kMuHash}) {
        if (name == AggregateKindName(kind)) return kind;
    }
    return std::nullopt;
}

std::unique_ptr<Aggregate> MakeAggregate(AggregateKind kind, const AggregateSalt& salt)
{
    if (kind == AggregateKind::kMuHash) return std::make_unique<MuHashAggregate>(salt);
    return std::make_unique<Sha256Aggregate>(salt);
}

std::unique_ptr<Aggregate> MakeSlowSha256Aggregate(const AggregateSalt& salt)
{
    return std::make_unique<SlowSha256Aggregate>(salt);
}

} // namespace ibd

// Aggregate: a running difference of two multisets of outpoints, created minus spent, that is zero
// if they are equal, and otherwise only with negligible probability. Order does not matter, so each
// worker keeps its own and they are combined at the end. Each is used by one thread at a time.
//
// kSha256: the sum mod 2^256 of SHA-256(salt ‖ txid ‖ vout), read as little-endian numbers. The
// salt is a secret random block of 64 bytes, fixed for a sync. The authors of chain and hints do
// not know it and so cannot prepare a collision. kMuHash: MuHash3072 over the same messages; slow,
// but secure even with a known salt.
#pragma once

#include "crypto/sha256.h"
#include "util/result.h"

#include <memory>

namespace ibd {

enum class AggregateKind : uint8_t { kSha256 = 0, kMuHash = 1 };

/** "sha256" or "muhash", the values of -ibdboosteraggregate. */
const char* AggregateKindName(AggregateKind kind);
std::optional<AggregateKind> AggregateKindFromName(std::string_view name);

/** The secret of one sync, from Env::RandomBytes. */
using AggregateSalt = std::array<uint8_t, Sha256::kBlockSize>;

class Aggregate {
public:
    virtual ~Aggregate() = default;

    /** Adds `count` adjacent outpoints of 36 bytes (txid, vout little-endian). */
    virtual void AddCreated(const uint8_t* outpoints, size_t count) = 0;
    /** Subtracts such outpoints. */
    virtual void AddSpent(const uint8_t* outpoints, size_t count) = 0;
    /** Adds one whole coin, a message of any length. A sync sums either outpoints or coins. */
    virtual void AddCreatedCoin(ByteSpan coin) = 0;
    /** Subtracts a whole coin. */
    virtual void AddSpentCoin(ByteSpan coin) = 0;
    /** Adds the difference of another aggregate, which must have the same kind and salt. */
    virtual void Combine(const Aggregate& other) = 0;
    /** Whether both multisets are equal. */
    virtual bool IsZero() const = 0;
    virtual void Clear() = 0;

    virtual AggregateKind Kind() const = 0;
    /** The difference, without the salt; fixed size for each kind. */
    virtual Bytes Serialize() const = 0;
    virtual Result<> Load(ByteSpan serialized) = 0; //!< the result of Serialize(); bad data: wrong
                                                    //!< size
};

std::unique_ptr<Aggregate> MakeAggregate(AggregateKind kind, const AggregateSalt& salt);

/** Reference for kSha256, written from the definition: one outpoint and one carry byte at a time.
 */
std::unique_ptr<Aggregate> MakeSlowSha256Aggregate(const AggregateSalt& salt);

} // namespace ibd

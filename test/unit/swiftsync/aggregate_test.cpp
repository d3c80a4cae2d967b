// Aggregates: the fast sum against its slow reference, algebra, and an attack on an unsalted sum.
#include "swiftsync/aggregate.h"

#include "support/testdata.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

AggregateSalt SomeSalt()
{
    AggregateSalt salt;
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(TestRng()());
    return salt;
}

constexpr AggregateKind kKinds[] = {AggregateKind::kSha256, AggregateKind::kMuHash};

} // namespace

TEST_CASE("Aggregate: the batched sum equals its slow reference")
{
    for (const size_t count :
         {0u, 1u, 2u, 7u, 8u, 9u, 255u, 256u, 257u, 1023u, 1024u, 1025u, 3000u}) {
        const AggregateSalt salt = SomeSalt();
        const Bytes created = RandomBytes(36 * count);
        const Bytes spent = RandomBytes(36 * (count / 2));
        auto fast = MakeAggregate(AggregateKind::kSha256, salt);
        auto slow = MakeSlowSha256Aggregate(salt);
        for (auto* a : {fast.get(), slow.get()}) {
            a->AddCreated(created.data(), count);
            a->AddSpent(spent.data(), count / 2);
        }
        REQUIRE(fast->Serialize() == slow->Serialize());
        fast->Combine(*slow);
        slow->Combine(*slow);
        REQUIRE(fast->Serialize() == slow->Serialize());
        REQUIRE(fast->IsZero() == (count == 0));
    }
}

TEST_CASE("Aggregate: zero exactly when both multisets are equal, in any order and split")
{
    for (const AggregateKind kind : kKinds) {
        const AggregateSalt salt = SomeSalt();
        const size_t n = 40;
        const Bytes outpoints = RandomBytes(36 * n);
        auto a = MakeAggregate(kind, salt);
        auto b = MakeAggregate(kind, salt);
        REQUIRE(a->IsZero());
        for (size_t i = 0; i < n; ++i) a->AddCreated(outpoints.data() + 36 * i, 1);
        for (size_t i = n; i-- > 1;) b->AddSpent(outpoints.data() + 36 * i, 1);
        auto loaded = MakeAggregate(kind, salt);
        REQUIRE(loaded->Load(a->Serialize()).Ok());
        loaded->Combine(*b);
        REQUIRE_FALSE(loaded->IsZero());
        b->AddSpent(outpoints.data(), 1);
        a->Combine(*b);
        REQUIRE(a->IsZero());
        a->AddSpent(outpoints.data(), 1); // twice is not once
        REQUIRE_FALSE(a->IsZero());
        a->Clear();
        REQUIRE(a->IsZero());
        REQUIRE_FALSE(a->Load(Bytes(31)).Ok());
    }
}

TEST_CASE("Aggregate: exchanging output indices inside a transaction is seen")
{
    // The attack on sums of unhashed outpoints: (t,0) + (t,3) = (t,1) + (t,2).
    for (const AggregateKind kind : kKinds) {
        auto a = MakeAggregate(kind, SomeSalt());
        const Bytes txid = RandomBytes(32);
        const auto outpoint = [&](uint8_t vout) {
            Bytes out = txid;
            Append(out, Bytes{vout, 0, 0, 0});
            return out;
        };
        a->AddCreated(outpoint(0).data(), 1);
        a->AddCreated(outpoint(3).data(), 1);
        a->AddSpent(outpoint(1).data(), 1);
        a->AddSpent(outpoint(2).data(), 1);
        REQUIRE_FALSE(a->IsZero());
    }
}

TEST_CASE("Aggregate: depends on the salt")
{
    const Bytes outpoint = RandomBytes(36);
    for (const AggregateKind kind : kKinds) {
        auto a = MakeAggregate(kind, SomeSalt());
        auto b = MakeAggregate(kind, SomeSalt());
        a->AddCreated(outpoint.data(), 1);
        b->AddCreated(outpoint.data(), 1);
        REQUIRE(a->Serialize() != b->Serialize());
    }
    REQUIRE(AggregateKindFromName("sha256") == AggregateKind::kSha256);
    REQUIRE(AggregateKindFromName("muhash") == AggregateKind::kMuHash);
    REQUIRE_FALSE(AggregateKindFromName("md5"));
}

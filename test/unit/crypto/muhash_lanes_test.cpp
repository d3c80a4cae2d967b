// The products of muhash_lanes.h in portable C++ that checks every bound, at the edges of their
// range; and those of the processor, where it has the instructions.
#include "lanes_checked.h"

#include "crypto/muhash.h"
#include "crypto/muhash_batch.h"
#include "crypto/muhash_lanes.h"
#include "support/skips.h"
#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

std::vector<Hash32> RandomKeys(size_t count)
{
    std::vector<Hash32> keys(count);
    for (Hash32& key : keys) std::ranges::copy(RandomBytes(key.size()), key.begin());
    return keys;
}

Num3072::Serialized ProductOf(std::span<const Hash32> keys)
{
    Num3072 product;
    for (const Hash32& key : keys) product *= MuHash3072::HashedElement(key);
    return product.ToBytes();
}

Num3072::Serialized ProductOf(const MuHashFactors& factors)
{
    Num3072 product;
    for (const Num3072Limbs& factor : factors) product *= Num3072(factor);
    return product.ToBytes();
}

void CheckProducts(MuHashProducts multiply)
{
    for (const size_t count : {1, 2, 7, 8, 9, 15, 16, 17, 40}) {
        const std::vector<Hash32> keys = RandomKeys(count);
        MuHashFactors factors;
        multiply(keys, factors);
        CHECK(ProductOf(factors) == ProductOf(keys));
    }
}

/** A number of the lanes from limbs of 64 bits, plus `more` * 2^3072. */
void SetLane(lanes::LongLanes& out, size_t lane, const Num3072Limbs& from, uint64_t more)
{
    for (size_t i = 0; i < lanes::kLongLimbs; ++i) {
        uint64_t limb;
        lanes::SetLimb(limb, from.data(), i);
        out.limb[i][lane] = limb;
    }
    out.limb[lanes::kLongLimbs - 1][lane] += more << 4;
}

/** Random limbs with long runs of ones or zeros, which make long carries; all ones if `n` is 0. */
Num3072Limbs EdgeLimbs(int n)
{
    Num3072Limbs out;
    for (uint64_t& limb : out) limb = TestRng()();
    if (n == 0) out.fill(~uint64_t{0});
    if (n % 3 == 1) std::fill_n(out.begin(), TestRng()() % 49, ~uint64_t{0});
    if (n % 3 == 2) std::fill_n(out.rbegin(), TestRng()() % 49, n % 2 ? ~uint64_t{0} : 0);
    return out;
}

} // namespace

TEST_CASE("muhash lanes, checked: elements and their products")
{
    CheckProducts(lanes::MultiplyElements);
}

TEST_CASE("muhash lanes, checked: products at the edges of their range")
{
    for (int round = 0; round < 40; ++round) {
        lanes::LongLanes a, b;
        std::array<Num3072, lanes::kLanes> want;
        for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
            const Num3072Limbs left = EdgeLimbs(round + static_cast<int>(lane));
            const Num3072Limbs right = EdgeLimbs(static_cast<int>(lane) * (round % 4));
            want[lane] = Num3072(left);
            want[lane] *= Num3072(right);
            SetLane(a, lane, left, 0);
            SetLane(b, lane, right, 0);
        }
        lanes::MultiplyLong(a, b);
        lanes::FoldTop(a);
        for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
            CHECK(Num3072(lanes::NumberOfLane(a, lane)).ToBytes() == want[lane].ToBytes());
        }
    }
}

TEST_CASE("muhash lanes, checked: the largest number that a product may be")
{
    lanes::LongLanes a, b;
    Num3072Limbs low{};
    low[0] = (uint64_t{1} << 44) - 1;
    for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
        SetLane(a, lane, low, 1); // 2^3072 + 2^44 - 1
        SetLane(b, lane, low, lane % 2);
    }
    lanes::MultiplyLong(a, b);
    lanes::FoldTop(a);
    for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
        Num3072Limbs left = low, right = low;
        left[0] += Num3072::kExcess;
        if (lane % 2 != 0) right[0] += Num3072::kExcess;
        Num3072 want(left);
        want *= Num3072(right);
        CHECK(Num3072(lanes::NumberOfLane(a, lane)).ToBytes() == want.ToBytes());
    }
}

TEST_CASE("muhash lanes, IFMA: elements and their products")
{
    const MuHashProducts multiply = IfmaMuHashProducts();
    if (multiply == nullptr) {
        SkipTest("the processor has no AVX-512 IFMA");
        return;
    }
    for (int round = 0; round < 20; ++round) CheckProducts(multiply);
}

TEST_CASE("muhash of hashed elements equals that of elements one by one")
{
    for (const size_t count : {0, 1, 8, 9, 100}) {
        const std::vector<Hash32> keys = RandomKeys(count);
        MuHash3072 all;
        all.InsertHashed(keys).RemoveHashed(std::span(keys).first(count / 2));
        const auto left = std::span(keys).subspan(count / 2);
        CHECK(all.Finalize() == MuHash3072().InsertHashed(left).Finalize());
        MuHash3072 one_by_one;
        for (const Hash32& key : left) one_by_one.InsertHashed({&key, 1});
        CHECK(all.Finalize() == one_by_one.Finalize());
    }
}

TEST_CASE("muhash batch equals elements one by one, of any number and size")
{
    MuHashBatch batch;
    MuHash3072 want;
    CHECK(batch.Take().Finalize() == MuHash3072().Finalize());
    const auto add = [&](const Bytes& in, const Bytes& out) {
        batch.Insert(in);
        batch.Remove(out);
        want.Insert(in).Remove(out);
    };
    for (size_t i = 0; i < 2 * MuHashBatch::kMostElements + 3; ++i) {
        add(RandomBytes(TestRng()() % 120), RandomBytes(TestRng()() % 120));
    }
    for (const size_t size : {MuHashBatch::kMostBytes - 1, MuHashBatch::kMostBytes,
                              MuHashBatch::kMostBytes + 1, size_t{1}}) {
        add(RandomBytes(size), RandomBytes(7));
    }
    CHECK(batch.Take().Finalize() == want.Finalize());
    CHECK(batch.Take().Finalize() == MuHash3072().Finalize()); // it begins anew
}

} // namespace ibd

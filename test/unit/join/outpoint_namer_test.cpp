// Names of outpoints: the formula is right, each bit of an outpoint and of the salt matters, and
// the names of a transaction's outputs, which differ in only one word, spread over the partitions.
#include "join/outpoint_namer.h"

#include "support/catch.h"
#include "support/testdata.h"
#include "util/endian.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

using Name = std::pair<uint64_t, uint64_t>;

Name NameUnder(const AggregateSalt& salt, const Bytes& outpoint)
{
    const OutpointName name = OutpointNamer(salt).NameOf(outpoint.data());
    return {name.first, name.second & ((1 << 21) - 1)};
}

AggregateSalt SaltFrom0()
{
    AggregateSalt salt;
    std::iota(salt.begin(), salt.end(), uint8_t{0});
    return salt;
}

} // namespace

TEST_CASE("OutpointNamer: names by the formula")
{
    // Computed by the formula of doc/formats/spill.md with Python's whole numbers.
    Bytes outpoint(36);
    CHECK(NameUnder(SaltFrom0(), outpoint) == Name{0x160672ea9bb8c849, 0x18b605});
    std::iota(outpoint.begin(), outpoint.end(), uint8_t{100});
    CHECK(NameUnder(SaltFrom0(), outpoint) == Name{0xda05b51650410109, 0x05d404});
    outpoint.assign(36, 0xff);
    CHECK(NameUnder(SaltFrom0(), outpoint) == Name{0xb26c38c8068f0936, 0x1f909f});
}

TEST_CASE("OutpointNamer: each bit of the outpoint and each byte of the salt changes the name")
{
    const Bytes outpoint = RandomBytes(36);
    AggregateSalt salt = SaltFrom0();
    std::set<Name> names{NameUnder(salt, outpoint)};
    for (size_t bit = 0; bit < 8 * outpoint.size(); ++bit) {
        Bytes other = outpoint;
        other[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        CHECK(names.insert(NameUnder(salt, other)).second);
    }
    for (uint8_t& byte : salt) {
        ++byte;
        CHECK(names.insert(NameUnder(salt, outpoint)).second);
    }
}

TEST_CASE("OutpointNamer: outputs of transactions spread evenly")
{
    constexpr size_t kPartitions = 64;
    constexpr size_t kTxs = 2'000;
    constexpr uint32_t kOutputs = 32;
    AggregateSalt salt;
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(TestRng()());
    const OutpointNamer namer(salt);
    std::array<size_t, kPartitions> counts{};
    for (size_t tx = 0; tx < kTxs; ++tx) {
        Bytes outpoint = RandomBytes(36);
        for (uint32_t i = 0; i < kOutputs; ++i) {
            WriteLE32(outpoint.data() + 32, i);
            ++counts[namer.NameOf(outpoint.data()).first >> 58];
        }
    }
    // 1,000 each; the largest deviation that 2,000 independent places of transactions leave to
    // chance, were all outputs of one to share a partition: 8 times 32 times the root of 2,000/64.
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    CHECK(*least > 0);
    CHECK(*most < 1'000 + 8 * 32 * 6);
}

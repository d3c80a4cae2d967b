// The vectors of BIP327 (key_agg_vectors.json), by keys that are aggregated in the given order.
#include "crypto/musig_keys.h"

#include "support/catch.h"
#include "util/hex.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace ibd;

namespace {

const std::vector<std::string> kKeys = {
    "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
    "03dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659",
    "023590a94e768f8e1815c2f24b4d80a8e3149316c3518ce7b7ad338368d038ca66",
    "020000000000000000000000000000000000000000000000000000000000000005",
};

/** The x of the aggregate; "-": none. */
std::string Aggregate(const std::vector<size_t>& places)
{
    std::vector<CompressedKey> keys;
    for (const size_t place : places) {
        CompressedKey& key = keys.emplace_back();
        std::ranges::copy(*FromHex(kKeys[place]), key.begin());
    }
    const auto sum = AggregateKeys(keys);
    return sum ? ToHex(*sum).substr(2) : "-";
}

} // namespace

TEST_CASE("keys are aggregated as in BIP327", "[musig]")
{
    CHECK(Aggregate({0, 1, 2}) ==
          "90539eede565f5d054f32cc0c220126889ed1e5d193baf15aef344fe59d4610c");
    CHECK(Aggregate({2, 1, 0}) ==
          "6204de8b083426dc6eaf9502d27024d53fc826bf7d2012148a0575435df54b2b");
    CHECK(Aggregate({0, 0, 0}) ==
          "b436e3bad62b8cd409969a224731c193d051162d8c5ae8b109306127da3aa935");
    CHECK(Aggregate({0, 0, 1, 1}) ==
          "69bc22bfa5d106306e48a20679de1d7389386124d07571d0d872686028c26a3e");
    CHECK(Aggregate({0, 3}) == "-"); // not on the curve
    CHECK(Aggregate({}) == "-");
}

// The code of the AVX-512 backend's lanes, compiled for plain vectors so that its lane logic
// is tested on machines without AVX-512 too.
#include "support/testdata.h"

#include <algorithm>

#define IBD_LANES 16
#define IBD_LANES_VECTORS 2
#define IBD_LANES_TARGET
#define IBD_LANES_BSWAP(v) (((v) << 24) | (((v)&0xff00) << 8) | (((v) >> 8) & 0xff00) | ((v) >> 24))
#include "crypto/sha256_backends.h"
#include "crypto/sha256_lanes.h"

#include "support/catch.h"

namespace ibd {

using test::RandomBytes;

TEST_CASE("two times sixteen sha256 lanes equal the portable backend")
{
    const Sha256Backend& portable = Sha256Backends().front();
    constexpr size_t kLanes = sha256::kLanes;
    for (size_t count = 0; count <= 70; ++count) {
        const Bytes nodes = RandomBytes(64 * count);
        std::vector<Hash32> want(count), got(count);
        portable.double64(nodes.data(), count, want.data());
        sha256::Double64(nodes.data(), count, got.data());
        CHECK(got == want);
        portable.outpoints(kSha256Initial, nodes.data(), 64, count, want.data());
        sha256::Outpoints(kSha256Initial, nodes.data(), 64, count, got.data());
        CHECK(got == want);
        portable.digests(want.data(), count);
        sha256::Digests(got.data(), count);
        CHECK(got == want);
    }
    for (size_t blocks = 0; blocks < 4; ++blocks) {
        const Bytes data = RandomBytes(kLanes * 64 * 4);
        std::array<const uint8_t*, kLanes> at;
        std::array<Sha256State, kLanes> want;
        want.fill(kSha256Initial);
        for (size_t i = 0; i < kLanes; ++i) {
            at[i] = data.data() + i * 64 * 4;
            portable.transform(want[i], at[i], blocks);
        }
        std::array<uint32_t, 8 * kLanes> words{};
        sha256::LanesTransform(words.data(), 0xffffffff, at.data(), blocks);
        for (size_t i = 0; i < kLanes; ++i) {
            for (size_t j = 0; j < 8; ++j) CHECK(words[j * kLanes + i] == want[i][j]);
        }
    }
}

} // namespace ibd

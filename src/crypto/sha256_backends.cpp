// See sha256_backends.h.
#include "crypto/sha256_backends.h"

#include "crypto/sha256_internal.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

namespace ibd {

namespace {

/** Shortest of several timed runs over a few hundred outpoints, in nanoseconds. */
int64_t MeasureOutpoints(const Sha256Backend& backend)
{
    constexpr size_t kCount = 256;
    constexpr int kRuns = 5;
    std::vector<uint8_t> messages(kCount * kOutpointSize, 0x5a);
    std::vector<Hash32> out(kCount);
    int64_t best = std::numeric_limits<int64_t>::max();
    for (int run = 0; run < kRuns; ++run) {
        const auto start = std::chrono::steady_clock::now();
        backend.outpoints(kSha256Initial, messages.data(), kOutpointSize, kCount, out.data());
        const auto spent = std::chrono::steady_clock::now() - start;
        best = std::min<int64_t>(best, std::chrono::nanoseconds(spent).count());
    }
    return best;
}

const Sha256Backend& FastestBackend()
{
    const Sha256Backend* fastest = &Sha256Backends().front(); // the portable one
    int64_t best = std::numeric_limits<int64_t>::max();
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        const int64_t time = MeasureOutpoints(backend);
        if (time >= best) continue;
        best = time;
        fastest = &backend;
    }
    return *fastest;
}

} // namespace

std::span<const Sha256Backend> Sha256Backends()
{
    static const Sha256Backend list[] = {
        sha256::PortableBackend(),
        sha256::Vector4Backend(),
#if defined(__x86_64__)
        sha256::ShaNiBackend(),
        sha256::ShaNi2Backend(),
        sha256::Avx2Backend(),
        sha256::Avx512Backend(),
#endif
    };
    return list;
}

const Sha256Backend& Sha256StreamBackend()
{
    static const Sha256Backend chosen = [] {
#if defined(__x86_64__)
        if (sha256::ShaNiBackend().available) return sha256::ShaNiBackend();
#endif
        return sha256::PortableBackend();
    }();
    return chosen;
}

const Sha256Backend& Sha256BatchBackend()
{
    static const Sha256Backend chosen = FastestBackend();
    return chosen;
}

std::string Sha256Implementation()
{
    return std::string(Sha256StreamBackend().name) + " for streams, " + Sha256BatchBackend().name +
           " for batches";
}

} // namespace ibd

// Cost of each hash kernel and signature check. Usage: bench_crypto [--once]
#include "bench_support.h"
#include "crypto/sha256_backends.h"
#include "crypto/sha256_batch.h"

#include <string>

namespace ibd::bench {

namespace {

constexpr size_t kMessages = 2000;

/** Lengths as of a block's transactions: mostly 200 to 700 bytes, now and then several kB. */
std::vector<Bytes> TransactionLikeMessages()
{
    std::vector<Bytes> out;
    for (size_t i = 0; i < kMessages; ++i) {
        const size_t size = i % 50 == 0 ? 5000 : 200 + i * 7919 % 500;
        out.emplace_back(size, static_cast<uint8_t>(i));
    }
    return out;
}

void BenchSha256(const Runner& runner)
{
    const std::vector<Bytes> data = TransactionLikeMessages();
    std::vector<HashMessage> messages;
    for (const Bytes& bytes : data) {
        const ByteSpan all = bytes;
        messages.push_back({all.first(4), all.subspan(4, all.size() - 8), all.last(4)});
    }
    const Bytes megabyte(1 << 20, 1);
    const Bytes nodes(64 * kMessages, 2);
    std::vector<Hash32> out(kMessages);
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        const std::string name = std::string("sha256 ") + backend.name;
        runner.Run((name + ": 64-byte block of a stream").c_str(), 1 << 14, [&] {
            Sha256State state = kSha256Initial;
            backend.transform(state, megabyte.data(), 1 << 14);
        });
        runner.Run((name + ": salted outpoint").c_str(), kMessages, [&] {
            backend.outpoints(kSha256Initial, nodes.data(), 36, kMessages, out.data());
        });
        runner.Run((name + ": merkle node").c_str(), kMessages,
                   [&] { backend.double64(nodes.data(), kMessages, out.data()); });
        runner.Run((name + ": txid of mixed lengths").c_str(), kMessages,
                   [&] { Sha256dManyWith(backend, messages, out.data()); });
    }
    runner.Run("sha256 streaming: txid of mixed lengths", kMessages, [&] {
        for (size_t i = 0; i < kMessages; ++i) out[i] = Sha256d(data[i]);
    });
    std::printf("in use: %s\n", Sha256Implementation().c_str());
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    const ibd::bench::Runner runner(argc, argv);
    ibd::bench::BenchSha256(runner);
}

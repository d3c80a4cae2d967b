// Cost of a connection's work on bytes: ciphers, both transports, headers. Lines "per kB" are of
// 1,000 bytes: 1,000 ns are a gigabyte a second. Usage: bench_net [--once]
#include "bench_support.h"
#include "net/peer/header_sync.h"
#include "net/wire/v2_transport.h"

#include <algorithm>

namespace ibd::bench {

namespace {

constexpr NetworkMagic kMagic = {0xf9, 0xbe, 0xb4, 0xd9};
constexpr size_t kBlockSize = 1'500'000;
constexpr size_t kReadSize = 65536; //!< bytes that a socket gives at a time
constexpr double kKilobytes = kBlockSize / 1000.0;

V2Secrets Secrets(uint8_t fill)
{
    V2Secrets out;
    std::fill(out.key.begin(), out.key.end(), fill);
    out.entropy.fill(fill);
    return out;
}

/** Gives all output of `from` to `to`; the messages are dropped. */
void Carry(Transport& from, Transport& to)
{
    for (;;) {
        ByteSpan bytes = from.GetToSend(false).bytes;
        if (bytes.empty()) return;
        bytes = bytes.first(std::min(bytes.size(), kReadSize));
        const size_t size = bytes.size();
        while (!bytes.empty()) {
            CHECK(to.Receive(bytes).Ok());
            if (to.HasMessage()) Keep(to.TakeMessage());
        }
        from.MarkSent(size);
    }
}

void BenchCipher(const Runner& runner)
{
    ChaCha20Poly1305 cipher(Hash32{1});
    Bytes data(kReadSize, 1);
    runner.Run("chacha20-poly1305: 64 KiB in place, per kB", kReadSize / 1000.0, [&] {
        cipher.StartSeal({}, {});
        cipher.Update(data, data);
        Keep(cipher.FinishSeal());
    });
    runner.Run("chacha20-poly1305: message of 40 bytes", 1, [&] {
        cipher.StartOpen({}, {});
        cipher.Update(ByteSpan(data).first(40), MutableByteSpan(data).first(40));
        Keep(cipher.FinishOpen({}));
    });
    const EllSwiftKey theirs = MakeEllSwiftKey(Hash32{2}, {});
    runner.Run("v2: keys of a connection", 1, [&] {
        const EllSwiftKey ours = MakeEllSwiftKey(Hash32{1}, {});
        Keep(V2Cipher(kMagic, Hash32{1}, ours, theirs, true));
    });
}

void BenchTransports(const Runner& runner)
{
    const Bytes block(kBlockSize, 7);
    V1Transport v1_from(kMagic), v1_to(kMagic);
    runner.Run("v1: send and receive a block, per kB", kKilobytes, [&] {
        OutgoingMessage message{"block", block};
        CHECK(v1_from.Send(message));
        Carry(v1_from, v1_to);
    });
    V2Transport v2_from(kMagic, true, Secrets(1)), v2_to(kMagic, false, Secrets(2));
    Carry(v2_from, v2_to);
    Carry(v2_to, v2_from);
    Carry(v2_from, v2_to);
    runner.Run("v2: send and receive a block, per kB", kKilobytes, [&] {
        OutgoingMessage message{"block", block};
        CHECK(v2_from.Send(message));
        Carry(v2_from, v2_to);
    });
    runner.Run("copy of a block, per kB", kKilobytes, [&] { Keep(Bytes(block)); });
}

void BenchHeaders(const Runner& runner)
{
    std::vector<BlockHeader> headers(kMaxHeaders);
    for (size_t i = 1; i < headers.size(); ++i) headers[i].prev_hash = headers[i - 1].Hash();
    HeadersMessage message;
    message.list.items = headers;
    const Bytes payload = Encode(message);
    runner.Run("headers: decode, per header", kMaxHeaders,
               [&] { Keep(Decode<HeadersMessage>(payload)); });
    runner.Run("headers: hash, per header", kMaxHeaders, [&] { Keep(HashHeaders(headers)); });
    const ChainParams params = MakeChainParams(Network::kMain);
    const HeaderTree tree(params);
    const auto logger = MakeNullLogger();
    for (BlockHeader& header : headers) header.bits = 0x1d00ffff;
    headers[0].prev_hash = tree.Genesis()->hash;
    const std::vector<BlockHash> hashes = HashHeaders(headers);
    runner.Run("headers: presync, per header", kMaxHeaders, [&] {
        HeaderSync sync(params, *tree.Genesis(), Arith256(~uint64_t{0}), 1'700'000'000, {}, 0,
                        *logger);
        Keep(sync.Process(headers, hashes, true));
    });
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    const ibd::bench::Runner runner(argc, argv);
    ibd::bench::BenchCipher(runner);
    ibd::bench::BenchTransports(runner);
    ibd::bench::BenchHeaders(runner);
}

// Cost of each hash kernel and signature check. Usage: bench_crypto [--once]
#include "bench_support.h"
#include "crypto/chacha20.h"
#include "crypto/muhash.h"
#include "crypto/muhash_multiply.h"
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "crypto/sha256_backends.h"
#include "crypto/sha256_batch.h"
#include "crypto/sha512.h"
#include "crypto/signature_batch.h"
#include "crypto/siphash.h"

#include <string>
#include <thread>

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

void BenchOtherHashes(const Runner& runner)
{
    const Bytes data(1 << 16, 3);
    const Hash32 hash = Sha256Of(data);
    constexpr double kKilobytes = 64;
    runner.Run("sha1: kB", kKilobytes, [&] { Keep(Sha1Of(data)); });
    runner.Run("ripemd160: kB", kKilobytes, [&] { Keep(Ripemd160Of(data)); });
    runner.Run("sha512: kB", kKilobytes, [&] { Keep(Sha512Of(data)); });
    runner.Run("hash160 of a public key", 1, [&] { Keep(Hash160(ByteSpan(data).first(33))); });
    runner.Run("siphash of an outpoint", 1, [&] { Keep(SipHash36({1, 2}, hash, 3)); });
    Bytes out(384);
    runner.Run("chacha20: 384 bytes of keystream", 1, [&] { ChaCha20(hash).Keystream(out); });
}

void BenchMuHash(const Runner& runner)
{
    const Bytes coin(64, 4);
    Num3072 a = MuHash3072::Element(coin);
    const Num3072 b = MuHash3072::Element(Bytes(64, 5));
    MuHash3072 set;
    runner.Run("muhash: multiplication and reduction", 1, [&] { a *= b; });
    const Num3072::Limbs limbs = {7, 8, 9};
    WideProduct product;
    for (const WideMultiplier& multiplier : WideMultipliers()) {
        if (!multiplier.available) continue;
        runner.Run((std::string("muhash: multiplication, ") + multiplier.name).c_str(), 1, [&] {
            multiplier.multiply(limbs, limbs, product);
            Keep(product);
        });
    }
    runner.Run("muhash: element of a coin", 1, [&] { a = MuHash3072::Element(coin); });
    runner.Run("muhash: insert", 1, [&] { set.Insert(coin); });
    const std::vector<Hash32> hashes(512, Sha256Of(coin));
    runner.Run("muhash: insert 512 hashed elements", hashes.size(),
               [&] { set.InsertHashed(hashes); });
    runner.Run("muhash: inverse", 1, [&] { a = a.Inverse(); });
    runner.Run("muhash: finalize", 1, [&] { Keep(set.Finalize()); });
}

void BenchSignatures(const Runner& runner)
{
    const Signer signer;
    Hash32 secret{};
    secret[0] = 1;
    const CompressedKey key = signer.PublicKey(secret);
    const XOnlyKey x_only = signer.XOnlyPublicKey(secret);
    const Bytes ecdsa = signer.SignEcdsa(secret, secret);
    const SchnorrSignature schnorr = signer.SignSchnorr(secret, secret);
    runner.Run("ecdsa verify", 1, [&] { Keep(VerifyEcdsa(key, ecdsa, secret)); });
    runner.Run("schnorr verify", 1, [&] { Keep(VerifySchnorr(x_only, schnorr, secret)); });
    runner.Run("ecdsa sign", 1, [&] { Keep(signer.SignEcdsa(secret, secret)); });
    runner.Run("public key decompression", 1, [&] { Keep(DecompressPublicKey(key)); });
}

/** Valid checks, each with its own key: of eight five ECDSA (one of them with the key
 *  uncompressed), two BIP 340, and one taproot tweak. */
void FillBatch(SignatureBatch& batch, size_t count)
{
    const Signer signer;
    for (size_t i = 0; i < count; ++i) {
        const Hash32 secret = Sha256Of(Bytes(1 + i, 7));
        const Hash32 message = Sha256Of(secret);
        const XOnlyKey x_only = signer.XOnlyPublicKey(secret);
        if (i % 8 == 0) {
            const auto [output, odd] = *TweakXOnlyKey(x_only, message);
            batch.AddTweak(output, odd, x_only, message);
        } else if (i % 8 < 3) {
            batch.AddSchnorr(x_only, signer.SignSchnorr(secret, message), message);
        } else if (i % 8 == 3) {
            batch.AddEcdsa(signer.UncompressedPublicKey(secret), signer.SignEcdsa(secret, message),
                           message);
        } else {
            batch.AddEcdsa(signer.PublicKey(secret), signer.SignEcdsa(secret, message), message);
        }
    }
}

/** On one thread, and while another thread does the same. */
void BenchSignatureBatches(const Runner& runner)
{
    constexpr size_t kCount = 512;
    struct Way {
        const char* name;
        LanesMode mode;
        lanes::VerifyFunction verifier;
    };
    const Way ways[] = {{"libsecp256k1", LanesMode::kOff, nullptr},
                        {"avx2", LanesMode::kOn, lanes::Avx2Verifier()},
                        {"avx512ifma", LanesMode::kOn, lanes::IfmaVerifier()}};
    for (const auto& [name, mode, verifier] : ways) {
        if (mode == LanesMode::kOn && verifier == nullptr) continue;
        SignatureBatch batch(mode, verifier);
        FillBatch(batch, kCount);
        const std::string title = std::string("signature of a batch, ") + name;
        runner.Run(title.c_str(), kCount, [&] { Keep(batch.Verify()); });
        const std::jthread other([batch](const std::stop_token& stop) {
            while (!stop.stop_requested()) Keep(batch.Verify());
        });
        runner.Run((title + ", 2 threads").c_str(), kCount, [&] { Keep(batch.Verify()); });
    }
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    const ibd::bench::Runner runner(argc, argv);
    ibd::bench::BenchSha256(runner);
    ibd::bench::BenchOtherHashes(runner);
    ibd::bench::BenchMuHash(runner);
    ibd::bench::BenchSignatures(runner);
    ibd::bench::BenchSignatureBatches(runner);
}

// SHA3-256, HKDF and the ciphers of version 2 connections: RFC vectors, and properties against the
// pieces they are made of. The vectors of BIP324 run in unit_net, over all of it.
#include "crypto/chacha20.h"
#include "crypto/ellswift.h"
#include "crypto/forward_secret.h"
#include "crypto/hkdf.h"
#include "crypto/known_answers.h"
#include "crypto/random_stream.h"
#include "crypto/secp256k1.h"
#include "crypto/sha3.h"
#include "support/hex_array.h"
#include "support/testdata.h"

#include <algorithm>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

Hash32 RandomKey() { return FromHexArray<Hash32>(ToHex(RandomBytes(32))); }

struct Sealed {
    Bytes cipher;
    ChaCha20Poly1305::Tag tag;
};

template <typename Cipher, typename... Start>
Sealed SealInPieces(Cipher& cipher, ByteSpan plain, const Start&... start)
{
    cipher.StartSeal(start...);
    Sealed out{Bytes(plain.size()), {}};
    for (size_t at = 0; at < plain.size();) {
        const size_t take = std::min<size_t>(1 + TestRng()() % 200, plain.size() - at);
        cipher.Update(plain.subspan(at, take), MutableByteSpan(out.cipher).subspan(at, take));
        at += take;
    }
    out.tag = cipher.FinishSeal();
    return out;
}

} // namespace

TEST_CASE("sha3 known answers")
{
    CHECK(ToHex(Sha3Of({})) == "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
    CHECK(DigestOfDigests(Sha3Of) ==
          "6ffc277d61ef3df9c12b9d925965869f30171d0bbc42ffce087515f074ef3849");
}

TEST_CASE("hkdf of one block (RFC 5869, appendix A)")
{
    // A.1 and A.3 ask for 42 bytes: the first 32 are those of one block.
    const Bytes input(22, 0x0b);
    const HkdfSha256 first(input, *FromHex("000102030405060708090a0b0c"));
    CHECK(ToHex(first.Expand("\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9")) ==
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
    CHECK(ToHex(HkdfSha256(input, {}).Expand("")) ==
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

TEST_CASE("chacha20-poly1305 (RFC 8439, 2.8.2)")
{
    const std::string_view text = "Ladies and Gentlemen of the class of '99: If I could offer you "
                                  "only one tip for the future, sunscreen would be it.";
    ChaCha20Poly1305 cipher(
        FromHexArray<Hash32>("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"));
    const auto nonce = FromHexArray<ChaCha20Poly1305::Nonce>("070000004041424344454647");
    const Bytes extra = *FromHex("50515253c0c1c2c3c4c5c6c7");
    const Sealed sealed = SealInPieces(cipher, AsBytes(text), nonce, ByteSpan(extra));
    CHECK(ToHex(sealed.cipher) == "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
                                  "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
                                  "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                                  "3ff4def08e4b7a9de576d26586cec64b6116");
    CHECK(ToHex(sealed.tag) == "1ae10b594f09e26a7e902ecbd0600691");
}

TEST_CASE("chacha20-poly1305 opens what it sealed, and nothing else")
{
    for (int round = 0; round < 200; ++round) {
        const Hash32 key = RandomKey();
        ChaCha20Poly1305 seal(RandomKey());
        seal.SetKey(key);
        const auto nonce = FromHexArray<ChaCha20Poly1305::Nonce>(ToHex(RandomBytes(12)));
        const Bytes plain = RandomBytes(TestRng()() % 1000);
        const Bytes extra = RandomBytes(TestRng()() % 50);
        const Sealed sealed = SealInPieces(seal, plain, nonce, ByteSpan(extra));
        Bytes stream(plain.size());
        ChaCha20(key, nonce, 1).Crypt(plain, stream);
        CHECK(stream == sealed.cipher);

        const auto opens = [&](ByteSpan cipher, ByteSpan more, const ChaCha20Poly1305::Tag& tag) {
            ChaCha20Poly1305 open(key);
            open.StartOpen(nonce, more);
            Bytes out(cipher.size());
            open.Update(cipher, out);
            return open.FinishOpen(tag) && out == plain;
        };
        CHECK(opens(sealed.cipher, extra, sealed.tag));
        auto bad_tag = sealed.tag;
        bad_tag[TestRng()() % bad_tag.size()] ^= 1;
        CHECK_FALSE(opens(sealed.cipher, extra, bad_tag));
        Bytes bad_extra = extra;
        bad_extra.push_back(0);
        CHECK_FALSE(opens(sealed.cipher, bad_extra, sealed.tag));
        if (plain.empty()) continue;
        Bytes bad = sealed.cipher;
        bad[TestRng()() % bad.size()] ^= 0x10;
        CHECK_FALSE(opens(bad, extra, sealed.tag));
    }
}

TEST_CASE("ciphers that change their keys stay in step, also after a message that was not proved")
{
    const Hash32 key = RandomKey();
    FsChaCha20 to_length(key), from_length(key);
    FsChaCha20Poly1305 to(key), from(key);
    const size_t bad_one = TestRng()() % 700;
    for (size_t i = 0; i < 700; ++i) {
        std::array<uint8_t, 3> length = {uint8_t(i), uint8_t(i >> 8), 7};
        const auto plain_length = length;
        to_length.Crypt(length, length);
        from_length.Crypt(length, length);
        CHECK(length == plain_length);

        Bytes message = RandomBytes(i % 100);
        const Bytes plain = message;
        to.StartSeal({});
        to.Update(message, message);
        auto tag = to.FinishSeal();
        if (i == bad_one) tag[0] ^= 1;
        from.StartOpen({});
        from.Update(message, message);
        CHECK(from.FinishOpen(tag) == (i != bad_one));
        CHECK(message == plain);
    }
}

TEST_CASE("a stream of numbers is that of its seed, and even")
{
    // The keystream of a key of zeros begins so (RFC 8439, appendix A.1).
    RandomStream zeros{Hash32{}};
    CHECK(zeros.U64() == 0x903df1a0ade0b876);
    const Hash32 seed = RandomKey();
    RandomStream a(seed), b(seed);
    size_t counts[6] = {};
    for (int i = 0; i < 6000; ++i) {
        const uint64_t n = 1 + i % 1000;
        CHECK(a.Below(n) < n);
        CHECK(b.Below(n) < n);
        const uint64_t die = a.Below(6);
        CHECK(b.Below(6) == die);
        ++counts[die];
    }
    for (const size_t count : counts) CHECK((count > 700 && count < 1300)); // ten deviations
    CHECK(a.Hash() == b.Hash());
    CHECK(a.Below(1) == 0);
    CHECK(a.Below(~uint64_t{0}) != a.U64());
}

TEST_CASE("both sides of an ElligatorSwift exchange get one secret")
{
    for (int round = 0; round < 20; ++round) {
        const Hash32 a = RandomKey(), b = RandomKey();
        if (!Signer::IsValidSecret(a) || !Signer::IsValidSecret(b)) continue;
        const EllSwiftKey key_a = MakeEllSwiftKey(a, RandomKey());
        const EllSwiftKey key_b = MakeEllSwiftKey(b, RandomKey());
        CHECK(EllSwiftSharedSecret(a, key_a, key_b, true) ==
              EllSwiftSharedSecret(b, key_b, key_a, false));
        CHECK(EllSwiftSharedSecret(a, key_a, key_b, true) !=
              EllSwiftSharedSecret(b, key_b, key_a, true));
        CHECK(MakeEllSwiftKey(a, RandomKey()) != key_a);
    }
}

} // namespace ibd

// SHA-1, RIPEMD-160, SHA-512, HMAC, SipHash and ChaCha20 against known answers. Those without a
// source were computed once with Python's hashlib or from the definition.
#include "crypto/chacha20.h"
#include "crypto/hmac.h"
#include "crypto/known_answers.h"
#include "crypto/ripemd160.h"
#include "crypto/sha1.h"
#include "crypto/sha512.h"
#include "crypto/siphash.h"
#include "crypto/siphash128.h"
#include "crypto/siphash_batch.h"
#include "support/testdata.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>

#include "support/catch.h"

namespace ibd {

using namespace test;

TEST_CASE("sha1 known answers")
{
    CHECK(ToHex(Sha1Of(AsBytes("abc"))) == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(DigestOfDigests(Sha1Of) == "5e16bd00752fbe7fff9f54abad42aa45be75790a");
}

TEST_CASE("ripemd160 and hash160 known answers")
{
    CHECK(ToHex(Ripemd160Of(AsBytes("abc"))) == "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    CHECK(ToHex(Ripemd160Of({})) == "9c1185a5c5e9fc54612808977ee8f548b2258d31");
    CHECK(DigestOfDigests(Ripemd160Of) == "bc65b6a7d908baf75b9549e1079e2332266f4d59");
    Bytes all;
    for (size_t n = 0; n <= 300; ++n) Append(all, Hash160(Message(n)));
    CHECK(ToHex(Hash160(all)) == "8b6a2628616e156de4adf06f779c823fa4b9b1f9");
}

TEST_CASE("sha512 known answers, in any pieces")
{
    CHECK(ToHex(Sha512Of(AsBytes("abc"))) ==
          "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
    CHECK(DigestOfDigests(Sha512Of) ==
          "22f7ccb76798aa18641c849ac34d83f7ad184aa85abfd559510521432fa531a7"
          "8250e579e9ea0242c150b54dc5c912195c5186623e449edef413b77d6fc300f3");
    for (size_t n = 1; n < 300; ++n) {
        const Bytes data = RandomBytes(n);
        const size_t cut = TestRng()() % n;
        Sha512 hasher;
        hasher.Write(ByteSpan(data).first(cut)).Write(ByteSpan(data).subspan(cut));
        CHECK(hasher.Finalize() == Sha512Of(data));
    }
}

TEST_CASE("hmac known answers for keys and messages of many lengths")
{
    Bytes codes256, codes512;
    for (size_t n = 0; n <= 300; ++n) {
        Append(codes256, HmacSha256(Message(n)).Write(Message(300 - n)).Finalize());
        Append(codes512, HmacSha512(Message(n)).Write(Message(300 - n)).Finalize());
    }
    CHECK(ToHex(Sha256Of(codes256)) ==
          "4e8736a0a8979dd1e0ee418d94bd86b3161153ecee372c6611114dca35f4241a");
    CHECK(ToHex(Sha512Of(codes512)) ==
          "81fe7ecc75661e7053c83c0d71d1e99c7d0f3ec0f65ef7bd2bd6de619a49a584"
          "1d17c59268f8d404493bdc975a00f9e40da10d04f4df1c6f60b1f931da638b22");
}

TEST_CASE("siphash of the shared vectors")
{
    const auto path = TestData("core/siphash.json");
    if (!path) return;
    const UniValue vectors = ReadTestJson(*path);
    REQUIRE(vectors.size() > 100);
    for (size_t i = 0; i < vectors.size(); ++i) {
        const UniValue& key = vectors[i]["key"];
        SipHasher hasher({std::stoull(key[0].get_str(), nullptr, 16),
                          std::stoull(key[1].get_str(), nullptr, 16)});
        const UniValue& input = vectors[i]["input"];
        for (size_t j = 0; j < input.size(); ++j) hasher.Write(*FromHex(input[j].get_str()));
        INFO(vectors[i].write());
        CHECK(hasher.Finalize() ==
              std::stoull(vectors[i]["expected"]["siphash24"].get_str(), nullptr, 16));
    }
}

TEST_CASE("siphash of the paper's example")
{
    // SipHash paper, appendix A: key 00..0f, message 00..0e.
    Bytes message(15);
    for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<uint8_t>(i);
    SipHasher hasher({0x0706050403020100, 0x0f0e0d0c0b0a0908});
    CHECK(hasher.Write(message).Finalize() == 0xa129ca6149be45e5);
}

TEST_CASE("siphash of fixed sizes equals the general one")
{
    for (int round = 0; round < 200; ++round) {
        const SipKey key{TestRng()(), TestRng()()};
        Hash32 hash;
        std::ranges::copy(RandomBytes(32), hash.begin());
        const auto extra = static_cast<uint32_t>(TestRng()());
        uint8_t bytes[8];
        WriteLE32(bytes, extra);
        SipHasher hasher(key);
        hasher.Write(hash);
        CHECK(hasher.Finalize() == SipHash32(key, hash));
        hasher.Write(ByteSpan(bytes).first(4));
        CHECK(hasher.Finalize() == SipHash36(key, hash, extra));
        // Words, aligned or not, are their little-endian bytes.
        const uint64_t word = TestRng()();
        WriteLE64(bytes, word);
        SipHasher by_word = hasher;
        CHECK(by_word.Write(word).Write(word).Finalize() ==
              hasher.Write(ByteSpan(bytes)).Write(ByteSpan(bytes)).Finalize());
        SipHasher aligned(key), aligned_bytes(key);
        CHECK(aligned.Write(word).Finalize() == aligned_bytes.Write(ByteSpan(bytes)).Finalize());
    }
}

TEST_CASE("siphash of many hashes equals that of each")
{
    for (const sip::Backend& backend : sip::Backends()) {
        INFO(backend.name);
        if (!backend.available) continue;
        for (size_t count = 0; count < 40; ++count) {
            const SipKey key{TestRng()(), TestRng()()};
            const Bytes shifted = RandomBytes(32 * count + 1); // no alignment is needed
            std::vector<uint64_t> out(count + 1, 7);
            backend.hash(key, shifted.data() + 1, count, out.data());
            for (size_t i = 0; i < count; ++i) {
                Hash32 hash;
                std::copy_n(shifted.data() + 1 + 32 * i, 32, hash.begin());
                CHECK(out[i] == SipHash32(key, hash));
            }
            CHECK(out[count] == 7);
        }
    }
}

namespace {

Hash32 CountingKey()
{
    Hash32 key;
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(i);
    return key;
}

chacha20::State StartState(const Hash32& key, const ChaCha20::Nonce& nonce, uint32_t counter)
{
    chacha20::State start = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (size_t i = 0; i < 8; ++i) start[4 + i] = ReadLE32(key.data() + 4 * i);
    start[12] = counter;
    for (size_t i = 0; i < 3; ++i) start[13 + i] = ReadLE32(nonce.data() + 4 * i);
    return start;
}

/** One block as RFC 8439, section 2.3 puts it; the slow reference of the lanes. */
Bytes PlainBlock(const Hash32& key, const ChaCha20::Nonce& nonce, uint32_t counter)
{
    const chacha20::State start = StartState(key, nonce, counter);
    auto x = start;
    const auto step = [&](size_t to, size_t from, size_t mixed, int rotate) {
        x[to] += x[from];
        x[mixed] = std::rotl(x[mixed] ^ x[to], rotate);
    };
    for (size_t i = 0; i < 80; ++i) {
        const size_t a = i % 4;
        const size_t turn = i / 4 % 2; // columns, then diagonals
        const size_t b = 4 + (a + turn) % 4;
        const size_t c = 8 + (a + 2 * turn) % 4;
        const size_t d = 12 + (a + 3 * turn) % 4;
        step(a, b, d, 16);
        step(c, d, b, 12);
        step(a, b, d, 8);
        step(c, d, b, 7);
    }
    Bytes out(64);
    for (size_t i = 0; i < 16; ++i) WriteLE32(out.data() + 4 * i, x[i] + start[i]);
    return out;
}

} // namespace

TEST_CASE("SipHash of 128 bits of outpoints matches OpenSSL's", "[siphash]")
{
    // openssl mac -macopt hexkey:KEY -macopt size:16 -in MESSAGE SIPHASH, OpenSSL 3.0
    const std::array<std::array<const char*, 3>, 4> known = {{
        {"000102030405060708090a0b0c0d0e0f",
         "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
         "3dc47d1f29c448461e9e76ed904f6711"},
        {"b52625c2608c5756115a273753b4a8f3",
         "ffb937d25403ff426da5006e7ad82ef083b4ce0acced4c9b4e75f7e1cfc7f88600000000",
         "da0b41d0791808090d3797028ec2d9db"},
        {"0edeb6dcf1fb8617d9bc1ee35f2fa963",
         "b614bd4c00add01b5176fea98c53e43febf2dca8057a7d6871ab10160b0f8267ffffffff",
         "21a8936f70b1c1a2cd312de411158d8d"},
        {"e84fd6cba2c11ea6cea496858d8504ee",
         "b94b8456251c94c2981a8a1e5ea119007191e90d32cf2242ffe9cbbcece0ca5139300000",
         "dabfbd084dd2a8ef57639c343dfc0a75"},
    }};
    for (const auto& [key_hex, message_hex, digest_hex] : known) {
        const Bytes key = *FromHex(key_hex);
        const Bytes message = *FromHex(message_hex);
        const Bytes digest = *FromHex(digest_hex);
        const OutpointHash hash({ReadLE64(key.data()), ReadLE64(key.data() + 8)});
        const auto begun = hash.Begin(message.data());
        const Hash128 expected = {ReadLE64(digest.data()), ReadLE64(digest.data() + 8)};
        CHECK(OutpointHash::Finish(begun, ReadLE32(message.data() + 32)) == expected);
    }
}

TEST_CASE("chacha20 blocks equal the plain definition, also where the counter runs over")
{
    for (int round = 0; round < 100; ++round) {
        Hash32 key;
        ChaCha20::Nonce nonce;
        std::ranges::copy(RandomBytes(32), key.begin());
        std::ranges::copy(RandomBytes(12), nonce.begin());
        const uint32_t first = round % 2 == 0 ? static_cast<uint32_t>(TestRng()())
                                              : ~uint32_t{0} - static_cast<uint32_t>(round % 16);
        ChaCha20 cipher(key, nonce, first);
        for (uint32_t i = 0; i < 20; ++i) {
            Bytes block(64);
            cipher.Keystream(block);
            ChaCha20::Nonce carried = nonce;
            if (first + i < first) WriteLE32(carried.data(), ReadLE32(nonce.data()) + 1);
            CHECK(block == PlainBlock(key, carried, first + i));
        }
    }
}

TEST_CASE("every chacha20 backend gives the blocks of the plain definition")
{
    size_t available = 0;
    for (const chacha20::Backend& backend : chacha20::Backends()) {
        if (!backend.available) continue;
        ++available;
        for (uint32_t round = 0; round < 100; ++round) {
            Hash32 key;
            ChaCha20::Nonce nonce;
            std::ranges::copy(RandomBytes(32), key.begin());
            std::ranges::copy(RandomBytes(12), nonce.begin());
            const uint32_t first = round % 2 == 0 ? static_cast<uint32_t>(TestRng()())
                                                  : ~uint32_t{0} - round % 10;
            Bytes blocks(chacha20::kBlockBytes * backend.blocks);
            backend.next(StartState(key, nonce, first), blocks.data());
            Bytes expected;
            for (uint32_t i = 0; i < backend.blocks; ++i) {
                ChaCha20::Nonce carried = nonce;
                if (first + i < first) WriteLE32(carried.data(), ReadLE32(nonce.data()) + 1);
                Append(expected, PlainBlock(key, carried, first + i));
            }
            CHECK(blocks == expected);
        }
    }
    CHECK(available > 0);
    CHECK(chacha20::BestBackend().available);
}

TEST_CASE("chacha20 known answers")
{
    // RFC 8439, section 2.3.2.
    Bytes block(64);
    const ChaCha20::Nonce nonce = {0, 0, 0, 9, 0, 0, 0, 0x4a};
    ChaCha20(CountingKey(), nonce, 1).Keystream(block);
    CHECK(ToHex(block) == "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                          "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    Bytes six(384);
    ChaCha20(CountingKey()).Keystream(six);
    CHECK(ToHex(Sha256Of(six)) ==
          "ad6230aa6fe758c461ee2ef215872d67e286e9f3f49110266df8bfa27a73abaa");
}

TEST_CASE("chacha20 gives one keystream however it is asked")
{
    const Hash32 key = CountingKey();
    Bytes whole(1000);
    ChaCha20(key).Keystream(whole);
    ChaCha20 pieces(key);
    Bytes out;
    while (out.size() < whole.size()) {
        Bytes part(std::min<size_t>(TestRng()() % 200, whole.size() - out.size()));
        pieces.Keystream(part);
        Append(out, part);
    }
    CHECK(out == whole);
    Bytes fourth(64);
    pieces.Seek({}, 3);
    pieces.Keystream(fourth);
    CHECK(fourth == Bytes(whole.begin() + 192, whole.begin() + 256));
    const Bytes text = RandomBytes(1000);
    Bytes crypt(1000);
    ChaCha20(key).Crypt(text, crypt);
    for (size_t i = 0; i < text.size(); ++i) CHECK((text[i] ^ whole[i]) == crypt[i]);
    ChaCha20(key).Crypt(crypt, crypt); // in place
    CHECK(crypt == text);
}

} // namespace ibd

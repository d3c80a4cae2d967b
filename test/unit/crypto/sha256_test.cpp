// SHA-256: known answers, and every backend against the portable one.
#include "crypto/sha256.h"

#include "crypto/known_answers.h"
#include "crypto/sha256_backends.h"
#include "crypto/sha256_batch.h"
#include "support/testdata.h"

#include <algorithm>

#include "support/catch.h"

namespace ibd {

using test::DigestOfDigests;
using test::Message;
using test::RandomBytes;
using test::TestRng;

namespace {

const Sha256Backend& Portable() { return Sha256Backends().front(); }

Hash32 DoubleBySteps(ByteSpan data)
{
    const Hash32 once = Sha256{}.Write(data).Finalize();
    return Sha256{}.Write(once).Finalize();
}

/** Cuts bytes in three at random places; some pieces are empty. */
HashMessage CutInThree(ByteSpan data)
{
    size_t a = TestRng()() % (data.size() + 1);
    size_t b = TestRng()() % (data.size() + 1);
    if (a > b) std::swap(a, b);
    return {data.first(a), data.subspan(a, b - a), data.subspan(b)};
}

Sha256State RandomState()
{
    Sha256State state;
    for (uint32_t& word : state) word = static_cast<uint32_t>(TestRng()());
    return state;
}

} // namespace

TEST_CASE("sha256 known answers")
{
    CHECK(ToHex(Sha256Of({})) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(ToHex(Sha256Of(AsBytes("abc"))) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(DigestOfDigests(Sha256Of) ==
          "03b92e21c6feaddd5442a6a5b61be4911b8ae553ad50e890f317c3ae324a0278");
    CHECK(DigestOfDigests(Sha256d) ==
          "e56913360ab3473a9467f910050521e78a0733662a001163daeccf8b723ddfbe");
    CHECK(ToHex(TaggedHash("TapLeaf").Write(AsBytes("abc")).Finalize()) ==
          "83a56308a9c56f467e8df293da5ae5fdbc85b871952a83c4bf0575ee948ec230");
}

TEST_CASE("sha256 of a million letters")
{
    Sha256 hasher;
    for (int i = 0; i < 1000; ++i) hasher.Write(Bytes(1000, 'a'));
    CHECK(hasher.Size() == 1000000);
    CHECK(ToHex(hasher.Finalize()) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256 does not depend on how the message is cut")
{
    for (int round = 0; round < 300; ++round) {
        const Bytes data = RandomBytes(TestRng()() % 400);
        Sha256 hasher;
        ByteSpan rest = data;
        while (!rest.empty()) {
            const size_t n = TestRng()() % rest.size() + 1;
            hasher.Write(rest.first(n));
            rest = rest.subspan(n);
        }
        CHECK(hasher.Finalize() == Sha256Of(data));
        CHECK(hasher.Finalize() == Sha256Of(data)); // finalizing changes nothing
        CHECK(hasher.Reset().Write(data).Finalize() == Sha256Of(data));
    }
}

TEST_CASE("a copied sha256 midstate continues on its own")
{
    const Bytes salt = RandomBytes(64);
    const Sha256 salted = Sha256{}.Write(salt);
    Sha256State by_hand = kSha256Initial;
    Portable().transform(by_hand, salt.data(), 1);
    CHECK(salted.State() == by_hand);
    for (size_t n = 0; n < 150; ++n) {
        const Bytes tail = RandomBytes(n);
        Bytes whole = salt;
        Append(whole, tail);
        CHECK(Sha256(salted).Write(tail).Finalize() == Sha256Of(whole));
    }
}

TEST_CASE("each sha256 backend compresses as the portable one")
{
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        INFO(backend.name);
        for (size_t blocks = 0; blocks < 10; ++blocks) {
            const Bytes data = RandomBytes(64 * blocks + 1);
            Sha256State want = RandomState();
            Sha256State got = want;
            Portable().transform(want, data.data() + 1, blocks);
            backend.transform(got, data.data() + 1, blocks);
            CHECK(got == want);
        }
    }
}

TEST_CASE("the lanes of each sha256 backend are independent")
{
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        INFO(backend.name);
        REQUIRE(backend.lanes <= kSha256MaxLanes);
        for (size_t blocks = 0; blocks < 5; ++blocks) {
            std::vector<Bytes> messages;
            std::vector<const uint8_t*> data;
            std::vector<Sha256State> want, got(backend.lanes);
            alignas(64) std::array<uint32_t, 8 * kSha256MaxLanes> words;
            const auto word = [&](size_t lane, size_t number) -> uint32_t& {
                return words[number * backend.word_stride + lane * backend.lane_stride];
            };
            const uint32_t fresh = 0x2d5a3693; // some lanes begin a message, the others continue
            for (size_t i = 0; i < backend.lanes; ++i) {
                messages.push_back(RandomBytes(64 * blocks));
                want.push_back(RandomState());
                for (size_t j = 0; j < 8; ++j) word(i, j) = want.back()[j];
                if ((fresh >> i & 1) != 0) want.back() = kSha256Initial;
                Portable().transform(want.back(), messages.back().data(), blocks);
            }
            for (const Bytes& message : messages) data.push_back(message.data());
            backend.lanes_transform(words.data(), fresh, data.data(), blocks);
            for (size_t i = 0; i < backend.lanes; ++i) {
                for (size_t j = 0; j < 8; ++j) got[i][j] = word(i, j);
            }
            CHECK(got == want);
        }
    }
}

TEST_CASE("outpoints are hashed as the definition says")
{
    const Bytes salt = Message(64);
    Bytes messages(100 * 36);
    for (size_t i = 0; i < messages.size(); ++i) messages[i] = static_cast<uint8_t>(i * 37 >> 2);
    std::vector<Hash32> out(100);
    HashOutpoints(Sha256{}.Write(salt).State(), messages.data(), 36, 100, out.data());
    Bytes all;
    for (const Hash32& hash : out) Append(all, hash);
    CHECK(ToHex(Sha256Of(all)) ==
          "69cea0fbee8afc374b1fa177f2016a2690b198f7190a1f9c1123c62ac232bfe6");
    Bytes first = salt;
    Append(first, ByteSpan(messages).first(36));
    CHECK(out[0] == Sha256Of(first));
}

TEST_CASE("each sha256 backend hashes outpoints as the portable one")
{
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        INFO(backend.name);
        for (size_t count = 0; count <= 40; ++count) {
            const size_t stride = 36 + TestRng()() % 30;
            // No byte behind the last message: a kernel that reads on is caught by asan.
            const Bytes messages = RandomBytes(count == 0 ? 0 : (count - 1) * stride + 36);
            const Sha256State midstate = RandomState();
            std::vector<Hash32> want(count), got(count);
            HashOutpointsPortable(midstate, messages.data(), stride, count, want.data());
            backend.outpoints(midstate, messages.data(), stride, count, got.data());
            CHECK(got == want);
            HashOutpoints(midstate, messages.data(), stride, count, got.data());
            CHECK(got == want);
        }
    }
}

TEST_CASE("each sha256 backend hashes merkle nodes by the definition, also in place")
{
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        INFO(backend.name);
        for (size_t count = 0; count <= 40; ++count) {
            std::vector<Hash32> nodes(2 * count), got(count), want(count);
            for (Hash32& node : nodes) std::ranges::copy(RandomBytes(32), node.begin());
            const uint8_t* bytes = nodes.empty() ? nullptr : nodes[0].data();
            for (size_t i = 0; i < count; ++i) want[i] = DoubleBySteps({bytes + 64 * i, 64});
            backend.double64(bytes, count, got.data());
            CHECK(got == want);
            backend.double64(bytes, count, nodes.data());
            nodes.resize(count);
            CHECK(nodes == want);
        }
    }
}

TEST_CASE("each sha256 backend hashes messages of every length, in pieces")
{
    for (const Sha256Backend& backend : Sha256Backends()) {
        if (!backend.available) continue;
        INFO(backend.name);
        for (int round = 0; round < 8; ++round) {
            std::vector<Bytes> data;
            for (size_t n = 0; n <= 300; ++n) data.push_back(RandomBytes(n));
            for (int i = 0; i < 20; ++i) data.push_back(RandomBytes(TestRng()() % 20000));
            std::shuffle(data.begin(), data.end(), TestRng());
            data.resize(TestRng()() % data.size() + 1);
            std::vector<HashMessage> messages;
            std::vector<Hash32> once, want, got(data.size());
            for (const Bytes& bytes : data) {
                messages.push_back(CutInThree(bytes));
                once.push_back(Sha256Of(bytes));
                want.push_back(DoubleBySteps(bytes));
            }
            Sha256dManyWith(backend, messages, got.data());
            CHECK(got == want);
            Sha256ManyWith(backend, messages, got.data());
            CHECK(got == once);
        }
        Sha256dManyWith(backend, {}, nullptr);
    }
}

TEST_CASE("the chosen batch backend answers like the others and has a name for the log")
{
    const Bytes data = RandomBytes(1000);
    const HashMessage message{{}, data, {}};
    Hash32 got;
    Sha256dMany({&message, 1}, &got);
    CHECK(got == Sha256d(data));
    Sha256Many({&message, 1}, &got);
    CHECK(got == Sha256Of(data));
    Sha256dMany64(data.data(), 1, &got);
    CHECK(got == Sha256d(ByteSpan(data).first(64)));
    CHECK(Sha256StreamBackend().available);
    CHECK(Sha256BatchBackend().available);
    CHECK(Sha256Implementation().find(Sha256BatchBackend().name) != std::string::npos);
}

} // namespace ibd

// SHA-256 in plain C++: the backend for every machine and the reference for the others.
#include "crypto/sha256_internal.h"

#include <algorithm>

namespace ibd::sha256 {

namespace {

struct Working {
    uint32_t a, b, c, d, e, f, g, h;
};

inline void Round(Working& v, uint32_t kw)
{
    const uint32_t s1 = RotateRight(v.e, 6) ^ RotateRight(v.e, 11) ^ RotateRight(v.e, 25);
    const uint32_t choice = v.g ^ (v.e & (v.f ^ v.g));
    const uint32_t t1 = v.h + s1 + choice + kw;
    const uint32_t s0 = RotateRight(v.a, 2) ^ RotateRight(v.a, 13) ^ RotateRight(v.a, 22);
    const uint32_t majority = (v.a & v.b) | (v.c & (v.a | v.b));
    v = {t1 + s0 + majority, v.a, v.b, v.c, v.d + t1, v.e, v.f, v.g};
}

inline uint32_t Expand(const uint32_t* w, size_t i)
{
    const uint32_t x = w[(i + 1) % 16];
    const uint32_t y = w[(i + 14) % 16];
    return w[i % 16] + (RotateRight(x, 7) ^ RotateRight(x, 18) ^ (x >> 3)) + w[(i + 9) % 16] +
           (RotateRight(y, 17) ^ RotateRight(y, 19) ^ (y >> 10));
}

void TransformBlock(Sha256State& state, const uint8_t* block)
{
    uint32_t w[16];
    Working v = {state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]};
    for (size_t i = 0; i < 16; ++i) {
        w[i] = ReadBE32(block + 4 * i);
        Round(v, kRound[i] + w[i]);
    }
    for (size_t base = 16; base < 64; base += 16) {
        for (size_t i = 0; i < 16; ++i) {
            w[i] = Expand(w, i);
            Round(v, kRound[base + i] + w[i]);
        }
    }
    const uint32_t add[8] = {v.a, v.b, v.c, v.d, v.e, v.f, v.g, v.h};
    for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

void LanesTransform(uint32_t* words, uint32_t fresh, const uint8_t* const* data, size_t blocks)
{
    Sha256State state = kSha256Initial;
    if (fresh == 0) std::copy_n(words, state.size(), state.begin());
    TransformPortable(state, data[0], blocks);
    std::copy(state.begin(), state.end(), words);
}

/** Replaces a digest by its own. */
void HashDigest(Hash32& digest)
{
    uint8_t block[64] = {};
    std::memcpy(block, digest.data(), digest.size());
    block[32] = 0x80;
    WriteBE32(block + 60, kDigestBits);
    Sha256State state = kSha256Initial;
    TransformBlock(state, block);
    StateToBytes(state, digest.data());
}

void Digests(Hash32* digests, size_t count)
{
    for (Hash32& digest : std::span(digests, count)) HashDigest(digest);
}

void Outpoints(const Sha256State& midstate, const uint8_t* messages, size_t stride, size_t count,
               Hash32* out)
{
    uint8_t block[64];
    for (size_t i = 0; i < count; ++i) {
        PadOutpoint(messages + i * stride, block);
        Sha256State state = midstate;
        TransformBlock(state, block);
        StateToBytes(state, out[i].data());
    }
}

void Double64(const uint8_t* messages, size_t count, Hash32* out)
{
    uint8_t padding[64] = {0x80};
    WriteBE32(padding + 60, kNodeBits);
    for (size_t i = 0; i < count; ++i) {
        Sha256State state = kSha256Initial;
        TransformBlock(state, messages + 64 * i);
        TransformBlock(state, padding);
        StateToBytes(state, out[i].data());
        HashDigest(out[i]);
    }
}

} // namespace

void TransformPortable(Sha256State& state, const uint8_t* data, size_t blocks)
{
    for (size_t i = 0; i < blocks; ++i) TransformBlock(state, data + 64 * i);
}

Sha256Backend PortableBackend()
{
    return {.name = "portable",
            .available = true,
            .lanes = 1,
            .word_stride = 1,
            .lane_stride = 8,
            .transform = TransformPortable,
            .lanes_transform = LanesTransform,
            .digests = Digests,
            .outpoints = Outpoints,
            .double64 = Double64};
}

} // namespace ibd::sha256

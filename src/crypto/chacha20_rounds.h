// The twenty rounds of ChaCha20 (RFC 8439, section 2.3) on blocks side by side: each of the 16
// words of a state is a vector with that word of each block. Included by the file of each vector
// instruction set, which first defines
//   IBD_LANES_TARGET       the function attribute that enables the instructions
// and, if there is one instruction for it,
//   IBD_ROTATE_BYTES(v, n) rotates each element of a V left by n bytes, 1 or 2
// Everything is in an unnamed namespace, so that no copy compiled for one instruction set can be
// linked into code for another. Vectors are passed by reference only: their ABI depends on the
// target.
#pragma once

#include <cstddef>

#define IBD_ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#ifndef IBD_ROTATE_BYTES
#define IBD_ROTATE_BYTES(v, n) IBD_ROTATE(v, 8 * (n))
#endif
#define IBD_ROUND_INLINE IBD_LANES_TARGET __attribute__((always_inline)) inline

namespace ibd::chacha20 {

namespace {

template <size_t A, size_t B, size_t C, size_t D, typename V>
IBD_ROUND_INLINE void QuarterRound(V (&x)[16])
{
    x[A] += x[B];
    x[D] = IBD_ROTATE_BYTES(x[D] ^ x[A], 2);
    x[C] += x[D];
    x[B] = IBD_ROTATE(x[B] ^ x[C], 12);
    x[A] += x[B];
    x[D] = IBD_ROTATE_BYTES(x[D] ^ x[A], 1);
    x[C] += x[D];
    x[B] = IBD_ROTATE(x[B] ^ x[C], 7);
}

/** x = the keystream blocks of the states `start`, word by word. */
template <typename V>
IBD_ROUND_INLINE void Rounds(const V (&start)[16], V (&x)[16])
{
    for (size_t i = 0; i < 16; ++i) x[i] = start[i];
    for (int i = 0; i < 10; ++i) {
        QuarterRound<0, 4, 8, 12>(x);
        QuarterRound<1, 5, 9, 13>(x);
        QuarterRound<2, 6, 10, 14>(x);
        QuarterRound<3, 7, 11, 15>(x);
        QuarterRound<0, 5, 10, 15>(x);
        QuarterRound<1, 6, 11, 12>(x);
        QuarterRound<2, 7, 8, 13>(x);
        QuarterRound<3, 4, 9, 14>(x);
    }
    for (size_t i = 0; i < 16; ++i) x[i] += start[i];
}

} // namespace

} // namespace ibd::chacha20

#undef IBD_ROTATE
#undef IBD_ROTATE_BYTES
#undef IBD_ROUND_INLINE

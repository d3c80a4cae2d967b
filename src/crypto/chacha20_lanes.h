// Consecutive blocks of a keystream side by side, one in each 32-bit element of a vector. Included
// by the file of each vector instruction set, which first defines
//   IBD_LANES   4 or 8: elements of a vector, blocks at a time
// and the macros of chacha20_rounds.h.
#include "crypto/chacha20_blocks.h"
#include "crypto/chacha20_rounds.h"

#include "util/endian.h"

#include <algorithm>
#include <bit>
#include <cstring>

#define IBD_LANES_INLINE IBD_LANES_TARGET __attribute__((always_inline)) inline

namespace ibd::chacha20 {

namespace {

/** One word of each block. */
typedef uint32_t V __attribute__((vector_size(4 * IBD_LANES)));
/** One word of each of four blocks. */
typedef uint32_t Four __attribute__((vector_size(16)));

/** Stores words 4g .. 4g+3 of four blocks; `out`: their place in the first block. */
IBD_LANES_INLINE void StoreFour(const Four* x, uint8_t* out)
{
    const Four a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const Four b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const Four c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const Four d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    const Four blocks[4] = {
        __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
        __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
    for (size_t i = 0; i < 4; ++i) {
        if constexpr (std::endian::native == std::endian::little) {
            std::memcpy(out + kBlockBytes * i, &blocks[i], sizeof(Four));
        } else {
            for (size_t j = 0; j < 4; ++j) {
                WriteLE32(out + kBlockBytes * i + 4 * j, blocks[i][j]);
            }
        }
    }
}

IBD_LANES_TARGET void NextBlocks(const State& state, uint8_t* out)
{
    V start[16];
    for (size_t i = 0; i < 16; ++i) start[i] = V{} + state[i];
    // A counter overflow carries into the first word of the nonce, as in Core.
    V lane;
    for (uint32_t i = 0; i < IBD_LANES; ++i) lane[i] = i;
    start[12] += lane;
    start[13] += (V)(start[12] < lane) & 1;
    V x[16];
    Rounds(start, x);
    for (size_t four = 0; four < IBD_LANES / 4; ++four) {
        Four part[16];
        for (size_t i = 0; i < 16; ++i) {
            std::memcpy(&part[i], reinterpret_cast<const uint8_t*>(&x[i]) + sizeof(Four) * four,
                        sizeof(Four));
        }
        uint8_t* const blocks = out + 4 * kBlockBytes * four;
        for (size_t i = 0; i < 4; ++i) StoreFour(part + 4 * i, blocks + 16 * i);
    }
}

} // namespace

} // namespace ibd::chacha20

#undef IBD_LANES_INLINE

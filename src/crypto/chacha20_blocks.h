// Consecutive blocks of a ChaCha20 keystream, computed side by side: one implementation for each
// kind of CPU, all with the same results. Listed for dispatch and tests; other modules use
// chacha20.h. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ibd::chacha20 {

inline constexpr size_t kBlockBytes = 64;
inline constexpr size_t kMaxBlocks = 8; //!< at a time

/** "expand 32-byte k", the first four words of a state. */
inline constexpr std::array<uint32_t, 4> kConstants = {0x61707865, 0x3320646e, 0x79622d32,
                                                       0x6b206574};

/** Constants, key, counter of the first block, nonce (RFC 8439, section 2.3). */
using State = std::array<uint32_t, 16>;

struct Backend {
    const char* name;
    bool available;  //!< whether this CPU has the instructions; otherwise it must not be called
    uint32_t blocks; //!< at a time
    /** Writes `blocks` blocks to `out`. */
    void (*next)(const State& state, uint8_t* out);
};

/** The portable one first, the fastest last. */
std::span<const Backend> Backends();

/** The fastest one for this CPU. */
const Backend& BestBackend();

// Defined in the file of each instruction set.
Backend Vector4Backend();
#if defined(__x86_64__)
Backend Avx2Backend();
#endif

} // namespace ibd::chacha20

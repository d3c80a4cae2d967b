// Sha256Backend: the functions of one way to compute SHA-256 on this CPU. Which there are and which
// is taken: sha256_backends.h.
#pragma once

#include "crypto/sha256_state.h"

#include <cstddef>

namespace ibd {

/** Bytes of a serialized outpoint: txid (32) and output index (4, little-endian). */
constexpr size_t kOutpointSize = 36;

/** Most lanes of any backend. */
constexpr size_t kSha256MaxLanes = 16;

struct Sha256Backend {
    const char* name;

    /** Whether this CPU and operating system can run it; its functions must not be called else. */
    bool available;

    /** Independent messages processed side by side by `lanes_transform`. */
    size_t lanes;

    /** Absorbs `blocks` consecutive 64-byte blocks into one state. */
    void (*transform)(Sha256State& state, const uint8_t* data, size_t blocks);

    /** For each of `lanes` messages absorbs `blocks` consecutive blocks at its own address. */
    void (*lanes_transform)(Sha256State* states, const uint8_t* const* data, size_t blocks);

    /** As HashOutpoints, any count. */
    void (*outpoints)(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                      size_t count, Hash32* out);

    /** As Sha256dMany64, any count. */
    void (*double64)(const uint8_t* messages, size_t count, Hash32* out);
};

} // namespace ibd

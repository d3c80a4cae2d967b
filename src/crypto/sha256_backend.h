// Sha256Backend: one implementation of SHA-256 for a kind of CPU. For the list and the choice see
// sha256_backends.h.
#pragma once

#include "crypto/sha256_state.h"

#include <cstddef>

namespace ibd {

/** Bytes of a serialized outpoint: txid (32) and output index (4, little-endian). */
constexpr size_t kOutpointSize = 36;

/** Most lanes of any backend. */
constexpr size_t kSha256MaxLanes = 32;

struct Sha256Backend {
    const char* name;

    /** Whether this CPU and operating system can run it; otherwise its functions must not be
     *  called. */
    bool available;

    /** Independent messages processed in parallel by `lanes_transform`, at most kSha256MaxLanes. */
    size_t lanes;

    /** Word j of lane i of the states is at j * word_stride + i * lane_stride. */
    size_t word_stride;
    size_t lane_stride;

    /** Absorbs `blocks` consecutive 64-byte blocks into one state. */
    void (*transform)(Sha256State& state, const uint8_t* data, size_t blocks);

    /** For each of `lanes` messages absorbs `blocks` consecutive blocks at its own address. Lane i
     *  starts a new message if bit i of `fresh` is set. */
    void (*lanes_transform)(uint32_t* states, uint32_t fresh, const uint8_t* const* data,
                            size_t blocks);

    /** Replaces each of any number of digests by its SHA-256. */
    void (*digests)(Hash32* digests, size_t count);

    /** See HashOutpoints; any count. */
    void (*outpoints)(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                      size_t count, Hash32* out);

    /** See Sha256dMany64; any count. */
    void (*double64)(const uint8_t* messages, size_t count, Hash32* out);
};

} // namespace ibd

// The compression functions of SHA-256, each for one kind of CPU, all with the same results.
// Listed for dispatch, tests and benches; other modules use sha256.h and sha256_batch.h.
#pragma once

#include "crypto/sha256.h"

#include <span>

namespace ibd {

struct HashMessage;

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

/** Every backend compiled in, the portable one first. */
std::span<const Sha256Backend> Sha256Backends();

/** The backend for single streams: SHA extensions where present, else portable. */
const Sha256Backend& Sha256StreamBackend();

/** The available backend measured fastest at hashing outpoints; measured once per process. */
const Sha256Backend& Sha256BatchBackend();

/** As Sha256dMany with a given backend; for tests and benches. */
void Sha256dManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                     Hash32* out);

} // namespace ibd

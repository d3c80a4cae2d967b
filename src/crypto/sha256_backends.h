// The implementations of SHA-256, each for one kind of CPU, all with the same results. Listed for
// dispatch, tests and benches; other modules use sha256.h and sha256_batch.h.
#pragma once

#include "crypto/sha256_backend.h"

#include <span>

namespace ibd {

/** All compiled backends, the portable one first. */
std::span<const Sha256Backend> Sha256Backends();

/** The backend for single streams: SHA extensions where present, else portable. */
const Sha256Backend& Sha256StreamBackend();

/** The available backend measured fastest at hashing outpoints; measured once per process. */
const Sha256Backend& Sha256BatchBackend();

} // namespace ibd

// SipHash-2-4 of many hashes under one key, side by side: the short ids of a whole pool (BIP152).
// One implementation for each kind of CPU, all with the same results. Pure functions; any thread.
#pragma once

#include "crypto/siphash.h"

#include <span>

namespace ibd {

/** SipHash32() of `count` adjacent hashes of 32 bytes. */
void SipHash32Many(SipKey key, const uint8_t* hashes, size_t count, uint64_t* out);

namespace sip {

struct Backend {
    const char* name;
    bool available; //!< whether this CPU has the instructions; otherwise it must not be called
    void (*hash)(SipKey key, const uint8_t* hashes, size_t count, uint64_t* out);
};

/** The portable one first, the fastest last. */
std::span<const Backend> Backends();

#if defined(__x86_64__)
Backend Avx2Backend();
#endif

} // namespace sip

} // namespace ibd

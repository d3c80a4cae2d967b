// Random numbers of the environment: Random64, and RandomKey, a secret key for a hash table, whose
// keys an attacker can choose.
#pragma once

#include "crypto/siphash.h"
#include "util/endian.h"
#include "util/env.h"

namespace ibd {

inline uint64_t Random64(Env& env)
{
    std::array<uint8_t, 8> bytes;
    env.RandomBytes(bytes);
    return ReadLE64(bytes.data());
}

inline SipKey RandomKey(Env& env)
{
    const uint64_t first = Random64(env);
    return {first, Random64(env)};
}

} // namespace ibd

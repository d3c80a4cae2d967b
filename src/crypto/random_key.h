// RandomKey: a secret key for a hash table, whose keys an attacker can choose.
#pragma once

#include "crypto/siphash.h"
#include "util/endian.h"
#include "util/env.h"

namespace ibd {

inline SipKey RandomKey(Env& env)
{
    std::array<uint8_t, 16> bytes;
    env.RandomBytes(bytes);
    return {ReadLE64(bytes.data()), ReadLE64(bytes.data() + 8)};
}

} // namespace ibd

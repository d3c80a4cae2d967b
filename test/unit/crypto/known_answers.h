// Messages whose digests were computed once with Python's hashlib, and shared helpers.
#pragma once

#include "util/bytes.h"
#include "util/hex.h"

namespace ibd::test {

/** The message of `n` bytes whose byte i is 131 i + n mod 256. */
inline Bytes Message(size_t n)
{
    Bytes out(n);
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(i * 131 + n);
    return out;
}

/** Hash of the hashes of Message(0) to Message(300), one after the other, in hex. */
template <typename F>
std::string DigestOfDigests(F hash)
{
    Bytes all;
    for (size_t n = 0; n <= 300; ++n) Append(all, hash(Message(n)));
    return ToHex(hash(all));
}

} // namespace ibd::test

// Base58 and Base58Check, the encodings of addresses before BIP173 and of keys. Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

/** Time grows with the square of the length; for at most a few hundred bytes. */
std::string EncodeBase58(ByteSpan bytes);
/** Nothing: an invalid character, or more than `max_size` bytes. */
std::optional<Bytes> DecodeBase58(std::string_view text, size_t max_size);

/** Appends the first four bytes of the double SHA-256. */
std::string EncodeBase58Check(ByteSpan payload);
std::optional<Bytes> DecodeBase58Check(std::string_view text, size_t max_size);

} // namespace ibd

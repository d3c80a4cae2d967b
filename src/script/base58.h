// Base58 and Base58Check, as addresses and keys before BIP173 are written. Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

/** Time grows with the square of the length; meant for at most a few hundred bytes. */
std::string EncodeBase58(ByteSpan bytes);
/** Nothing for a foreign character, or more than `max_size` bytes. */
std::optional<Bytes> DecodeBase58(std::string_view text, size_t max_size);

/** With the first four bytes of the double SHA-256 appended. */
std::string EncodeBase58Check(ByteSpan payload);
std::optional<Bytes> DecodeBase58Check(std::string_view text, size_t max_size);

} // namespace ibd

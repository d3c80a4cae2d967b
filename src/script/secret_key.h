// Private keys as text (wallet import format): Base58Check of a network's prefix, the 32 bytes, and
// a 1 when the public key is to be written compressed. Pure; any thread. Nothing is wiped from
// memory.
#pragma once

#include "util/bytes.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ibd {

struct SecretKey {
    std::array<uint8_t, 32> bytes{};
    bool compressed = true;

    bool operator==(const SecretKey&) const = default;
};

/** `prefix`: ChainParams::secret_key_prefix. */
std::string EncodeSecretKey(const SecretKey& key, uint8_t prefix);

/** Nothing for another network's key, and for numbers that are no key: zero and what is not below
 *  the order of the curve. */
std::optional<SecretKey> DecodeSecretKey(std::string_view text, uint8_t prefix);

} // namespace ibd

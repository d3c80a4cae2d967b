// Private keys as text (wallet import format): Base58Check of a network's prefix, the 32 bytes, and
// a 1 if the public key is compressed. Pure; any thread. Keys are kept in locked memory
// (util/secret.h), their text is not.
#pragma once

#include "util/secret.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibd {

struct SecretKey {
    SecretArray<32> bytes;
    bool compressed = true;

    bool operator==(const SecretKey&) const = default;
};

/** `prefix`: ChainParams::secret_key_prefix. */
std::string EncodeSecretKey(const SecretKey& key, uint8_t prefix);

/** Nothing: a key of another network, or an invalid number: zero, or not below the order of the
 *  curve. */
std::optional<SecretKey> DecodeSecretKey(std::string_view text, uint8_t prefix);

} // namespace ibd

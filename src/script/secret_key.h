// Private keys as text (wallet import format): Base58Check of a network's prefix, the 32 bytes, and
// a 1 when the public key is to be written compressed. Pure; any thread. Keys lie in locked memory
// (util/secret.h), their text does not.
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

/** Nothing for another network's key, and for numbers that are no key: zero and what is not below
 *  the order of the curve. */
std::optional<SecretKey> DecodeSecretKey(std::string_view text, uint8_t prefix);

} // namespace ibd

// Extended keys (BIP32): a key with a chain code, from which child keys are derived, and its Base58
// text. Pure; any thread. Secrets are kept in locked memory (util/secret.h), their text is not.
#pragma once

#include "crypto/secp256k1.h"
#include "util/secret.h"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace ibd {

/** Child numbers from here up are hardened: only the secret key can derive them. */
constexpr uint32_t kHardenedBit = uint32_t{1} << 31;

using KeyFingerprint = std::array<uint8_t, 4>;
using KeyPath = std::vector<uint32_t>;

/** The origin of a key: a master key, by its fingerprint, and the path from it. */
struct KeyOrigin {
    KeyFingerprint fingerprint{};
    KeyPath path;

    bool operator==(const KeyOrigin&) const = default;
    /** By fingerprint, then shorter paths first: the order in which Core writes PSBTs. */
    std::strong_ordering operator<=>(const KeyOrigin& other) const;
};

/** The first four bytes of a key's HASH160. */
KeyFingerprint FingerprintOf(ByteSpan public_key);

struct ExtendedKey {
    uint8_t depth = 0;
    KeyFingerprint parent{};
    uint32_t child = 0; //!< number of this key under its parent
    Hash32 chain_code{};
    CompressedKey public_key{};
    std::optional<SecretArray<32>> secret;
};

/** Prefixes of the text form; from ChainParams. */
struct ExtendedKeyPrefixes {
    std::array<uint8_t, 4> public_key{};
    std::array<uint8_t, 4> secret_key{};
};

/** Nothing: a key of another network, a wrong checksum, or an invalid key. */
std::optional<ExtendedKey> DecodeExtendedKey(std::string_view text,
                                             const ExtendedKeyPrefixes& prefixes);
/** Decodes the raw bytes of a public key, with any prefix. */
std::optional<ExtendedKey> ParseExtendedPublicKey(ByteSpan bytes);
/** The public form. */
std::string EncodeExtendedPublicKey(const ExtendedKey& key, const ExtendedKeyPrefixes& prefixes);

/** Child `number`. Nothing: it is hardened and the secret is missing, the key is 255 deep already,
 *  or (odds 2^-127) that child does not exist. */
std::optional<ExtendedKey> DeriveChild(const ExtendedKey& key, uint32_t number);
/** Derives along the whole path. */
std::optional<ExtendedKey> DerivePath(const ExtendedKey& key, const KeyPath& path);

/** "/0h/1" or, with `apostrophe`, "/0'/1". */
std::string FormatKeyPath(const KeyPath& path, bool apostrophe);

} // namespace ibd

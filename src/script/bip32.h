// Extended keys (BIP32): a key with a chain code, from which child keys are derived, and its Base58
// text. Pure; any thread. Secrets lie in locked memory (util/secret.h), their text does not.
#pragma once

#include "crypto/secp256k1.h"
#include "util/secret.h"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace ibd {

/** Child numbers from here up are hardened: only the secret key derives them. */
constexpr uint32_t kHardenedBit = uint32_t{1} << 31;

using KeyFingerprint = std::array<uint8_t, 4>;
using KeyPath = std::vector<uint32_t>;

/** Where a key comes from: a master key, by its fingerprint, and the path below it. */
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
    uint32_t child = 0; //!< number of this key below its parent
    Hash32 chain_code{};
    CompressedKey public_key{};
    std::optional<SecretArray<32>> secret;
};

/** What the text begins with; from ChainParams. */
struct ExtendedKeyPrefixes {
    std::array<uint8_t, 4> public_key{};
    std::array<uint8_t, 4> secret_key{};
};

/** Nothing for another network's key, a wrong checksum, or numbers that are no key. */
std::optional<ExtendedKey> DecodeExtendedKey(std::string_view text,
                                             const ExtendedKeyPrefixes& prefixes);
/** The bytes behind the text, of a public key and with whatever prefix. */
std::optional<ExtendedKey> ParseExtendedPublicKey(ByteSpan bytes);
/** The public form. */
std::string EncodeExtendedPublicKey(const ExtendedKey& key, const ExtendedKeyPrefixes& prefixes);

/** Child `number`. Nothing if it is hardened and the secret is not there, if the key is 255 deep
 *  already, or (odds 2^-127) if that child does not exist. */
std::optional<ExtendedKey> DeriveChild(const ExtendedKey& key, uint32_t number);
/** Along the whole path. */
std::optional<ExtendedKey> DerivePath(const ExtendedKey& key, const KeyPath& path);

/** "/0h/1" or, with `apostrophe`, "/0'/1". */
std::string FormatKeyPath(const KeyPath& path, bool apostrophe);

} // namespace ibd

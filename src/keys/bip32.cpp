// See bip32.h.
#include "keys/bip32.h"

#include "crypto/hmac.h"
#include "crypto/key_tweak.h"
#include "crypto/ripemd160.h"
#include "keys/base58.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

// Offsets in the serialized form: prefix, depth, parent, child number, chain code, key.
constexpr size_t kDepthAt = 4;
constexpr size_t kParentAt = 5;
constexpr size_t kChildAt = 9;
constexpr size_t kChainCodeAt = 13;
constexpr size_t kKeyAt = 45;
constexpr size_t kSize = 78;

/** A root has no parent. */
bool IsConsistent(const ExtendedKey& key)
{
    return key.depth != 0 || (key.child == 0 && key.parent == KeyFingerprint{});
}

bool ReadSecret(ByteSpan key_part, ExtendedKey& out)
{
    if (key_part[0] != 0) return false;
    SecretArray<32> secret;
    std::copy_n(key_part.begin() + 1, secret.size(), secret.begin());
    if (!Signer::IsValidSecret(secret)) return false;
    out.public_key = Signer().PublicKey(secret);
    out.secret = secret;
    return true;
}

bool ReadPublic(ByteSpan key_part, ExtendedKey& out)
{
    std::copy(key_part.begin(), key_part.end(), out.public_key.begin());
    return IsValidPublicKey(out.public_key);
}

/** Reads all but the prefix; `read_key` reads the last part. */
template <typename ReadKey>
std::optional<ExtendedKey> Read(ByteSpan bytes, const ReadKey& read_key)
{
    ExtendedKey key;
    key.depth = bytes[kDepthAt];
    std::copy_n(bytes.begin() + kParentAt, key.parent.size(), key.parent.begin());
    key.child = ReadBE32(&bytes[kChildAt]);
    std::copy_n(bytes.begin() + kChainCodeAt, key.chain_code.size(), key.chain_code.begin());
    if (!read_key(bytes.subspan(kKeyAt), key) || !IsConsistent(key)) return std::nullopt;
    return key;
}

/** HMAC-SHA512 of the parent: the tweak of the key, and the chain code. */
Hash64 ChildSeed(const ExtendedKey& key, uint32_t number)
{
    HmacSha512 mac(key.chain_code);
    if (number >= kHardenedBit) {
        mac.Write(Bytes{0}).Write(*key.secret);
    } else {
        mac.Write(key.public_key);
    }
    std::array<uint8_t, 4> tail;
    WriteBE32(tail.data(), number);
    return mac.Write(tail).Finalize();
}

} // namespace

std::strong_ordering KeyOrigin::operator<=>(const KeyOrigin& other) const
{
    if (const auto order = fingerprint <=> other.fingerprint; order != 0) return order;
    if (const auto order = path.size() <=> other.path.size(); order != 0) return order;
    return path <=> other.path;
}

KeyFingerprint FingerprintOf(ByteSpan public_key)
{
    const Hash20 id = Hash160(public_key);
    KeyFingerprint out;
    std::copy_n(id.begin(), out.size(), out.begin());
    return out;
}

std::optional<ExtendedKey> DecodeExtendedKey(std::string_view text,
                                             const ExtendedKeyPrefixes& prefixes)
{
    auto bytes = DecodeBase58Check(text, kSize);
    if (!bytes || bytes->size() != kSize) return std::nullopt;
    const WipedAtEnd wiped(*bytes);
    const auto begins_with = [&](const std::array<uint8_t, 4>& prefix) {
        return std::equal(prefix.begin(), prefix.end(), bytes->begin());
    };
    if (begins_with(prefixes.secret_key)) return Read(*bytes, ReadSecret);
    if (begins_with(prefixes.public_key)) return Read(*bytes, ReadPublic);
    return std::nullopt;
}

std::optional<ExtendedKey> ParseExtendedPublicKey(ByteSpan bytes)
{
    return bytes.size() == kSize ? Read(bytes, ReadPublic) : std::nullopt;
}

std::string EncodeExtendedPublicKey(const ExtendedKey& key, const ExtendedKeyPrefixes& prefixes)
{
    Bytes out;
    Append(out, prefixes.public_key);
    out.push_back(key.depth);
    Append(out, key.parent);
    out.resize(kChainCodeAt);
    WriteBE32(&out[kChildAt], key.child);
    Append(out, key.chain_code);
    Append(out, key.public_key);
    return EncodeBase58Check(out);
}

std::optional<ExtendedKey> DeriveChild(const ExtendedKey& key, uint32_t number)
{
    if (key.depth == 255 || (number >= kHardenedBit && !key.secret)) return std::nullopt;
    Hash64 seed = ChildSeed(key, number);
    const WipedAtEnd seed_wiped(seed);
    Hash32 tweak;
    const WipedAtEnd tweak_wiped(tweak);
    std::copy_n(seed.begin(), tweak.size(), tweak.begin());
    ExtendedKey child;
    child.depth = static_cast<uint8_t>(key.depth + 1);
    child.parent = FingerprintOf(key.public_key);
    child.child = number;
    std::copy_n(seed.begin() + 32, child.chain_code.size(), child.chain_code.begin());
    if (key.secret) {
        auto secret = AddToSecret(*key.secret, tweak);
        if (!secret) return std::nullopt;
        const WipedAtEnd secret_wiped(*secret);
        child.secret = *secret;
        child.public_key = Signer().PublicKey(*child.secret);
        return child;
    }
    const auto sum = AddToPublicKey(key.public_key, tweak);
    if (!sum) return std::nullopt;
    child.public_key = *sum;
    return child;
}

std::optional<ExtendedKey> DerivePath(const ExtendedKey& key, const KeyPath& path)
{
    std::optional<ExtendedKey> at = key;
    for (const uint32_t number : path) {
        at = DeriveChild(*at, number);
        if (!at) break;
    }
    return at;
}

std::string FormatKeyPath(const KeyPath& path, bool apostrophe)
{
    std::string out;
    for (const uint32_t number : path) {
        out += '/' + std::to_string(number & ~kHardenedBit);
        if (number >= kHardenedBit) out += apostrophe ? '\'' : 'h';
    }
    return out;
}

} // namespace ibd

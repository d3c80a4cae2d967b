// See secret_key.h.
#include "keys/secret_key.h"

#include "keys/base58.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kKeySize = 32;

/** Order of secp256k1's group (SEC 2), big-endian. */
constexpr std::array<uint8_t, kKeySize> kOrder = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};

} // namespace

std::string EncodeSecretKey(const SecretKey& key, uint8_t prefix)
{
    Bytes payload = {prefix};
    Append(payload, key.bytes);
    if (key.compressed) payload.push_back(1);
    const WipedAtEnd wiped(payload);
    return EncodeBase58Check(payload);
}

std::optional<SecretKey> DecodeSecretKey(std::string_view text, uint8_t prefix)
{
    auto payload = DecodeBase58Check(text, kKeySize + 2);
    if (!payload) return std::nullopt;
    const WipedAtEnd wiped(*payload);
    if (payload->size() < kKeySize + 1 || (*payload)[0] != prefix) return std::nullopt;
    SecretKey key;
    key.compressed = payload->size() == kKeySize + 2;
    if (key.compressed && payload->back() != 1) return std::nullopt;
    std::copy_n(payload->begin() + 1, kKeySize, key.bytes.begin());
    const std::array<uint8_t, kKeySize>& number = key.bytes;
    if (key.bytes == std::array<uint8_t, kKeySize>{} || number >= kOrder) return std::nullopt;
    return key;
}

} // namespace ibd

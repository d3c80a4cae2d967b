// See key_ring.h.
#include "keys/key_ring.h"

#include <algorithm>

namespace ibd {

namespace {

template <typename Value>
const Value* FindByX(const std::map<Hash20, Value>& by_key, const XOnlyKey& key)
{
    CompressedKey full;
    std::copy(key.begin(), key.end(), full.begin() + 1);
    for (const uint8_t prefix : {2, 3}) {
        full[0] = prefix;
        if (const auto it = by_key.find(Hash160(full)); it != by_key.end()) return &it->second;
    }
    return nullptr;
}

} // namespace

void KeyRing::AddSecret(const SecretKey& secret)
{
    const Signer signer;
    Bytes key;
    if (secret.compressed) {
        Append(key, signer.PublicKey(secret.bytes));
    } else {
        Append(key, signer.UncompressedPublicKey(secret.bytes));
    }
    const Hash20 hash = Hash160(key);
    secrets.emplace(hash, secret);
    public_keys.emplace(hash, std::move(key));
}

void KeyRing::AddScript(ByteSpan script)
{
    scripts.emplace(Hash160(script), Bytes(script.begin(), script.end()));
}

const SecretKey* KeyRing::FindSecret(const XOnlyKey& key) const { return FindByX(secrets, key); }
const KeyOrigin* KeyRing::FindOrigin(const XOnlyKey& key) const { return FindByX(origins, key); }

} // namespace ibd

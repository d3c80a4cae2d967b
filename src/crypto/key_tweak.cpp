// See key_tweak.h.
#include "crypto/key_tweak.h"

#include "util/check.h"

#include <secp256k1.h>

namespace ibd {

std::optional<CompressedKey> AddToPublicKey(const CompressedKey& public_key, const Hash32& tweak)
{
    const secp256k1_context* const context = secp256k1_context_static;
    secp256k1_pubkey key;
    if (!secp256k1_ec_pubkey_parse(context, &key, public_key.data(), public_key.size()) ||
        !secp256k1_ec_pubkey_tweak_add(context, &key, tweak.data())) {
        return std::nullopt;
    }
    CompressedKey sum;
    size_t size = sum.size();
    CHECK(secp256k1_ec_pubkey_serialize(context, sum.data(), &size, &key,
                                        SECP256K1_EC_COMPRESSED) == 1);
    return sum;
}

std::optional<Hash32> AddToSecret(const Hash32& secret, const Hash32& tweak)
{
    Hash32 sum = secret;
    if (!secp256k1_ec_seckey_tweak_add(secp256k1_context_static, sum.data(), tweak.data())) {
        return std::nullopt;
    }
    return sum;
}

} // namespace ibd

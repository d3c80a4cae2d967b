// See sign_low_r.h.
#include "crypto/sign_low_r.h"

#include "crypto/signing_context.h"
#include "util/check.h"
#include "util/endian.h"

#include <secp256k1.h>

namespace ibd {

namespace {

bool HasLowR(const secp256k1_ecdsa_signature& signature)
{
    CompactSignature compact;
    secp256k1_ecdsa_signature_serialize_compact(secp256k1_context_static, compact.data(),
                                                &signature);
    return compact[0] < 0x80;
}

} // namespace

Bytes SignEcdsaLowR(const Hash32& secret, const Hash32& message)
{
    CHECK(Signer::IsValidSecret(secret));
    const SigningContext context = MakeSigningContext();
    secp256k1_ecdsa_signature signature;
    // A little-endian counter as additional input of the nonce; unused at the first try.
    Hash32 extra{};
    for (uint32_t tries = 0;; WriteLE<uint32_t>(extra.data(), ++tries)) {
        CHECK(secp256k1_ecdsa_sign(context.get(), &signature, message.data(), secret.data(),
                                   secp256k1_nonce_function_rfc6979,
                                   tries == 0 ? nullptr : extra.data()) == 1);
        if (HasLowR(signature)) break; // true for every second one
    }
    Bytes der(72);
    size_t size = der.size();
    CHECK(secp256k1_ecdsa_signature_serialize_der(context.get(), der.data(), &size, &signature) ==
          1);
    der.resize(size);
    return der;
}

} // namespace ibd

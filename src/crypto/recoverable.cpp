// See recoverable.h.
#include "crypto/recoverable.h"

#include "crypto/signing_context.h"
#include "util/check.h"

#include <secp256k1_recovery.h>

namespace ibd {

namespace {

constexpr uint8_t kFirst = 27;      //!< lowest first byte
constexpr uint8_t kCompressed = 4;  //!< added to it
constexpr int kRecoveryNumbers = 3; //!< mask of the recovery number

} // namespace

RecoverableSignature SignRecoverable(const Hash32& secret, const Hash32& message, bool compressed)
{
    CHECK(Signer::IsValidSecret(secret));
    const SigningContext context = MakeSigningContext();
    secp256k1_ecdsa_recoverable_signature signature;
    CHECK(secp256k1_ecdsa_sign_recoverable(context.get(), &signature, message.data(), secret.data(),
                                           secp256k1_nonce_function_rfc6979, nullptr) == 1);
    RecoverableSignature out;
    int number = 0;
    CHECK(secp256k1_ecdsa_recoverable_signature_serialize_compact(context.get(), &out[1], &number,
                                                                  &signature) == 1);
    out[0] = static_cast<uint8_t>(kFirst + number + (compressed ? kCompressed : 0));
    return out;
}

std::optional<Bytes> RecoverPublicKey(ByteSpan signature, const Hash32& message)
{
    if (signature.size() != std::tuple_size_v<RecoverableSignature>) return std::nullopt;
    const secp256k1_context* const context = secp256k1_context_static;
    const uint8_t first = static_cast<uint8_t>(signature[0] - kFirst);
    secp256k1_ecdsa_recoverable_signature parsed;
    secp256k1_pubkey key;
    if (!secp256k1_ecdsa_recoverable_signature_parse_compact(context, &parsed, &signature[1],
                                                             first & kRecoveryNumbers) ||
        !secp256k1_ecdsa_recover(context, &key, &parsed, message.data())) {
        return std::nullopt;
    }
    const bool compressed = (first & kCompressed) != 0;
    Bytes out(compressed ? 33 : 65);
    size_t size = out.size();
    CHECK(secp256k1_ec_pubkey_serialize(context, out.data(), &size, &key,
                                        compressed ? SECP256K1_EC_COMPRESSED
                                                   : SECP256K1_EC_UNCOMPRESSED) == 1);
    return out;
}

} // namespace ibd

// See ellswift.h.
#include "crypto/ellswift.h"

#include "crypto/signing_context.h"
#include "util/check.h"

#include <secp256k1.h>
#include <secp256k1_ellswift.h>

namespace ibd {

EllSwiftKey MakeEllSwiftKey(const Hash32& secret, const Hash32& entropy)
{
    const SigningContext context = MakeSigningContext();
    EllSwiftKey out;
    CHECK(secp256k1_ellswift_create(context.get(), out.data(), secret.data(), entropy.data()) == 1);
    return out;
}

Hash32 EllSwiftSharedSecret(const Hash32& our_secret, const EllSwiftKey& ours,
                            const EllSwiftKey& theirs, bool initiator)
{
    Hash32 out;
    const EllSwiftKey& a = initiator ? ours : theirs;
    const EllSwiftKey& b = initiator ? theirs : ours;
    CHECK(secp256k1_ellswift_xdh(secp256k1_context_static, out.data(), a.data(), b.data(),
                                 our_secret.data(), initiator ? 0 : 1,
                                 secp256k1_ellswift_xdh_hash_function_bip324, nullptr) == 1);
    return out;
}

} // namespace ibd

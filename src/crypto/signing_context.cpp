// See signing_context.h.
#include "crypto/signing_context.h"

#include "util/check.h"

#include <array>
#include <cstdint>
#include <unistd.h>

#include <secp256k1.h>

namespace ibd {

void SigningContextDeleter::operator()(secp256k1_context_struct* context) const
{
    secp256k1_context_destroy(context);
}

SigningContext MakeSigningContext()
{
    SigningContext context(secp256k1_context_create(SECP256K1_CONTEXT_NONE));
    CHECK(context != nullptr);
    std::array<uint8_t, 32> seed;
    CHECK(::getentropy(seed.data(), seed.size()) == 0);
    CHECK(secp256k1_context_randomize(context.get(), seed.data()) == 1);
    return context;
}

} // namespace ibd

// A libsecp256k1 context for work with secrets.
#pragma once

#include <memory>

struct secp256k1_context_struct;

namespace ibd {

struct SigningContextDeleter {
    void operator()(secp256k1_context_struct* context) const;
};
using SigningContext = std::unique_ptr<secp256k1_context_struct, SigningContextDeleter>;

/** A context blinded by random bytes of the system, against side channels: its results do not
 *  depend on them. Takes some ten microseconds. */
SigningContext MakeSigningContext();

} // namespace ibd

// The shape of ECDSA signatures in scripts: strict DER (BIP66) and the hash type byte. Pure; any
// thread.
#pragma once

#include "util/bytes.h"

namespace ibd {

/** BIP66: 9 to 73 bytes, one DER sequence of two positive integers in their shortest form, then
 *  the hash type byte. Whether r and s are in range is not judged. */
bool HasStrictDerShape(ByteSpan signature_and_type);

/** ALL, NONE or SINGLE, with or without ANYONECANPAY, as the last byte. */
bool HasDefinedHashType(ByteSpan signature_and_type);

} // namespace ibd

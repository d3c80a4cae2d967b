// Encodings of ECDSA signatures and keys that some flags require. Pure; any thread.
#pragma once

#include "script/script_error.h"
#include "script/sighash.h"
#include "script/verify_flags.h"

namespace ibd {

/** Strict DER with the hash-type byte at the end (BIP66). */
bool IsStrictDer(ByteSpan signature);

/** Empty signatures always pass. */
ScriptError CheckSignatureEncoding(ByteSpan signature, ScriptFlags flags);

ScriptError CheckPubkeyEncoding(ByteSpan public_key, ScriptFlags flags, SigVersion version);

} // namespace ibd

// See signature_encoding.h.
#include "script/signature_encoding.h"

#include "crypto/secp256k1.h"

namespace ibd {

namespace {

/** Checks a DER integer at `at`: positive, no unnecessary leading zero. Moves `at` past it. */
bool SkipDerInteger(ByteSpan signature, size_t& at, size_t end)
{
    if (at + 2 > end || signature[at] != 0x02) return false;
    const size_t length = signature[at + 1];
    at += 2;
    if (length == 0 || length > end - at) return false;
    if (signature[at] & 0x80) return false;
    if (length > 1 && signature[at] == 0 && !(signature[at + 1] & 0x80)) return false;
    at += length;
    return true;
}

bool IsCompressed(ByteSpan key) { return key.size() == 33 && (key[0] == 2 || key[0] == 3); }

bool IsDefinedHashType(ByteSpan signature)
{
    const uint8_t type = signature.back() & ~kSigHashAnyoneCanPay;
    return type >= kSigHashAll && type <= kSigHashSingle;
}

} // namespace

bool IsStrictDer(ByteSpan signature)
{
    // 0x30 length, 0x02 length r, 0x02 length s, hash type; one-byte lengths throughout.
    if (signature.size() < 9 || signature.size() > 73) return false;
    if (signature[0] != 0x30 || signature[1] != signature.size() - 3) return false;
    const size_t end = signature.size() - 1;
    size_t at = 2;
    if (!SkipDerInteger(signature, at, end)) return false;
    if (!SkipDerInteger(signature, at, end)) return false;
    return at == end;
}

ScriptError CheckSignatureEncoding(ByteSpan signature, ScriptFlags flags)
{
    if (signature.empty()) return ScriptError::kOk;
    if ((flags & (kVerifyDerSig | kVerifyLowS | kVerifyStrictEnc)) && !IsStrictDer(signature)) {
        return ScriptError::kSigDer;
    }
    if ((flags & kVerifyLowS) && !IsLowS(signature.first(signature.size() - 1))) {
        return ScriptError::kSigHighS;
    }
    if ((flags & kVerifyStrictEnc) && !IsDefinedHashType(signature)) {
        return ScriptError::kSigHashType;
    }
    return ScriptError::kOk;
}

ScriptError CheckPubkeyEncoding(ByteSpan public_key, ScriptFlags flags, SigVersion version)
{
    const bool uncompressed = public_key.size() == 65 && public_key[0] == 4;
    if ((flags & kVerifyStrictEnc) && !IsCompressed(public_key) && !uncompressed) {
        return ScriptError::kPubkeyType;
    }
    if ((flags & kVerifyWitnessPubkeyType) && version == SigVersion::kWitnessV0 &&
        !IsCompressed(public_key)) {
        return ScriptError::kWitnessPubkeyType;
    }
    return ScriptError::kOk;
}

} // namespace ibd

// NoSignatures: a checker that refuses every signature, to run scripts that only push. Stateless;
// any thread.
#pragma once

#include "script/signature_checker.h"

namespace ibd {

class NoSignatures final : public SignatureChecker {
public:
    bool CheckEcdsa(ByteSpan, ByteSpan, ByteSpan, SigVersion) const override { return false; }
    ScriptError CheckSchnorr(ByteSpan, ByteSpan, const TaprootContext&) const override
    {
        return ScriptError::kSchnorrSig;
    }
    bool CheckLockTime(int64_t) const override { return false; }
    bool CheckSequence(int64_t) const override { return false; }
};

} // namespace ibd

// SignatureChecker: answers a running script's questions about the spending transaction. An
// interface, so that tests can run scripts without a transaction.
#pragma once

#include "script/deferred_signatures.h"
#include "script/script_error.h"
#include "script/sighash.h"
#include "script/verification_cache.h"
#include "script/verify_flags.h"

namespace ibd {

class SignatureChecker {
public:
    virtual ~SignatureChecker() = default;

    /** ECDSA signature with its hash-type byte at the end. */
    virtual bool CheckEcdsa(ByteSpan signature, ByteSpan public_key, ByteSpan script_code,
                            SigVersion version) const = 0;
    /** BIP340 signature of 64 or 65 bytes by an x-only key; kOk or the error. */
    virtual ScriptError CheckSchnorr(ByteSpan signature, ByteSpan public_key,
                                     const TaprootContext& context) const = 0;
    /** CheckTaprootTweak (crypto/secp256k1.h): whether the output key commits to a script. */
    virtual bool CheckTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                            const Hash32& tweak) const;
    /** The object in which the checks above note signatures, which they then accept; null: they
     *  verify at once. */
    virtual DeferredSignatures* Deferred() const { return nullptr; }
    /** BIP65. `lock_time` is not negative. */
    virtual bool CheckLockTime(int64_t lock_time) const = 0;
    /** BIP112. `sequence` is not negative. */
    virtual bool CheckSequence(int64_t sequence) const = 0;
};

/** Answers from a transaction. All arguments must outlive it. A cache does not change the answers.
 *  It keeps hashes between questions: one thread. With `deferred` it notes signatures there and
 *  accepts them, without the caches. */
class TxSignatureChecker final : public SignatureChecker {
public:
    TxSignatureChecker(const TxView& tx, size_t input, const SpentOutput& spent,
                       const TxHashes& hashes, SignatureCacheUse cache = {},
                       DeferredSignatures* deferred = nullptr)
        : m_tx(tx), m_input(input), m_spent(spent), m_hashes(hashes), m_cache(cache),
          m_deferred(deferred)
    {
    }

    bool CheckEcdsa(ByteSpan signature, ByteSpan public_key, ByteSpan script_code,
                    SigVersion version) const override;
    ScriptError CheckSchnorr(ByteSpan signature, ByteSpan public_key,
                             const TaprootContext& context) const override;
    bool CheckTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                    const Hash32& tweak) const override;
    DeferredSignatures* Deferred() const override { return m_deferred; }
    bool CheckLockTime(int64_t lock_time) const override;
    bool CheckSequence(int64_t sequence) const override;

private:
    bool Defers() const { return m_deferred != nullptr && m_deferred->Defers(); }
    bool DefersTaproot() const { return m_deferred != nullptr && m_deferred->DefersTaproot(); }
    bool Spend(uint8_t hash_type, ByteSpan script_code, SigVersion version) const;
    /** Whether `verify` returns true, or has done so before for `key()`. */
    template <typename Key, typename Verify>
    bool VerifyOnce(Key key, Verify verify) const;

    const TxView& m_tx;
    const size_t m_input;
    const SpentOutput m_spent;
    const TxHashes& m_hashes;
    const SignatureCacheUse m_cache;
    DeferredSignatures* const m_deferred;
    mutable InputHashes m_input_hashes;
};

} // namespace ibd

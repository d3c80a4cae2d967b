// See signature_checker.h.
#include "script/signature_checker.h"

#include "crypto/secp256k1.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kLockTimeThreshold = 500'000'000; //!< below: block height, else seconds
constexpr uint32_t kSequenceFinal = 0xffffffff;
constexpr uint32_t kSequenceDisable = 1U << 31; //!< BIP68
constexpr int64_t kSequenceType = 1 << 22;      //!< BIP68: 512-second units
constexpr int64_t kSequenceMask = 0xffff;

/** The first byte determines the size of a key; other sizes never verify. */
bool HasKeyShape(ByteSpan key)
{
    if (key.empty()) return false;
    if (key[0] == 2 || key[0] == 3) return key.size() == 33;
    if (key[0] == 4 || key[0] == 6 || key[0] == 7) return key.size() == 65;
    return false;
}

} // namespace

template <typename Key, typename Verify>
bool TxSignatureChecker::VerifyOnce(Key key, Verify verify) const
{
    SignatureCache* cache = m_cache.cache;
    if (!cache || (cache->Entries().Empty() && !m_cache.keep)) return verify();
    const Hash32 digest = key();
    if (cache->Entries().Contains(digest, !m_cache.keep)) return true;
    if (!verify()) return false;
    if (m_cache.keep) cache->Entries().Insert(digest);
    return true;
}

/** False: an ECDSA check would cost more than the room that is left. */
bool TxSignatureChecker::Spend(uint8_t hash_type, ByteSpan script_code, SigVersion version) const
{
    if (m_deferred == nullptr) return true;
    const size_t bytes = m_input_hashes.BytesToHash(m_tx, m_input, version, hash_type, script_code);
    const size_t walked = version == SigVersion::kBase ? script_code.size() : 0;
    return m_deferred->Spend(bytes + DeferredSignatures::kSearchCost * walked) &&
           (m_deferred->Defers() || m_deferred->Spend(DeferredSignatures::kPlainCost));
}

bool TxSignatureChecker::CheckEcdsa(ByteSpan signature, ByteSpan public_key, ByteSpan script_code,
                                    SigVersion version) const
{
    if (!HasKeyShape(public_key) || signature.empty()) return false;
    const uint8_t hash_type = signature.back();
    if (!Spend(hash_type, script_code, version)) return false;
    const Hash32 hash = version == SigVersion::kWitnessV0
                            ? WitnessV0SigHash(m_tx, m_input, script_code, m_spent.value, hash_type,
                                               m_hashes, &m_input_hashes)
                            : LegacySigHash(m_tx, m_input, script_code, hash_type, &m_input_hashes);
    const ByteSpan der = signature.first(signature.size() - 1);
    if (Defers()) {
        m_deferred->NoteEcdsa(public_key, der, hash);
        return true;
    }
    return VerifyOnce([&] { return m_cache.cache->EcdsaKey(hash, public_key, der); },
                      [&] { return VerifyEcdsa(public_key, der, hash); });
}

ScriptError TxSignatureChecker::CheckSchnorr(ByteSpan signature, ByteSpan public_key,
                                             const TaprootContext& context) const
{
    if (signature.size() != 64 && signature.size() != 65) return ScriptError::kSchnorrSigSize;
    uint8_t hash_type = kSigHashDefault;
    if (signature.size() == 65) {
        hash_type = signature[64];
        if (hash_type == kSigHashDefault) return ScriptError::kSchnorrSigHashType;
    }
    const auto hash =
        TaprootSigHash(m_tx, m_input, m_spent, hash_type, m_hashes, context, &m_input_hashes);
    if (!hash) return ScriptError::kSchnorrSigHashType;
    XOnlyKey key;
    SchnorrSignature sig;
    std::copy_n(public_key.begin(), key.size(), key.begin());
    std::copy_n(signature.begin(), sig.size(), sig.begin());
    if (DefersTaproot()) {
        m_deferred->NoteSchnorr(key, sig, *hash);
        return ScriptError::kOk;
    }
    const bool valid = VerifyOnce([&] { return m_cache.cache->SchnorrKey(*hash, key, sig); },
                                  [&] { return VerifySchnorr(key, sig, *hash); });
    return valid ? ScriptError::kOk : ScriptError::kSchnorrSig;
}

bool SignatureChecker::CheckTweak(const XOnlyKey& output_key, bool odd,
                                  const XOnlyKey& internal_key, const Hash32& tweak) const
{
    return CheckTaprootTweak(output_key, odd, internal_key, tweak);
}

bool TxSignatureChecker::CheckTweak(const XOnlyKey& output_key, bool odd,
                                    const XOnlyKey& internal_key, const Hash32& tweak) const
{
    if (!DefersTaproot()) return CheckTaprootTweak(output_key, odd, internal_key, tweak);
    m_deferred->NoteTweak(output_key, odd, internal_key, tweak);
    return true;
}

bool TxSignatureChecker::CheckLockTime(int64_t lock_time) const
{
    const int64_t tx_time = m_tx.lock_time;
    if ((tx_time < kLockTimeThreshold) != (lock_time < kLockTimeThreshold)) return false;
    if (lock_time > tx_time) return false;
    // If all inputs were final, the lock time would have no effect.
    return m_tx.inputs[m_input].sequence != kSequenceFinal;
}

bool TxSignatureChecker::CheckSequence(int64_t sequence) const
{
    const uint32_t own = m_tx.inputs[m_input].sequence;
    if (m_tx.version < 2 || (own & kSequenceDisable)) return false;
    const int64_t mask = kSequenceType | kSequenceMask;
    const int64_t tx_masked = own & mask;
    const int64_t masked = sequence & mask;
    if ((tx_masked < kSequenceType) != (masked < kSequenceType)) return false;
    return masked <= tx_masked;
}

} // namespace ibd

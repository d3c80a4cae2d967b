// SignatureBatch: signatures that are noted one by one and proven together, eight at a time in
// vector lanes where the machine has them (crypto/lanes.h), else by libsecp256k1 one after the
// other. Its verdicts are those of VerifyEcdsa and VerifySchnorr (crypto/secp256k1.h). Not
// thread-safe: one batch belongs to one thread. Public data only.
#pragma once

#include "crypto/lanes.h"
#include "crypto/secp256k1.h"

#include <vector>

namespace ibd {

/** How a batch is proven (-signaturelanes). */
enum class LanesMode : uint8_t {
    kOff,   //!< by libsecp256k1 alone
    kOn,    //!< in lanes; libsecp256k1 decides exceptional cases
    kCheck, //!< both; a difference is a bug and ends the program
};

/** What proves signatures on this machine in that mode: "avx512ifma" or "libsecp256k1". */
const char* SignatureVerifierName(LanesMode mode);

/** Whether a hundred signatures, every other one spoilt, get libsecp256k1's verdicts from
 *  `verifier`: a check of the processor before a start relies on it. Ten milliseconds. */
bool LanesAgree(lanes::VerifyFunction verifier = lanes::IfmaVerifier());

class SignatureBatch {
public:
    /** `verifier`: null for libsecp256k1. */
    explicit SignatureBatch(LanesMode mode, lanes::VerifyFunction verifier = lanes::IfmaVerifier());

    /** Notes a check that VerifyEcdsa would make of the same arguments. */
    void AddEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);
    /** Notes a check that VerifySchnorr would make. */
    void AddSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                    const Hash32& message);

    size_t size() const { return m_notes.size(); }
    void Clear() { m_notes.clear(); }

    /** One verdict for each note, in their order. The notes stay. */
    std::vector<bool> Verify() const;

private:
    struct Note {
        std::array<uint8_t, 65> key;       //!< as it stands in the script, or 32 bytes
        std::array<uint8_t, 64> signature; //!< r and s, or as it stands
        Hash32 message;
        uint8_t key_size; //!< 0: malformed, so the check is false
        bool schnorr;
    };

    static bool VerifyPlainly(const Note& note);
    static bool MakeJob(const Note& note, lanes::Job& job, lanes::Scalar& s);
    std::vector<lanes::Verdict> VerifyInLanes() const;

    LanesMode m_mode;
    lanes::VerifyFunction m_verifier;
    std::vector<Note> m_notes;
};

} // namespace ibd

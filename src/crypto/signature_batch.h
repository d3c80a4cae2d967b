// SignatureBatch: collects signatures and verifies them together, several at a time in vector lanes
// (crypto/lanes.h) if available, else one after the other by libsecp256k1. The verdicts are those
// of VerifyEcdsa, VerifySchnorr and CheckTaprootTweak (crypto/secp256k1.h); in exceptional cases
// the lanes have none. Not thread-safe: a batch belongs to one thread. Public data only.
#pragma once

#include "crypto/lanes.h"
#include "crypto/secp256k1.h"

#include <vector>

namespace ibd {

/** The way in which a batch is verified (-signaturelanes). */
enum class LanesMode : uint8_t {
    kOff,   //!< by libsecp256k1 alone
    kOn,    //!< in lanes
    kCheck, //!< both; a difference is a bug and aborts the program
};

/** The verifier on this machine in that mode: "avx512ifma", "avx2" or "libsecp256k1"; for kCheck
 *  "avx512ifma, compared with libsecp256k1". */
std::string SignatureVerifierName(LanesMode mode);

/** Self-test: whether `verifier` gives libsecp256k1's verdicts for a hundred signatures, every
 *  second one invalid. Run at start-up to detect a faulty processor; takes ten milliseconds. */
bool LanesAgree(lanes::VerifyFunction verifier = lanes::BestVerifier());

struct LanesChoice {
    LanesMode mode;
    const char* warning = nullptr; //!< why it is not the wanted mode; null: no reason to warn
};
/** The mode to use: `wanted`, or kOff if there is no verifier or it fails the self-test. */
LanesChoice UsableLanes(LanesMode wanted, lanes::VerifyFunction verifier = lanes::BestVerifier());

class SignatureBatch {
public:
    /** `verifier`: null: libsecp256k1. */
    explicit SignatureBatch(LanesMode mode, lanes::VerifyFunction verifier = lanes::BestVerifier());

    /** Notes a check with VerifyEcdsa's arguments. */
    void AddEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);
    /** Notes a check with VerifySchnorr's arguments. */
    void AddSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                    const Hash32& message);
    /** Notes a check with CheckTaprootTweak's arguments. */
    void AddTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                  const Hash32& tweak);

    size_t size() const { return m_notes.size(); }
    void Clear() { m_notes.clear(); }

    /** One verdict for each note, in order; kUnsure where the lanes do not decide. The notes
     *  stay. */
    std::vector<lanes::Verdict> Verify() const;
    /** The same, decided by libsecp256k1 where the lanes are unsure. */
    std::vector<bool> Decide() const;

private:
    enum class Kind : uint8_t { kEcdsa, kSchnorr, kEvenTweak, kOddTweak };
    struct Note {
        std::array<uint8_t, 65> key;       //!< as in the script, or 32 bytes
        std::array<uint8_t, 64> signature; //!< r and s; of BIP340 the signature as given; of a
                                           //!< tweak the output key
        Hash32 message;                    //!< or the tweak
        uint8_t key_size;                  //!< 0: malformed, so the check is false
        Kind kind;
    };

    static bool VerifyPlainly(const Note& note);
    static bool MakeEcdsaJob(const Note& note, lanes::Job& job, lanes::Scalar& s);
    static bool MakeSchnorrJob(const Note& note, lanes::Job& job);
    static bool MakeTweakJob(const Note& note, lanes::Job& job);
    static bool MakeJob(const Note& note, lanes::Job& job, lanes::Scalar& s);
    std::vector<lanes::Verdict> VerifyInLanes() const;

    LanesMode m_mode;
    lanes::VerifyFunction m_verifier;
    std::vector<Note> m_notes;
};

} // namespace ibd

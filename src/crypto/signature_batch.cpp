// See signature_batch.h. Makes of each note the equation that the lanes check:
//   ECDSA    u1 G + u2 Q has x = r mod n, with u1 = message / s and u2 = r / s (SEC 1, 4.1.4)
//   BIP 340  s G - e Q has x = r and even y, with e the tagged hash of r, Q and the message
//   BIP 341  tweak G + Q has the output key's x and the parity of the control block
#include "crypto/signature_batch.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

namespace {

using lanes::Job;
using lanes::Scalar;

template <size_t N>
std::array<uint8_t, N> Part(const uint8_t* from)
{
    std::array<uint8_t, N> out;
    std::copy_n(from, N, out.begin());
    return out;
}

/** The key of an ECDSA check: compressed, full, or hybrid, whose first byte states the parity of y.
 *  Returns whether it has one of these forms. */
bool ReadKey(ByteSpan key, Job& job)
{
    const bool full = key.size() == 65 && (key[0] == 4 || key[0] == 6 || key[0] == 7);
    if (!full && !(key.size() == 33 && (key[0] == 2 || key[0] == 3))) return false;
    job.key_x = Part<32>(&key[1]);
    if (!full) {
        job.form = key[0] == 2 ? lanes::KeyForm::kEvenY : lanes::KeyForm::kOddY;
        return true;
    }
    job.key_y = Part<32>(&key[33]);
    job.form = lanes::KeyForm::kGivenY;
    return key[0] == 4 || (key[64] & 1) == (key[0] & 1);
}

Hash32 SchnorrChallenge(ByteSpan r, ByteSpan key, const Hash32& message)
{
    static const Sha256 begun = TaggedHash("BIP0340/challenge");
    Sha256 hash = begun;
    return hash.Write(r).Write(key).Write(message).Finalize();
}

} // namespace

std::string SignatureVerifierName(LanesMode mode)
{
    if (mode == LanesMode::kOff || lanes::BestVerifier() == nullptr) return "libsecp256k1";
    const std::string name = lanes::IfmaVerifier() != nullptr ? "avx512ifma" : "avx2";
    return mode == LanesMode::kCheck ? name + ", compared with libsecp256k1" : name;
}

bool LanesAgree(lanes::VerifyFunction verifier)
{
    constexpr uint8_t kSignatures = 100;
    const Signer signer;
    SignatureBatch batch(LanesMode::kOn, verifier);
    std::vector<bool> expected;
    for (uint8_t i = 0; i < kSignatures; ++i) {
        const Hash32 secret = Sha256Of(Bytes{i, 1});
        Hash32 message = Sha256Of(Bytes{i, 2});
        const SchnorrSignature schnorr = signer.SignSchnorr(secret, message);
        const Bytes der = signer.SignEcdsa(secret, message);
        if (i % 2 != 0) message[i % message.size()] ^= 1;
        if (i % 5 == 0) {
            const XOnlyKey key = signer.XOnlyPublicKey(secret);
            const auto [output, odd] = *TweakXOnlyKey(key, message);
            batch.AddTweak(output, odd != (i % 2 != 0), key, message);
            expected.push_back(i % 2 == 0);
        } else if (i % 3 == 0) {
            const XOnlyKey key = signer.XOnlyPublicKey(secret);
            batch.AddSchnorr(key, schnorr, message);
            expected.push_back(VerifySchnorr(key, schnorr, message));
        } else {
            const CompressedKey key = signer.PublicKey(secret);
            batch.AddEcdsa(key, der, message);
            expected.push_back(VerifyEcdsa(key, der, message));
        }
    }
    return batch.Decide() == expected;
}

LanesChoice UsableLanes(LanesMode wanted, lanes::VerifyFunction verifier)
{
    if (wanted == LanesMode::kOff) return {LanesMode::kOff};
    if (verifier == nullptr) {
        const bool compares = wanted == LanesMode::kCheck;
        return {LanesMode::kOff,
                compares ? "-signaturelanes=check compares nothing: this processor has neither "
                           "AVX-512 IFMA nor AVX2 with FMA, so libsecp256k1 verifies all signatures"
                         : nullptr};
    }
    if (LanesAgree(verifier)) return {wanted};
    return {LanesMode::kOff, "The vector lanes of this processor computed signatures wrongly, so "
                             "libsecp256k1 verifies all of them (as with -signaturelanes=0). Check "
                             "the machine's memory and processor"};
}

SignatureBatch::SignatureBatch(LanesMode mode, lanes::VerifyFunction verifier)
    : m_mode(mode), m_verifier(mode == LanesMode::kOff ? nullptr : verifier)
{
}

void SignatureBatch::AddEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message)
{
    Note note{};
    note.message = message;
    if (const auto compact = ParseLaxDer(der_signature);
        compact && public_key.size() <= note.key.size()) {
        note.signature = *compact;
        note.key_size = static_cast<uint8_t>(public_key.size());
        std::ranges::copy(public_key, note.key.begin());
    }
    m_notes.push_back(note);
}

void SignatureBatch::AddSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                                const Hash32& message)
{
    Note note{};
    note.message = message;
    note.signature = signature;
    note.kind = Kind::kSchnorr;
    note.key_size = static_cast<uint8_t>(public_key.size());
    std::ranges::copy(public_key, note.key.begin());
    m_notes.push_back(note);
}

void SignatureBatch::AddTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                              const Hash32& tweak)
{
    Note note{};
    note.message = tweak;
    std::ranges::copy(output_key, note.signature.begin());
    note.kind = odd ? Kind::kOddTweak : Kind::kEvenTweak;
    note.key_size = static_cast<uint8_t>(internal_key.size());
    std::ranges::copy(internal_key, note.key.begin());
    m_notes.push_back(note);
}

bool SignatureBatch::VerifyPlainly(const Note& note)
{
    if (note.key_size == 0) return false;
    if (note.kind == Kind::kEcdsa) {
        return VerifyCompactEcdsa(ByteSpan(note.key).first(note.key_size), note.signature,
                                  note.message);
    }
    const XOnlyKey key = Part<32>(note.key.data());
    if (note.kind == Kind::kSchnorr) return VerifySchnorr(key, note.signature, note.message);
    return CheckTaprootTweak(Part<32>(note.signature.data()), note.kind == Kind::kOddTweak, key,
                             note.message);
}

// MakeJob and its parts: false: the check fails without curve arithmetic.

/** All but the division by s. */
bool SignatureBatch::MakeEcdsaJob(const Note& note, Job& job, Scalar& s)
{
    bool r_overflows = false, s_overflows = false;
    const Scalar r = lanes::ScalarFromBytes(note.signature.data(), &r_overflows);
    s = lanes::ScalarFromBytes(note.signature.data() + 32, &s_overflows);
    if (r_overflows || s_overflows || lanes::IsZero(r) || lanes::IsZero(s)) return false;
    job.equation = lanes::Equation::kEcdsa;
    job.r = Part<32>(note.signature.data());
    job.g = lanes::ScalarFromBytes(note.message.data(), nullptr);
    job.q = r;
    return ReadKey(ByteSpan(note.key).first(note.key_size), job);
}

bool SignatureBatch::MakeSchnorrJob(const Note& note, Job& job)
{
    bool overflows = false;
    job.equation = lanes::Equation::kEvenY;
    job.key_x = Part<32>(note.key.data());
    job.r = Part<32>(note.signature.data());
    job.g = lanes::ScalarFromBytes(note.signature.data() + 32, &overflows);
    const Hash32 challenge = SchnorrChallenge(job.r, job.key_x, note.message);
    job.q = lanes::Negate(lanes::ScalarFromBytes(challenge.data(), nullptr));
    return !overflows;
}

bool SignatureBatch::MakeTweakJob(const Note& note, Job& job)
{
    bool overflows = false;
    job.equation = note.kind == Kind::kOddTweak ? lanes::Equation::kOddY : lanes::Equation::kEvenY;
    job.key_x = Part<32>(note.key.data());
    job.r = Part<32>(note.signature.data());
    job.g = lanes::ScalarFromBytes(note.message.data(), &overflows);
    job.q = {{1, 0, 0, 0}};
    return !overflows;
}

bool SignatureBatch::MakeJob(const Note& note, Job& job, Scalar& s)
{
    if (note.kind == Kind::kEcdsa) return MakeEcdsaJob(note, job, s);
    return note.kind == Kind::kSchnorr ? MakeSchnorrJob(note, job) : MakeTweakJob(note, job);
}

std::vector<lanes::Verdict> SignatureBatch::VerifyInLanes() const
{
    std::vector<lanes::Verdict> out(m_notes.size(), lanes::Verdict::kInvalid);
    std::vector<Job> jobs;
    std::vector<size_t> notes;    // of each job
    std::vector<Scalar> inverses; // of the jobs that are ECDSA
    for (size_t i = 0; i < m_notes.size(); ++i) {
        Job job{};
        Scalar s;
        if (m_notes[i].key_size == 0 || !MakeJob(m_notes[i], job, s)) continue;
        if (m_notes[i].kind == Kind::kEcdsa) inverses.push_back(s);
        jobs.push_back(job);
        notes.push_back(i);
    }
    lanes::InvertAll(inverses);
    auto inverse = inverses.begin();
    for (Job& job : jobs) {
        if (job.equation != lanes::Equation::kEcdsa) continue;
        job.g = lanes::Multiply(job.g, *inverse);
        job.q = lanes::Multiply(job.q, *inverse++);
    }
    std::vector<lanes::Verdict> verdicts(jobs.size());
    m_verifier(jobs, verdicts);
    for (size_t i = 0; i < jobs.size(); ++i) out[notes[i]] = verdicts[i];
    return out;
}

std::vector<lanes::Verdict> SignatureBatch::Verify() const
{
    using enum lanes::Verdict;
    const bool in_lanes = m_verifier != nullptr;
    if (in_lanes && m_mode != LanesMode::kCheck) return VerifyInLanes();
    std::vector<lanes::Verdict> out(m_notes.size(), kUnsure);
    if (in_lanes) out = VerifyInLanes();
    for (size_t i = 0; i < m_notes.size(); ++i) {
        const lanes::Verdict decided = VerifyPlainly(m_notes[i]) ? kValid : kInvalid;
        CHECK(!in_lanes || out[i] == kUnsure || out[i] == decided);
        if (!in_lanes) out[i] = decided;
    }
    return out;
}

std::vector<bool> SignatureBatch::Decide() const
{
    const std::vector<lanes::Verdict> verdicts = Verify();
    std::vector<bool> out(verdicts.size());
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = verdicts[i] == lanes::Verdict::kUnsure ? VerifyPlainly(m_notes[i])
                                                        : verdicts[i] == lanes::Verdict::kValid;
    }
    return out;
}

} // namespace ibd

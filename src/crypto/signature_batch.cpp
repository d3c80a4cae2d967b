// See signature_batch.h. Makes of each note the equation that the lanes check:
//   ECDSA    u1 G + u2 Q has x = r mod n, with u1 = message / s and u2 = r / s (SEC 1, 4.1.4)
//   BIP 340  s G - e Q has x = r and even y, with e the tagged hash of r, Q and the message
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

const char* SignatureVerifierName(LanesMode mode)
{
    return mode != LanesMode::kOff && lanes::IfmaVerifier() != nullptr ? "avx512ifma"
                                                                       : "libsecp256k1";
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
        if (i % 3 == 0) {
            const XOnlyKey key = signer.XOnlyPublicKey(secret);
            batch.AddSchnorr(key, schnorr, message);
            expected.push_back(VerifySchnorr(key, schnorr, message));
        } else {
            const CompressedKey key = signer.PublicKey(secret);
            batch.AddEcdsa(key, der, message);
            expected.push_back(VerifyEcdsa(key, der, message));
        }
    }
    return batch.Verify() == expected;
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
    note.schnorr = true;
    note.key_size = static_cast<uint8_t>(public_key.size());
    std::ranges::copy(public_key, note.key.begin());
    m_notes.push_back(note);
}

bool SignatureBatch::VerifyPlainly(const Note& note)
{
    if (note.schnorr) return VerifySchnorr(Part<32>(note.key.data()), note.signature, note.message);
    return VerifyCompactEcdsa(ByteSpan(note.key).first(note.key_size), note.signature,
                              note.message);
}

/** Makes the job, except for the division by s of ECDSA. False: the check fails without curve
 *  arithmetic. */
bool SignatureBatch::MakeJob(const Note& note, Job& job, Scalar& s)
{
    const uint8_t* const r_bytes = note.signature.data();
    bool r_overflows = false, s_overflows = false;
    job.r = Part<32>(r_bytes);
    const Scalar r = lanes::ScalarFromBytes(r_bytes, &r_overflows);
    s = lanes::ScalarFromBytes(r_bytes + 32, &s_overflows);
    if (s_overflows) return false;
    if (note.schnorr) {
        job.equation = lanes::Equation::kSchnorr;
        job.key_x = Part<32>(note.key.data());
        const Hash32 challenge =
            SchnorrChallenge(job.r, ByteSpan(note.key).first(32), note.message);
        job.g = s;
        job.q = lanes::Negate(lanes::ScalarFromBytes(challenge.data(), nullptr));
        return true;
    }
    if (r_overflows || lanes::IsZero(r) || lanes::IsZero(s)) return false;
    job.g = lanes::ScalarFromBytes(note.message.data(), nullptr);
    job.q = r;
    return ReadKey(ByteSpan(note.key).first(note.key_size), job);
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
        if (!m_notes[i].schnorr) inverses.push_back(s);
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

std::vector<bool> SignatureBatch::Verify() const
{
    std::vector<bool> out(m_notes.size());
    const bool in_lanes = m_verifier != nullptr;
    std::vector<lanes::Verdict> verdicts(m_notes.size(), lanes::Verdict::kUnsure);
    if (in_lanes) verdicts = VerifyInLanes();
    for (size_t i = 0; i < m_notes.size(); ++i) {
        const bool decided = verdicts[i] != lanes::Verdict::kUnsure;
        const bool valid = verdicts[i] == lanes::Verdict::kValid;
        if (decided && m_mode != LanesMode::kCheck) {
            out[i] = valid;
            continue;
        }
        out[i] = m_notes[i].key_size != 0 && VerifyPlainly(m_notes[i]);
        CHECK(!decided || out[i] == valid);
    }
    return out;
}

} // namespace ibd

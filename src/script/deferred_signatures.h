// DeferredSignatures: signatures that scripts assumed to be valid while they ran, verified
// afterwards in one batch. While an input runs, each signature to be verified is noted and assumed
// to be good. If all assumptions of the input hold, the run is correct. If one fails, or the run
// failed, the input must run again without deferring, and only that verdict counts. So deferring
// never makes a valid input invalid. One thread. Memory: 200 bytes a note; an input with more than
// kMaxNotesPerInput notes has the rest verified at once.
#pragma once

#include "crypto/signature_batch.h"

#include <cstdint>
#include <vector>

namespace ibd {

class DeferredSignatures {
public:
    static constexpr size_t kMaxNotesPerInput = 4'096;
    /** Limit on pairs of signature and key of a CHECKMULTISIG, for each of its keys. Without
     *  deferring it verifies at most one pair for each key, so this bounds the gain of a hostile
     *  script. */
    static constexpr size_t kMaxPairsPerKey = 4;

    explicit DeferredSignatures(LanesMode mode) : m_batch(mode) {}

    /** Later assumptions belong to the next input. */
    void BeginInput();
    /** Drops the assumptions of the current input: it failed, or is verified another way. */
    void DropInput();

    /** Whether the current input may note another signature. The pairs of a match have their own
     *  bound. */
    bool HasRoom() const { return m_matching || m_batch.size() - m_first_note < kMaxNotesPerInput; }
    void NoteEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);
    void NoteSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                     const Hash32& message);

    /** A CHECKMULTISIG of `signatures` among `keys`, assumed to succeed. Notes up to EndMatch()
     *  belong to it: for each signature i, in order, one note or NoteNothing() for each of the keys
     *  i .. i + keys - signatures. False: too many pairs; the input must run without deferring. */
    bool BeginMatch(size_t signatures, size_t keys);
    /** A pair that fails without curve arithmetic. */
    void NoteNothing();
    void EndMatch();

    size_t Inputs() const { return m_inputs.size(); }
    size_t Notes() const { return m_batch.size(); }

    /** For each input since the last call: whether all its assumptions hold. */
    std::vector<bool> Prove();

private:
    static constexpr uint32_t kNoNote = UINT32_MAX;
    /** A single signature, or the pairs of a CHECKMULTISIG. */
    struct Assumption {
        uint32_t first_pair; //!< in m_pairs
        uint16_t signatures;
        uint16_t keys;
    };

    void Assume(uint32_t note);
    bool Holds(const Assumption& assumed, const std::vector<bool>& verdicts) const;

    SignatureBatch m_batch;
    std::vector<uint32_t> m_pairs; //!< note of each pair, or kNoNote
    std::vector<Assumption> m_assumed;
    std::vector<size_t> m_inputs; //!< start of each input's assumptions
    size_t m_first_note = 0;      //!< of the current input
    bool m_matching = false;
};

} // namespace ibd

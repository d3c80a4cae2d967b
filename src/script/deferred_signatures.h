// DeferredSignatures: what scripts assumed of signatures while they ran, proven afterwards in one
// batch. While an input runs, a signature that would have to be verified is noted and taken for
// good. If every assumption of the input proves true, the run was the real one. If one does not, or
// if the run failed, the input has to run again the plain way, and that verdict alone counts. So
// deferring can never make a valid input invalid. One thread. Memory: 200 bytes a note; an input
// that notes more than kMaxNotesPerInput has the rest verified at once.
#pragma once

#include "crypto/signature_batch.h"

#include <cstdint>
#include <vector>

namespace ibd {

class DeferredSignatures {
public:
    static constexpr size_t kMaxNotesPerInput = 4'096;
    /** Pairs of signature and key of one CHECKMULTISIG for each key. Run plainly, it verifies at
     * most one for each key, so this bounds what a hostile script gains by deferring. */
    static constexpr size_t kMaxPairsPerKey = 4;

    explicit DeferredSignatures(LanesMode mode) : m_batch(mode) {}

    /** From now on assumptions belong to the next input. */
    void BeginInput();
    /** Forgets the assumptions of the input at hand: it failed, or is judged otherwise. */
    void DropInput();

    /** Whether the input at hand may note one more. The pairs of a match are bounded apart. */
    bool HasRoom() const { return m_matching || m_batch.size() - m_first_note < kMaxNotesPerInput; }
    void NoteEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);
    void NoteSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                     const Hash32& message);

    /** CHECKMULTISIG of `signatures` among `keys`, taken for true. What is noted up to EndMatch()
     *  belongs to it: for each signature i, in order, one note or NoteNothing() for each of the
     * keys i .. i + keys - signatures. False: too many pairs; the input has to run plainly. */
    bool BeginMatch(size_t signatures, size_t keys);
    /** A pair that fails without a look at the curve. */
    void NoteNothing();
    void EndMatch();

    size_t Inputs() const { return m_inputs.size(); }
    size_t Notes() const { return m_batch.size(); }

    /** For each input since the last call whether all that it assumed is true. */
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
    std::vector<size_t> m_inputs; //!< where each one's assumptions begin
    size_t m_first_note = 0;      //!< of the input at hand
    bool m_matching = false;
};

} // namespace ibd

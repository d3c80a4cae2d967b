// DeferredSignatures: signatures that scripts assumed to be valid while they ran, verified
// afterwards in one batch. While an input runs, each signature to be verified is noted and assumed
// to be good. If all assumptions of the input hold, the run is correct. If one fails or is not
// decided, or the run failed, the input must run again without deferring, and only that verdict
// counts. So deferring never makes a valid input invalid. One thread. Memory: 200 bytes a note; the
// notes of an input are bounded by their cost.
//
// The cost of an input bounds the work that is lost when an assumption fails. Its unit is a byte
// that is hashed; other work counts as the bytes that could be hashed in the same time. So the cost
// is the same on all machines with the same lanes.
#pragma once

#include "crypto/signature_batch.h"

#include <cstdint>
#include <vector>

namespace ibd {

class DeferredSignatures {
public:
    static constexpr size_t kInputCost = 20'000;
    /** Cost of an operation: the slowest ones hash 520 bytes, in up to two microseconds, and other
     *  operations stand between them. */
    static constexpr size_t kOpCost = 2'000;
    /** Cost of a byte of a script that is run over, searched or copied: each operation may have one
     *  byte, and take four nanoseconds. */
    static constexpr size_t kSearchCost = 8;
    /** Cost of a signature that is verified immediately, with libsecp256k1. */
    static constexpr size_t kPlainCost = 50'000;
    /** Cost of a note, that is, of a signature verified in lanes. */
    static size_t NoteCost() { return lanes::SignaturesInTimeOfOne() < 4 ? 30'000 : 10'000; }
    /** An input that costs more should run without deferring. */
    static constexpr size_t kMaxInputCost = 8'000'000;
    /** A taproot input notes at most this many signatures, and verifies the others immediately. */
    static constexpr size_t kMaxTaprootNotes = 1'024;

    explicit DeferredSignatures(LanesMode mode) : m_batch(mode) {}

    /** Starts the next input. `most_cost`: limit of its cost, applied by Spend() and Defers(). */
    void BeginInput(size_t most_cost = kMaxInputCost);
    /** Drops the assumptions of the current input: it failed, or is verified another way. */
    void DropInput();

    /** Whether signatures are to be noted. False: verify them immediately (VerifyHere). An input
     *  that has reached its limit before its first assumption gets none, so that its work cannot be
     *  lost. */
    bool Defers() const { return !m_here && (m_cost < m_most_cost || AssumedAny()); }
    /** Whether the signatures of a taproot input are to be noted. Its cost does not matter, because
     *  a block with a wrong signature in such an input is invalid. */
    bool DefersTaproot() const { return m_assumed.size() - m_inputs.back() < kMaxTaprootNotes; }
    /** To be called before work of that cost. False: the current input has assumptions and no room
     *  for it; leave it out and let the run fail. */
    bool Spend(size_t cost);
    /** Adds the cost of work that is done. */
    void AddCost(size_t cost) { m_cost += cost; }
    /** Cost of the current input. */
    size_t Cost() const { return m_cost; }
    /** Whether the current input did not fit. */
    bool Overrun() const { return m_overrun; }
    /** Whether the current input has an assumption; if not, its run was an ordinary one. */
    bool AssumedAny() const { return m_assumed.size() > m_inputs.back(); }
    /** Number of signatures in the assumptions of the current input. */
    size_t Signatures() const;
    void NoteEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);
    void NoteSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                     const Hash32& message);

    void NoteTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                   const Hash32& tweak);

    /** Whether deferring a CHECKMULTISIG is cheaper. Deferring notes all possible pairs of
     *  signature and key; verifying immediately checks at least one pair for each signature. */
    static bool WorthNoting(size_t signatures, size_t keys)
    {
        return keys - signatures + 1 <= lanes::SignaturesInTimeOfOne();
    }
    /** While true, signatures are verified immediately. */
    void VerifyHere(bool here) { m_here = here; }
    /** A CHECKMULTISIG of `signatures` among `keys`, assumed to succeed. Notes up to EndMatch()
     *  belong to it: for each signature i, in order, one note or NoteNothing() for each of the keys
     *  i .. i + keys - signatures. */
    void BeginMatch(size_t signatures, size_t keys);
    /** A pair that fails without curve arithmetic. */
    void NoteNothing();
    void EndMatch();

    size_t Inputs() const { return m_inputs.size(); }
    size_t Notes() const { return m_batch.size(); }

    /** Drops all inputs and notes. */
    void Clear();
    /** For each input since the last call: whether all its assumptions are known to hold. Takes the
     *  time to verify all notes in lanes, even if an attacker chose the notes. */
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
    bool Holds(const Assumption& assumed, const std::vector<lanes::Verdict>& verdicts) const;

    SignatureBatch m_batch;
    std::vector<uint32_t> m_pairs; //!< note of each pair, or kNoNote
    std::vector<Assumption> m_assumed;
    std::vector<size_t> m_inputs; //!< start of each input's assumptions
    size_t m_cost = 0;            //!< of the current input
    size_t m_most_cost = 0;       //!< likewise
    bool m_overrun = false;       //!< likewise
    bool m_matching = false;
    bool m_here = false;
};

} // namespace ibd

// See deferred_signatures.h.
#include "script/deferred_signatures.h"

#include "util/check.h"

namespace ibd {

void DeferredSignatures::BeginInput(size_t most_cost)
{
    m_most_cost = most_cost;
    m_inputs.push_back(m_assumed.size());
    m_cost = kInputCost;
    m_overrun = m_matching = m_here = false;
}

/** Its notes stay in the batch unused, because the batch cannot remove them. */
void DeferredSignatures::DropInput()
{
    m_assumed.resize(m_inputs.back());
    m_inputs.pop_back();
    m_matching = false;
}

bool DeferredSignatures::Spend(size_t cost)
{
    if (m_cost + cost > m_most_cost && AssumedAny()) m_overrun = true;
    if (!m_overrun) m_cost += cost;
    return !m_overrun;
}

size_t DeferredSignatures::Signatures() const
{
    size_t count = 0;
    for (size_t a = m_inputs.back(); a < m_assumed.size(); ++a) count += m_assumed[a].signatures;
    return count;
}

void DeferredSignatures::Assume(uint32_t note)
{
    if (note != kNoNote) m_cost += NoteCost();
    if (!m_matching) m_assumed.push_back({static_cast<uint32_t>(m_pairs.size()), 1, 1});
    m_pairs.push_back(note);
}

void DeferredSignatures::NoteEcdsa(ByteSpan public_key, ByteSpan der_signature,
                                   const Hash32& message)
{
    Assume(static_cast<uint32_t>(m_batch.size()));
    m_batch.AddEcdsa(public_key, der_signature, message);
}

void DeferredSignatures::NoteSchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature,
                                     const Hash32& message)
{
    Assume(static_cast<uint32_t>(m_batch.size()));
    m_batch.AddSchnorr(public_key, signature, message);
}

void DeferredSignatures::NoteTweak(const XOnlyKey& output_key, bool odd,
                                   const XOnlyKey& internal_key, const Hash32& tweak)
{
    Assume(static_cast<uint32_t>(m_batch.size()));
    m_batch.AddTweak(output_key, odd, internal_key, tweak);
}

void DeferredSignatures::BeginMatch(size_t signatures, size_t keys)
{
    CHECK(signatures <= keys && WorthNoting(signatures, keys) && !m_matching);
    m_assumed.push_back({static_cast<uint32_t>(m_pairs.size()), static_cast<uint16_t>(signatures),
                         static_cast<uint16_t>(keys)});
    m_matching = true;
}

void DeferredSignatures::NoteNothing() { Assume(kNoNote); }

void DeferredSignatures::EndMatch() { m_matching = false; }

/** Matches keys as CHECKMULTISIG does: each signature gets the next fitting key. A pair that is not
 *  decided counts as not fitting: the order of the rest suffices, or the result is false. */
bool DeferredSignatures::Holds(const Assumption& assumed,
                               const std::vector<lanes::Verdict>& verdicts) const
{
    const size_t spare = assumed.keys - assumed.signatures;
    size_t skipped = 0;
    for (size_t i = 0; i < assumed.signatures; ++i) {
        const auto fits = [&] {
            const uint32_t note = m_pairs[assumed.first_pair + i * (spare + 1) + skipped];
            return note != kNoNote && verdicts[note] == lanes::Verdict::kValid;
        };
        while (skipped <= spare && !fits()) ++skipped;
        if (skipped > spare) return false;
    }
    return true;
}

std::vector<bool> DeferredSignatures::Prove()
{
    CHECK(!m_matching);
    const std::vector<lanes::Verdict> verdicts = m_batch.Verify();
    std::vector<bool> out(m_inputs.size(), true);
    for (size_t i = 0; i < m_inputs.size(); ++i) {
        const size_t end = i + 1 < m_inputs.size() ? m_inputs[i + 1] : m_assumed.size();
        for (size_t a = m_inputs[i]; a < end && out[i]; ++a) {
            out[i] = Holds(m_assumed[a], verdicts);
        }
    }
    Clear();
    return out;
}

void DeferredSignatures::Clear()
{
    m_batch.Clear();
    m_pairs.clear();
    m_assumed.clear();
    m_inputs.clear();
    m_matching = false;
}

} // namespace ibd

// See combine.h.
#include "psbt/combine.h"

#include <algorithm>

namespace ibd {

namespace {

template <typename Map>
void AddAll(Map& to, const Map& from)
{
    to.insert(from.begin(), from.end());
}

template <typename Map>
void AddAllInside(Map& to, const Map& from)
{
    for (const auto& [key, inner] : from) AddAll(to[key], inner);
}

template <typename Container>
void TakeIfEmpty(Container& to, const Container& from)
{
    if (to.empty()) to = from;
}

template <typename Optional>
void TakeIfUnset(Optional& to, const Optional& from)
{
    if (!to) to = from;
}

void Merge(PsbtInput& to, const PsbtInput& from)
{
    TakeIfUnset(to.non_witness_utxo, from.non_witness_utxo);
    TakeIfUnset(to.witness_utxo, from.witness_utxo);
    AddAll(to.partial_signatures, from.partial_signatures);
    TakeIfEmpty(to.redeem_script, from.redeem_script);
    TakeIfEmpty(to.witness_script, from.witness_script);
    AddAll(to.key_origins, from.key_origins);
    AddAll(to.ripemd160_preimages, from.ripemd160_preimages);
    AddAll(to.sha256_preimages, from.sha256_preimages);
    AddAll(to.hash160_preimages, from.hash160_preimages);
    AddAll(to.hash256_preimages, from.hash256_preimages);
    TakeIfEmpty(to.final_script_sig, from.final_script_sig);
    TakeIfEmpty(to.final_witness, from.final_witness);
    TakeIfEmpty(to.taproot_signature, from.taproot_signature);
    AddAll(to.taproot_script_signatures, from.taproot_script_signatures);
    TakeIfUnset(to.taproot.internal_key, from.taproot.internal_key);
    TakeIfUnset(to.taproot.merkle_root, from.taproot.merkle_root);
    // As in Core, the existing entry of a script is kept.
    AddAll(to.taproot.scripts, from.taproot.scripts);
    AddAll(to.taproot_origins, from.taproot_origins);
    AddAll(to.musig_participants, from.musig_participants);
    AddAllInside(to.musig_nonces, from.musig_nonces);
    AddAllInside(to.musig_signatures, from.musig_signatures);
    TakeIfUnset(to.sequence, from.sequence);
    TakeIfUnset(to.time_lock, from.time_lock);
    TakeIfUnset(to.height_lock, from.height_lock);
    AddAll(to.proprietary, from.proprietary);
    AddAll(to.unknown, from.unknown);
}

void Merge(PsbtOutput& to, const PsbtOutput& from)
{
    TakeIfEmpty(to.redeem_script, from.redeem_script);
    TakeIfEmpty(to.witness_script, from.witness_script);
    AddAll(to.key_origins, from.key_origins);
    TakeIfUnset(to.taproot_internal_key, from.taproot_internal_key);
    TakeIfEmpty(to.taproot_leaves, from.taproot_leaves);
    AddAll(to.taproot_origins, from.taproot_origins);
    AddAll(to.musig_participants, from.musig_participants);
    AddAll(to.proprietary, from.proprietary);
    AddAll(to.unknown, from.unknown);
}

/** Inputs and outputs may change only if both Psbts allow it; one signature of type SINGLE suffices
 *  for its flag. */
std::optional<uint8_t> MergeModifiable(const std::optional<uint8_t>& a,
                                       const std::optional<uint8_t>& b)
{
    if (!a && !b) return std::nullopt;
    const uint8_t left = a.value_or(0), right = b.value_or(0);
    constexpr uint8_t kSingle = Psbt::kHasSighashSingle;
    return static_cast<uint8_t>((left & right & ~kSingle) | ((left | right) & kSingle));
}

} // namespace

bool CombinePsbt(Psbt& psbt, const Psbt& other)
{
    const auto id = psbt.UniqueId();
    if (!id || id != other.UniqueId() || psbt.version != other.version) return false;
    for (size_t i = 0; i < psbt.inputs.size(); ++i) Merge(psbt.inputs[i], other.inputs[i]);
    for (size_t i = 0; i < psbt.outputs.size(); ++i) Merge(psbt.outputs[i], other.outputs[i]);
    AddAllInside(psbt.xpubs, other.xpubs);
    TakeIfUnset(psbt.fallback_lock_time, other.fallback_lock_time);
    psbt.modifiable = MergeModifiable(psbt.modifiable, other.modifiable);
    AddAll(psbt.proprietary, other.proprietary);
    AddAll(psbt.unknown, other.unknown);
    return true;
}

std::optional<OutPoint> JoinPsbt(Psbt& psbt, const Psbt& other)
{
    std::set<OutPoint> spent;
    for (const PsbtInput& input : psbt.inputs) spent.insert(input.prevout);
    for (const PsbtInput& input : other.inputs) {
        if (!spent.insert(input.prevout).second) return input.prevout;
    }
    for (const PsbtInput& input : other.inputs) {
        PsbtInput& added = psbt.inputs.emplace_back(input);
        added.partial_signatures.clear();
        added.final_script_sig.clear();
        added.final_witness.clear();
    }
    psbt.outputs.insert(psbt.outputs.end(), other.outputs.begin(), other.outputs.end());
    AddAll(psbt.unknown, other.unknown);
    return std::nullopt;
}

} // namespace ibd

// See spend_data.h.
#include "psbt/spend_data.h"

namespace ibd {

namespace {

std::map<Hash20, KeyWithOrigin> ByHash(const PsbtKeyOrigins& origins)
{
    std::map<Hash20, KeyWithOrigin> out;
    for (const auto& [key, origin] : origins) out.emplace(Hash160(key), KeyWithOrigin{key, origin});
    return out;
}

void TakeOrigins(PsbtKeyOrigins& to, const std::map<Hash20, KeyWithOrigin>& from)
{
    for (const auto& [hash, key] : from) to.insert(key);
}

} // namespace

SpendData SpendDataOf(const PsbtInput& input)
{
    SpendData out;
    if (input.IsFinal()) {
        out.script_sig = input.final_script_sig;
        out.witness = input.final_witness;
        out.complete = true;
        return out;
    }
    out.signatures = input.partial_signatures;
    out.redeem_script = input.redeem_script;
    out.witness_script = input.witness_script;
    out.origins = ByHash(input.key_origins);
    out.taproot = input.taproot;
    out.taproot_signature = input.taproot_signature;
    out.taproot_script_signatures = input.taproot_script_signatures;
    out.taproot_origins = input.taproot_origins;
    out.preimages = {input.ripemd160_preimages, input.sha256_preimages, input.hash160_preimages,
                     input.hash256_preimages};
    return out;
}

SpendData SpendDataOf(const PsbtOutput& output)
{
    SpendData out;
    out.redeem_script = output.redeem_script;
    out.witness_script = output.witness_script;
    out.origins = ByHash(output.key_origins);
    const auto& internal = output.taproot_internal_key;
    if (!output.taproot_leaves.empty() && internal && IsValidXOnlyKey(*internal)) {
        out.taproot.internal_key = internal;
        out.taproot_leaves = output.taproot_leaves;
        // Without control blocks, which may be larger than the whole PSBT; an output is not spent
        // here.
        for (const TapLeaf& leaf : output.taproot_leaves) {
            out.taproot.scripts[{leaf.script, leaf.version}];
        }
    }
    out.taproot_origins = output.taproot_origins;
    return out;
}

void TakeSpendData(PsbtInput& input, const SpendData& data)
{
    if (data.complete) {
        input.partial_signatures.clear();
        input.key_origins.clear();
        input.redeem_script.clear();
        input.witness_script.clear();
        if (!data.script_sig.empty()) input.final_script_sig = data.script_sig;
        if (!data.witness.empty()) input.final_witness = data.witness;
        return;
    }
    input.partial_signatures.insert(data.signatures.begin(), data.signatures.end());
    if (input.redeem_script.empty()) input.redeem_script = data.redeem_script;
    if (input.witness_script.empty()) input.witness_script = data.witness_script;
    TakeOrigins(input.key_origins, data.origins);
    if (!data.taproot_signature.empty()) input.taproot_signature = data.taproot_signature;
    input.taproot_script_signatures.insert(data.taproot_script_signatures.begin(),
                                           data.taproot_script_signatures.end());
    if (data.taproot.internal_key) input.taproot.internal_key = data.taproot.internal_key;
    if (data.taproot.merkle_root) input.taproot.merkle_root = data.taproot.merkle_root;
    input.taproot.scripts.insert(data.taproot.scripts.begin(), data.taproot.scripts.end());
    input.taproot_origins.insert(data.taproot_origins.begin(), data.taproot_origins.end());
}

void TakeSpendData(PsbtOutput& output, const SpendData& data)
{
    if (output.redeem_script.empty()) output.redeem_script = data.redeem_script;
    if (output.witness_script.empty()) output.witness_script = data.witness_script;
    TakeOrigins(output.key_origins, data.origins);
    if (data.taproot.internal_key) output.taproot_internal_key = data.taproot.internal_key;
    // From right to left, which is the same tree: Core also reverses the order each time.
    if (!data.taproot_leaves.empty()) {
        output.taproot_leaves.assign(data.taproot_leaves.rbegin(), data.taproot_leaves.rend());
    }
    output.taproot_origins.insert(data.taproot_origins.begin(), data.taproot_origins.end());
}

} // namespace ibd

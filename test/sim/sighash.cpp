// See sighash.h.
#include "sim/sighash.h"

#include "util/check.h"

namespace ibd::sim {

namespace {

uint32_t BaseType(uint32_t type) { return type & 0x1f; }

void WriteOutPoint(Writer& out, const OutPoint& outpoint)
{
    out.Hash(outpoint.txid);
    out.U32(outpoint.vout);
}

void WriteOutput(Writer& out, const MutableOutput& output)
{
    out.I64(output.value);
    out.VarBytes(output.script_pubkey);
}

/** The concatenation of `write(writer, element)` over a list. */
template <typename List, typename Write>
Bytes Concatenate(const List& list, Write write)
{
    Bytes out;
    Writer writer(out);
    for (const auto& element : list) write(writer, element);
    return out;
}

Bytes AllOutPoints(const MutableTransaction& tx)
{
    return Concatenate(tx.inputs,
                       [](Writer& w, const MutableInput& in) { WriteOutPoint(w, in.prevout); });
}

Bytes AllSequences(const MutableTransaction& tx)
{
    return Concatenate(tx.inputs, [](Writer& w, const MutableInput& in) { w.U32(in.sequence); });
}

Bytes AllOutputs(const MutableTransaction& tx) { return Concatenate(tx.outputs, WriteOutput); }

Bytes OneOutput(const MutableTransaction& tx, size_t i)
{
    Bytes out;
    Writer writer(out);
    WriteOutput(writer, tx.outputs[i]);
    return out;
}

} // namespace

Hash32 LegacySighash(const MutableTransaction& tx, size_t input, ByteSpan code, uint32_t type)
{
    const bool none = BaseType(type) == kSighashNone, single = BaseType(type) == kSighashSingle;
    if (single && input >= tx.outputs.size()) return {1}; // a bug that became a rule
    MutableTransaction copy = tx;
    for (size_t i = 0; i < copy.inputs.size(); ++i) {
        copy.inputs[i].script_sig.clear();
        if (i == input) copy.inputs[i].script_sig.assign(code.begin(), code.end());
        if (i != input && (none || single)) copy.inputs[i].sequence = 0;
    }
    if (none) copy.outputs.clear();
    if (single) {
        copy.outputs.resize(input + 1);
        for (size_t i = 0; i < input; ++i) copy.outputs[i] = {-1, {}};
    }
    if (type & kSighashAnyoneCanPay) copy.inputs = {copy.inputs[input]};
    Bytes preimage = copy.Serialize(false);
    Writer(preimage).U32(type);
    return Sha256d(preimage);
}

Hash32 SegwitV0Sighash(const MutableTransaction& tx, size_t input, ByteSpan code, Amount value,
                       uint32_t type)
{
    const bool all_inputs = !(type & kSighashAnyoneCanPay);
    const bool single = BaseType(type) == kSighashSingle;
    const bool all = !single && BaseType(type) != kSighashNone;
    const Hash32 zero{};
    Hash32 outputs = zero;
    if (all) outputs = Sha256d(AllOutputs(tx));
    if (single && input < tx.outputs.size()) outputs = Sha256d(OneOutput(tx, input));
    Bytes preimage;
    Writer out(preimage);
    out.U32(tx.version);
    out.Raw(all_inputs ? Sha256d(AllOutPoints(tx)) : zero);
    out.Raw(all_inputs && all ? Sha256d(AllSequences(tx)) : zero);
    WriteOutPoint(out, tx.inputs[input].prevout);
    out.VarBytes(code);
    out.I64(value);
    out.U32(tx.inputs[input].sequence);
    out.Raw(outputs);
    out.U32(tx.lock_time);
    out.U32(type);
    return Sha256d(preimage);
}

Hash32 TaprootSighash(const MutableTransaction& tx, size_t input, const std::vector<Prevout>& spent,
                      ByteSpan leaf, uint8_t type)
{
    const bool anyone = type & kSighashAnyoneCanPay;
    const bool single = BaseType(type) == kSighashSingle, none = BaseType(type) == kSighashNone;
    CHECK(spent.size() == tx.inputs.size() && (!single || input < tx.outputs.size()));
    Bytes message{0, type}; // epoch
    Writer out(message);
    out.U32(tx.version);
    out.U32(tx.lock_time);
    if (!anyone) {
        out.Raw(Sha256Of(AllOutPoints(tx)));
        out.Raw(Sha256Of(Concatenate(spent, [](Writer& w, const Prevout& s) { w.I64(s.value); })));
        out.Raw(Sha256Of(
            Concatenate(spent, [](Writer& w, const Prevout& s) { w.VarBytes(s.script_pubkey); })));
        out.Raw(Sha256Of(AllSequences(tx)));
    }
    if (!none && !single) out.Raw(Sha256Of(AllOutputs(tx)));
    out.U8(leaf.empty() ? 0 : 2); // extension 1 for tapscript; no annex
    if (anyone) {
        WriteOutPoint(out, tx.inputs[input].prevout);
        out.I64(spent[input].value);
        out.VarBytes(spent[input].script_pubkey);
        out.U32(tx.inputs[input].sequence);
    } else {
        out.U32(static_cast<uint32_t>(input));
    }
    if (single) out.Raw(Sha256Of(OneOutput(tx, input)));
    if (!leaf.empty()) {
        Bytes leaf_bytes{0xc0};
        Writer(leaf_bytes).VarBytes(leaf);
        out.Raw(TaggedHash("TapLeaf").Write(leaf_bytes).Finalize());
        out.U8(0);           // key version
        out.U32(0xffffffff); // no code separator
    }
    return TaggedHash("TapSighash").Write(message).Finalize();
}

} // namespace ibd::sim

// See sighash.h.
#include "script/sighash.h"

#include "script/script.h"

namespace ibd {

namespace {

constexpr uint8_t kOutputMask = 0x1f; //!< of the original and BIP143 hash types

void WriteOutput(Writer& writer, Amount value, ByteSpan script)
{
    writer.I64(value);
    writer.VarBytes(script);
}

ByteSpan PrevoutBytes(const InputView& input) { return {input.prevout_bytes, 36}; }

/** Where a reader that takes opcode and length first stops at the broken push at `start`. */
size_t EndOfBrokenPush(ByteSpan script, size_t start)
{
    const uint8_t op = script[start];
    const size_t prefix = op < OP_PUSHDATA1 ? 0 : size_t{1} << (op - OP_PUSHDATA1);
    const size_t left = script.size() - start - 1;
    return start + 1 + (left < prefix ? 0 : prefix);
}

/** The script without its OP_CODESEPARATORs, its length first. The data of a broken push counts in
 *  the length but is left out: such a script fails, but with which error can depend on it. */
void WriteScriptCode(Writer& writer, ByteSpan script)
{
    size_t separators = 0;
    ScriptIterator it(script);
    while (it.Next()) separators += it.Op() == OP_CODESEPARATOR ? 1 : 0;
    const size_t end = it.Failed() ? EndOfBrokenPush(script, it.Start()) : script.size();
    writer.CompactSize(script.size() - separators);
    size_t kept = 0;
    for (ScriptIterator walk(script); separators > 0 && walk.Next();) {
        if (walk.Op() != OP_CODESEPARATOR) continue;
        writer.Raw(script.subspan(kept, walk.Start() - kept));
        kept = walk.End();
    }
    if (kept < end) writer.Raw(script.subspan(kept, end - kept));
}

/** Writes the transaction as the original algorithm changes it for one input. */
class LegacyPreimage {
public:
    LegacyPreimage(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type)
        : m_tx(tx), m_input(input), m_script(script_code), m_type(hash_type),
          m_anyone((hash_type & kSigHashAnyoneCanPay) != 0),
          m_single((hash_type & kOutputMask) == kSigHashSingle),
          m_none((hash_type & kOutputMask) == kSigHashNone)
    {
    }

    Bytes Make()
    {
        Bytes out;
        out.reserve(m_tx.stripped_size + m_script.size() + 16);
        Writer writer(out);
        writer.U32(m_tx.version);
        WriteInputs(writer);
        WriteOutputs(writer);
        writer.U32(m_tx.lock_time);
        writer.U32(m_type);
        return out;
    }

private:
    void WriteInputs(Writer& writer)
    {
        if (m_anyone) {
            writer.CompactSize(1);
            WriteInput(writer, m_input);
            return;
        }
        writer.CompactSize(m_tx.inputs.size());
        for (size_t i = 0; i < m_tx.inputs.size(); ++i) WriteInput(writer, i);
    }
    void WriteInput(Writer& writer, size_t i)
    {
        writer.Raw(PrevoutBytes(m_tx.inputs[i]));
        const bool own = i == m_input;
        if (own) {
            WriteScriptCode(writer, m_script);
        } else {
            writer.CompactSize(0);
        }
        const bool free_sequence = !own && (m_single || m_none);
        writer.U32(free_sequence ? 0 : m_tx.inputs[i].sequence);
    }
    void WriteOutputs(Writer& writer)
    {
        const size_t count = m_none ? 0 : m_single ? m_input + 1 : m_tx.outputs.size();
        writer.CompactSize(count);
        for (size_t i = 0; i < count; ++i) {
            if (m_single && i != m_input) {
                WriteOutput(writer, -1, {});
            } else {
                WriteOutput(writer, m_tx.outputs[i].value, m_tx.outputs[i].script_pubkey);
            }
        }
    }
    const TxView& m_tx;
    const size_t m_input;
    const ByteSpan m_script;
    const uint32_t m_type;
    const bool m_anyone;
    const bool m_single;
    const bool m_none;
};

Hash32 HashOutput(const OutputView& output)
{
    Bytes out;
    Writer writer(out);
    WriteOutput(writer, output.value, output.script_pubkey);
    return Sha256Of(out);
}

const Sha256& TapSighashTag()
{
    static const Sha256 tag = TaggedHash("TapSighash");
    return tag;
}

} // namespace

TxHashes::TxHashes(const TxView& tx, std::span<const SpentOutput> spent)
{
    Bytes prevouts_raw, sequences_raw, outputs_raw, amounts_raw, scripts_raw;
    Writer sequence_writer(sequences_raw), output_writer(outputs_raw);
    for (const InputView& input : tx.inputs) {
        Append(prevouts_raw, PrevoutBytes(input));
        sequence_writer.U32(input.sequence);
    }
    for (const OutputView& output : tx.outputs) {
        WriteOutput(output_writer, output.value, output.script_pubkey);
    }
    prevouts = Sha256Of(prevouts_raw);
    sequences = Sha256Of(sequences_raw);
    outputs = Sha256Of(outputs_raw);
    prevouts_twice = Sha256Of(prevouts);
    sequences_twice = Sha256Of(sequences);
    outputs_twice = Sha256Of(outputs);
    if (spent.size() != tx.inputs.size()) return;
    have_spent = true;
    Writer amount_writer(amounts_raw), script_writer(scripts_raw);
    for (const SpentOutput& output : spent) {
        amount_writer.I64(output.value);
        script_writer.VarBytes(output.script_pubkey);
    }
    amounts = Sha256Of(amounts_raw);
    scripts = Sha256Of(scripts_raw);
}

Hash32 LegacySigHash(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type)
{
    // A signature for an output that is not there signs the number one; consensus since the start.
    if ((hash_type & kOutputMask) == kSigHashSingle && input >= tx.outputs.size()) {
        return Hash32{1};
    }
    return Sha256d(LegacyPreimage(tx, input, script_code, hash_type).Make());
}

Hash32 WitnessV0SigHash(const TxView& tx, size_t input, ByteSpan script_code, Amount value,
                        uint32_t hash_type, const TxHashes& hashes)
{
    const bool anyone = (hash_type & kSigHashAnyoneCanPay) != 0;
    const uint32_t kind = hash_type & kOutputMask;
    const bool all = kind != kSigHashSingle && kind != kSigHashNone;
    Bytes out;
    out.reserve(200 + script_code.size());
    Writer writer(out);
    writer.U32(tx.version);
    writer.Raw(anyone ? Hash32{} : hashes.prevouts_twice);
    writer.Raw(!anyone && all ? hashes.sequences_twice : Hash32{});
    writer.Raw(PrevoutBytes(tx.inputs[input]));
    writer.VarBytes(script_code);
    writer.I64(value);
    writer.U32(tx.inputs[input].sequence);
    if (all) {
        writer.Raw(hashes.outputs_twice);
    } else if (kind == kSigHashSingle && input < tx.outputs.size()) {
        writer.Raw(Sha256Of(HashOutput(tx.outputs[input])));
    } else {
        writer.Raw(Hash32{});
    }
    writer.U32(tx.lock_time);
    writer.U32(hash_type);
    return Sha256d(out);
}

std::optional<Hash32> TaprootSigHash(const TxView& tx, size_t input, const SpentOutput& spent,
                                     uint8_t hash_type, const TxHashes& hashes,
                                     const TaprootContext& context)
{
    if (!hashes.have_spent) return std::nullopt;
    if (hash_type > 3 && (hash_type < 0x81 || hash_type > 0x83)) return std::nullopt;
    const bool anyone = (hash_type & kSigHashAnyoneCanPay) != 0;
    const uint8_t kind = hash_type == kSigHashDefault ? kSigHashAll : hash_type & 3;
    if (kind == kSigHashSingle && input >= tx.outputs.size()) return std::nullopt;
    Bytes out;
    out.reserve(256);
    Writer writer(out);
    writer.U8(0); // epoch
    writer.U8(hash_type);
    writer.U32(tx.version);
    writer.U32(tx.lock_time);
    if (!anyone) {
        for (const Hash32* part :
             {&hashes.prevouts, &hashes.amounts, &hashes.scripts, &hashes.sequences}) {
            writer.Raw(*part);
        }
    }
    if (kind == kSigHashAll) writer.Raw(hashes.outputs);
    writer.U8(static_cast<uint8_t>((context.tapscript ? 2 : 0) + (context.annex_hash ? 1 : 0)));
    if (anyone) {
        writer.Raw(PrevoutBytes(tx.inputs[input]));
        WriteOutput(writer, spent.value, spent.script_pubkey);
        writer.U32(tx.inputs[input].sequence);
    } else {
        writer.U32(static_cast<uint32_t>(input));
    }
    if (context.annex_hash) writer.Raw(*context.annex_hash);
    if (kind == kSigHashSingle) writer.Raw(HashOutput(tx.outputs[input]));
    if (context.tapscript) {
        writer.Raw(context.leaf_hash);
        writer.U8(0); // key version
        writer.U32(context.code_separator);
    }
    Sha256 hasher = TapSighashTag();
    return hasher.Write(out).Finalize();
}

} // namespace ibd

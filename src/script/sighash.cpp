// See sighash.h.
#include "script/sighash.h"

#include "script/script.h"
#include "util/check.h"

#include <algorithm>
#include <cstring>

namespace ibd {

namespace {

constexpr uint8_t kOutputMask = 0x1f; //!< of the original and BIP143 hash types

void WriteOutput(Writer& writer, Amount value, ByteSpan script)
{
    writer.I64(value);
    writer.VarBytes(script);
}

ByteSpan PrevoutBytes(const InputView& input) { return {input.prevout_bytes, 36}; }

/** A parser reads the opcode and length of the broken push at `start` and stops at this position.
 */
size_t EndOfBrokenPush(ByteSpan script, size_t start)
{
    const uint8_t op = script[start];
    const size_t prefix = op < OP_PUSHDATA1 ? 0 : size_t{1} << (op - OP_PUSHDATA1);
    const size_t left = script.size() - start - 1;
    return start + 1 + (left < prefix ? 0 : prefix);
}

/** Writes the length, then the script without its OP_CODESEPARATORs. The data of a broken push
 *  counts in the length but is omitted: such a script fails, but its error can depend on the hash.
 */
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

/** The outputs with their count: the bytes after the last input's sequence. */
ByteSpan SerializedOutputs(const TxView& tx)
{
    const TxidPreimage preimage = GetTxidPreimage(tx);
    const bool whole = preimage.parts[1].empty(); // version and lock time are in the same part
    const ByteSpan body =
        whole ? preimage.parts[0].first(preimage.parts[0].size() - 4) : preimage.parts[1];
    const ByteSpan last_script = tx.inputs.back().script_sig;
    const auto start =
        static_cast<size_t>(last_script.data() + last_script.size() + 4 - body.data());
    CHECK(start < body.size());
    return body.subspan(start);
}

/** Hashes the transaction, as the original algorithm modifies it for one input, up to the hash
 *  type. */
class LegacyHash {
public:
    LegacyHash(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type)
        : m_tx(tx), m_input(input), m_script(script_code),
          m_anyone((hash_type & kSigHashAnyoneCanPay) != 0),
          m_single((hash_type & kOutputMask) == kSigHashSingle),
          m_none((hash_type & kOutputMask) == kSigHashNone)
    {
    }

    Sha256 Make()
    {
        m_out.reserve(std::min<size_t>(m_tx.stripped_size, kPiece) + m_script.size() + 64);
        Writer writer(m_out);
        writer.U32(m_tx.version);
        WriteInputs(writer);
        WriteOutputs(writer);
        writer.U32(m_tx.lock_time);
        return m_hasher.Write(m_out);
    }

private:
    static constexpr size_t kPiece = 4096; //!< bytes hashed at once, to stay in the cache

    void HashIfMany()
    {
        if (m_out.size() < kPiece) return;
        m_hasher.Write(m_out);
        m_out.clear();
    }
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
        const InputView& input = m_tx.inputs[i];
        if (i == m_input) {
            writer.Raw(PrevoutBytes(input));
            WriteScriptCode(writer, m_script);
            writer.U32(input.sequence);
        } else {
            uint8_t bytes[36 + 1 + 4]; // one of up to 20,000 such inputs
            std::memcpy(bytes, input.prevout_bytes, 36);
            bytes[36] = 0; // no script
            WriteLE32(bytes + 37, m_single || m_none ? 0 : input.sequence);
            writer.Raw(bytes);
        }
        HashIfMany();
    }
    void WriteOutputs(Writer& writer)
    {
        if (!m_single && !m_none) {
            // Unmodified, as in the transaction.
            m_hasher.Write(m_out).Write(SerializedOutputs(m_tx));
            m_out.clear();
            return;
        }
        writer.CompactSize(m_none ? 0 : m_input + 1);
        if (m_none) return;
        for (size_t i = 0; i < m_input; ++i) {
            WriteOutput(writer, -1, {});
            HashIfMany();
        }
        const OutputView& own = m_tx.outputs[m_input];
        WriteOutput(writer, own.value, own.script_pubkey);
    }

    const TxView& m_tx;
    const size_t m_input;
    const ByteSpan m_script;
    const bool m_anyone;
    const bool m_single;
    const bool m_none;
    Bytes m_out; //!< not hashed yet
    Sha256 m_hasher;
};

/** Writes into a hasher, without assembling the whole message. */
class HashWriter {
public:
    HashWriter() = default;
    explicit HashWriter(const Sha256& begun) : m_hasher(begun) {}

    void U8(uint8_t v) { Raw({&v, 1}); }
    void U32(uint32_t v) { Int(v); }
    void I64(int64_t v) { Int(static_cast<uint64_t>(v)); }
    void Raw(ByteSpan v) { m_hasher.Write(v); }
    void VarBytes(ByteSpan v)
    {
        // CompactSize: a script is shorter than a block.
        if (v.size() < 253) {
            U8(static_cast<uint8_t>(v.size()));
        } else if (v.size() <= 0xffff) {
            U8(253);
            Int(static_cast<uint16_t>(v.size()));
        } else {
            U8(254);
            U32(static_cast<uint32_t>(v.size()));
        }
        Raw(v);
    }
    const Sha256& Hasher() const { return m_hasher; }
    Hash32 Finalize() const { return m_hasher.Finalize(); }

private:
    template <typename T>
    void Int(T v)
    {
        uint8_t bytes[sizeof(T)];
        WriteLE<T>(bytes, v);
        Raw(bytes);
    }
    Sha256 m_hasher;
};

Hash32 HashOutput(const OutputView& output)
{
    HashWriter writer;
    writer.I64(output.value);
    writer.VarBytes(output.script_pubkey);
    return writer.Finalize();
}

Hash32 OwnOutput(const TxView& tx, size_t input, InputHashes* kept)
{
    return kept ? kept->OwnOutput(tx, input) : HashOutput(tx.outputs[input]);
}

/** The index among the six kinds of original and BIP143 hash types. */
size_t KindOf(uint32_t hash_type)
{
    const uint32_t outputs = hash_type & kOutputMask;
    const size_t kind = outputs == kSigHashSingle ? 2 : outputs == kSigHashNone ? 1 : 0;
    return kind + ((hash_type & kSigHashAnyoneCanPay) ? 3 : 0);
}

/** `make()` returns the hasher's state before the hash type; not called if one was kept. */
template <typename Make>
Hash32 HashOnce(InputHashes* kept, SigVersion version, uint32_t hash_type, ByteSpan script_code,
                Make make)
{
    uint8_t type[4];
    WriteLE32(type, hash_type);
    if (const Sha256* known = kept ? kept->Find(version, hash_type, script_code) : nullptr) {
        return Sha256Of(Sha256(*known).Write(type).Finalize());
    }
    Sha256 hasher = make();
    if (kept) kept->Keep(version, hash_type, script_code, hasher);
    return Sha256Of(hasher.Write(type).Finalize());
}

const Sha256& TapSighashTag()
{
    static const Sha256 tag = TaggedHash("TapSighash");
    return tag;
}

} // namespace

bool TxHashes::HaveSpent() const { return m_outputs.size() == m_tx.inputs.size(); }

const TxHashes::Own& TxHashes::OfTx() const
{
    std::call_once(m_own_made, [this] {
        Sha256 prevouts;
        HashWriter sequences, outputs;
        for (const InputView& input : m_tx.inputs) {
            prevouts.Write(PrevoutBytes(input));
            sequences.U32(input.sequence);
        }
        for (const OutputView& out : m_tx.outputs) {
            outputs.I64(out.value);
            outputs.VarBytes(out.script_pubkey);
        }
        m_own.prevouts = prevouts.Finalize();
        m_own.sequences = sequences.Finalize();
        m_own.outputs = outputs.Finalize();
        m_own.prevouts_twice = Sha256Of(m_own.prevouts);
        m_own.sequences_twice = Sha256Of(m_own.sequences);
        m_own.outputs_twice = Sha256Of(m_own.outputs);
    });
    return m_own;
}

const TxHashes::Spent& TxHashes::OfSpent() const
{
    CHECK(HaveSpent());
    std::call_once(m_spent_made, [this] {
        HashWriter amounts, scripts;
        for (const SpentOutput& output : m_outputs) {
            amounts.I64(output.value);
            scripts.VarBytes(output.script_pubkey);
        }
        m_spent.amounts = amounts.Finalize();
        m_spent.scripts = scripts.Finalize();
    });
    return m_spent;
}

const Sha256* InputHashes::Find(SigVersion version, uint32_t hash_type, ByteSpan script_code) const
{
    const std::optional<Entry>& entry = m_entries[KindOf(hash_type)];
    const bool same = entry && entry->version == version &&
                      std::ranges::equal(entry->script_code.Span(), script_code);
    return same ? &entry->hasher : nullptr;
}

void InputHashes::Keep(SigVersion version, uint32_t hash_type, ByteSpan script_code,
                       const Sha256& hasher)
{
    m_entries[KindOf(hash_type)] = Entry{version, ScriptBytes(script_code), hasher};
}

size_t InputHashes::BytesToHash(const TxView& tx, size_t input, SigVersion version,
                                uint32_t hash_type, ByteSpan script_code) const
{
    const bool single = (hash_type & kOutputMask) == kSigHashSingle;
    const size_t bytes = script_code.size();
    if (version == SigVersion::kBase) {
        const bool constant = single && input >= tx.outputs.size();
        const bool kept = constant || Find(version, hash_type, script_code) != nullptr;
        return bytes + (kept ? 0 : tx.stripped_size);
    }
    const bool own = single && input < tx.outputs.size() && !m_own_output;
    return bytes + (own ? tx.outputs[input].script_pubkey.size() : 0);
}

const Hash32& InputHashes::OwnOutput(const TxView& tx, size_t input)
{
    if (!m_own_output) m_own_output = HashOutput(tx.outputs[input]);
    return *m_own_output;
}

Hash32 LegacySigHash(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type,
                     InputHashes* kept)
{
    // SIGHASH_SINGLE without a matching output signs the number one; consensus from the start.
    if ((hash_type & kOutputMask) == kSigHashSingle && input >= tx.outputs.size()) {
        return Hash32{1};
    }
    return HashOnce(kept, SigVersion::kBase, hash_type, script_code,
                    [&] { return LegacyHash(tx, input, script_code, hash_type).Make(); });
}

Hash32 WitnessV0SigHash(const TxView& tx, size_t input, ByteSpan script_code, Amount value,
                        uint32_t hash_type, const TxHashes& hashes, InputHashes* kept)
{
    return HashOnce(kept, SigVersion::kWitnessV0, hash_type, script_code, [&] {
        const bool anyone = (hash_type & kSigHashAnyoneCanPay) != 0;
        const uint32_t kind = hash_type & kOutputMask;
        const bool all = kind != kSigHashSingle && kind != kSigHashNone;
        HashWriter out;
        out.U32(tx.version);
        out.Raw(anyone ? Hash32{} : hashes.OfTx().prevouts_twice);
        out.Raw(!anyone && all ? hashes.OfTx().sequences_twice : Hash32{});
        out.Raw(PrevoutBytes(tx.inputs[input]));
        out.VarBytes(script_code);
        out.I64(value);
        out.U32(tx.inputs[input].sequence);
        if (all) {
            out.Raw(hashes.OfTx().outputs_twice);
        } else if (kind == kSigHashSingle && input < tx.outputs.size()) {
            out.Raw(Sha256Of(OwnOutput(tx, input, kept)));
        } else {
            out.Raw(Hash32{});
        }
        out.U32(tx.lock_time);
        return out.Hasher();
    });
}

std::optional<Hash32> TaprootSigHash(const TxView& tx, size_t input, const SpentOutput& spent,
                                     uint8_t hash_type, const TxHashes& hashes,
                                     const TaprootContext& context, InputHashes* kept)
{
    if (!hashes.HaveSpent()) return std::nullopt;
    if (hash_type > 3 && (hash_type < 0x81 || hash_type > 0x83)) return std::nullopt;
    const bool anyone = (hash_type & kSigHashAnyoneCanPay) != 0;
    const uint8_t kind = hash_type == kSigHashDefault ? kSigHashAll : hash_type & 3;
    if (kind == kSigHashSingle && input >= tx.outputs.size()) return std::nullopt;
    HashWriter writer(TapSighashTag());
    writer.U8(0); // epoch
    writer.U8(hash_type);
    writer.U32(tx.version);
    writer.U32(tx.lock_time);
    if (!anyone) {
        writer.Raw(hashes.OfTx().prevouts);
        writer.Raw(hashes.OfSpent().amounts);
        writer.Raw(hashes.OfSpent().scripts);
        writer.Raw(hashes.OfTx().sequences);
    }
    if (kind == kSigHashAll) writer.Raw(hashes.OfTx().outputs);
    writer.U8(static_cast<uint8_t>((context.tapscript ? 2 : 0) + (context.annex_hash ? 1 : 0)));
    if (anyone) {
        writer.Raw(PrevoutBytes(tx.inputs[input]));
        writer.I64(spent.value);
        writer.VarBytes(spent.script_pubkey);
        writer.U32(tx.inputs[input].sequence);
    } else {
        writer.U32(static_cast<uint32_t>(input));
    }
    if (context.annex_hash) writer.Raw(*context.annex_hash);
    if (kind == kSigHashSingle) writer.Raw(OwnOutput(tx, input, kept));
    if (context.tapscript) {
        writer.Raw(context.leaf_hash);
        writer.U8(0); // key version
        writer.U32(context.code_separator);
    }
    return writer.Hasher().Finalize();
}

} // namespace ibd

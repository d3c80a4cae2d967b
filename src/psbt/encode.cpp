// Writes PSBTs; see codec.h. The order of fields is Core's.
#include "psbt/codec.h"
#include "psbt/field_types.h"

namespace ibd {

namespace {

class Encoder {
public:
    explicit Encoder(uint32_t version) : m_version(version) {}

    void Globals(const Psbt& psbt);
    void Input(const PsbtInput& input);
    void Output(const PsbtOutput& output);
    Bytes Take() { return std::move(m_out); }

private:
    /** A field whose key is its type and `data`. */
    void Field(uint8_t type, ByteSpan data, ByteSpan value)
    {
        m_writer.CompactSize(1 + data.size());
        m_writer.U8(type);
        m_writer.Raw(data);
        m_writer.VarBytes(value);
    }
    void Plain(uint8_t type, ByteSpan value) { Field(type, {}, value); }
    void PlainIfAny(uint8_t type, ByteSpan value)
    {
        if (!value.empty()) Plain(type, value);
    }
    void PlainU32(uint8_t type, const std::optional<uint32_t>& value)
    {
        if (!value) return;
        Bytes bytes;
        Writer(bytes).U32(*value);
        Plain(type, bytes);
    }
    void PlainCount(uint8_t type, size_t count)
    {
        Bytes bytes;
        Writer(bytes).CompactSize(count);
        Plain(type, bytes);
    }
    template <typename Map>
    void ByKey(uint8_t type, const Map& map)
    {
        for (const auto& [key, value] : map) Field(type, key, value);
    }
    void KeyOrigins(uint8_t type, const PsbtKeyOrigins& origins)
    {
        for (const auto& [key, origin] : origins) Field(type, key, OriginBytes(origin));
    }
    void TapOrigins(uint8_t type, const PsbtTapOrigins& origins);
    void Participants(uint8_t type, const MusigParticipants& participants);
    template <typename Value>
    void Shares(uint8_t type, const MusigShares<Value>& shares);
    void Proprietary(const PsbtProprietaries& entries)
    {
        for (const auto& [key, entry] : entries) {
            m_writer.VarBytes(key);
            m_writer.VarBytes(entry.value);
        }
    }
    void UnknownAndEnd(const PsbtUnknown& entries)
    {
        for (const auto& [key, value] : entries) {
            m_writer.VarBytes(key);
            m_writer.VarBytes(value);
        }
        m_writer.U8(0);
    }
    static Bytes OriginBytes(const KeyOrigin& origin)
    {
        Bytes out(origin.fingerprint.begin(), origin.fingerprint.end());
        Writer writer(out);
        for (const uint32_t step : origin.path) writer.U32(step);
        return out;
    }
    void Unfinished(const PsbtInput& input);
    void Taproot(const PsbtInput& input);

    const uint32_t m_version;
    Bytes m_out;
    Writer m_writer{m_out};
};

void Encoder::TapOrigins(uint8_t type, const PsbtTapOrigins& origins)
{
    for (const auto& [key, from] : origins) {
        Bytes value;
        Writer writer(value);
        writer.CompactSize(from.first.size());
        for (const Hash32& leaf : from.first) writer.Raw(leaf);
        writer.Raw(OriginBytes(from.second));
        Field(type, key, value);
    }
}

void Encoder::Participants(uint8_t type, const MusigParticipants& participants)
{
    for (const auto& [aggregate, keys] : participants) {
        Bytes value;
        for (const CompressedKey& key : keys) Append(value, key);
        Field(type, aggregate, value);
    }
}

template <typename Value>
void Encoder::Shares(uint8_t type, const MusigShares<Value>& shares)
{
    for (const auto& [of, values] : shares) {
        for (const auto& [participant, value] : values) {
            Bytes key(participant.begin(), participant.end());
            Append(key, of.first);
            if (of.second) Append(key, *of.second);
            Field(type, key, value);
        }
    }
}

void Encoder::Globals(const Psbt& psbt)
{
    m_writer.Raw(kPsbtMagic);
    if (m_version < kPsbtVersion2) {
        Plain(psbt_global::kUnsignedTx, psbt.UnsignedTx().value().Serialize(false));
    }
    for (const auto& [origin, xpubs] : psbt.xpubs) {
        for (const SerializedXpub& xpub : xpubs) {
            Field(psbt_global::kXpub, xpub, OriginBytes(origin));
        }
    }
    if (m_version >= kPsbtVersion2) {
        PlainU32(psbt_global::kTxVersion, psbt.tx_version);
        PlainU32(psbt_global::kFallbackLockTime, psbt.fallback_lock_time);
        PlainCount(psbt_global::kInputCount, psbt.inputs.size());
        PlainCount(psbt_global::kOutputCount, psbt.outputs.size());
        if (psbt.modifiable) Plain(psbt_global::kModifiable, {{*psbt.modifiable}});
        PlainU32(psbt_global::kVersion, m_version);
    }
    Proprietary(psbt.proprietary);
    UnknownAndEnd(psbt.unknown);
}

void Encoder::Taproot(const PsbtInput& input)
{
    PlainIfAny(psbt_in::kTaprootSignature, input.taproot_signature);
    for (const auto& [whose, signature] : input.taproot_script_signatures) {
        Bytes key(whose.first.begin(), whose.first.end());
        Append(key, whose.second);
        Field(psbt_in::kTaprootScriptSignature, key, signature);
    }
    for (const auto& [leaf, controls] : input.taproot.scripts) {
        Bytes value = leaf.first;
        value.push_back(leaf.second);
        for (const Bytes& control : controls) Field(psbt_in::kTaprootLeaf, control, value);
    }
    TapOrigins(psbt_in::kTaprootOrigin, input.taproot_origins);
    if (const auto& key = input.taproot.internal_key) Plain(psbt_in::kTaprootInternalKey, *key);
    if (const auto& root = input.taproot.merkle_root) Plain(psbt_in::kTaprootRoot, *root);
}

/** Writes the fields that only an unfinished input needs. */
void Encoder::Unfinished(const PsbtInput& input)
{
    for (const auto& [hash, signature] : input.partial_signatures) {
        Field(psbt_in::kPartialSignature, signature.first, signature.second);
    }
    if (input.sighash_type) {
        PlainU32(psbt_in::kSighashType, static_cast<uint32_t>(*input.sighash_type));
    }
    PlainIfAny(psbt_in::kRedeemScript, input.redeem_script);
    PlainIfAny(psbt_in::kWitnessScript, input.witness_script);
    KeyOrigins(psbt_in::kKeyOrigin, input.key_origins);
    ByKey(psbt_in::kRipemd160, input.ripemd160_preimages);
    ByKey(psbt_in::kSha256, input.sha256_preimages);
    ByKey(psbt_in::kHash160, input.hash160_preimages);
    ByKey(psbt_in::kHash256, input.hash256_preimages);
    Taproot(input);
    Participants(psbt_in::kMusigParticipants, input.musig_participants);
    Shares(psbt_in::kMusigNonce, input.musig_nonces);
    Shares(psbt_in::kMusigSignature, input.musig_signatures);
}

void Encoder::Input(const PsbtInput& input)
{
    if (input.non_witness_utxo) {
        const auto tx = MutableTransaction::FromView(input.non_witness_utxo->View());
        Plain(psbt_in::kNonWitnessUtxo, tx.Serialize(false));
    }
    if (input.witness_utxo) {
        Bytes value;
        Writer writer(value);
        writer.I64(input.witness_utxo->value);
        writer.VarBytes(input.witness_utxo->script_pubkey);
        Plain(psbt_in::kWitnessUtxo, value);
    }
    if (!input.IsFinal()) Unfinished(input);
    PlainIfAny(psbt_in::kFinalScriptSig, input.final_script_sig);
    if (!input.final_witness.empty()) {
        Bytes value;
        Writer writer(value);
        writer.CompactSize(input.final_witness.size());
        for (const Bytes& item : input.final_witness) writer.VarBytes(item);
        Plain(psbt_in::kFinalWitness, value);
    }
    if (m_version >= kPsbtVersion2) {
        Plain(psbt_in::kPreviousTxid, input.prevout.txid.Span());
        PlainU32(psbt_in::kOutputIndex, input.prevout.vout);
        PlainU32(psbt_in::kSequence, input.sequence);
        PlainU32(psbt_in::kTimeLock, input.time_lock);
        PlainU32(psbt_in::kHeightLock, input.height_lock);
    }
    Proprietary(input.proprietary);
    UnknownAndEnd(input.unknown);
}

void Encoder::Output(const PsbtOutput& output)
{
    PlainIfAny(psbt_out::kRedeemScript, output.redeem_script);
    PlainIfAny(psbt_out::kWitnessScript, output.witness_script);
    KeyOrigins(psbt_out::kKeyOrigin, output.key_origins);
    if (m_version >= kPsbtVersion2) {
        Bytes amount;
        Writer(amount).I64(output.output.value);
        Plain(psbt_out::kAmount, amount);
        Plain(psbt_out::kScript, output.output.script_pubkey);
    }
    Proprietary(output.proprietary);
    if (const auto& key = output.taproot_internal_key) Plain(psbt_out::kTaprootInternalKey, *key);
    Bytes tree;
    Writer writer(tree);
    for (const TapLeaf& leaf : output.taproot_leaves) {
        writer.U8(leaf.depth);
        writer.U8(leaf.version);
        writer.VarBytes(leaf.script);
    }
    PlainIfAny(psbt_out::kTaprootTree, tree);
    TapOrigins(psbt_out::kTaprootOrigin, output.taproot_origins);
    Participants(psbt_out::kMusigParticipants, output.musig_participants);
    UnknownAndEnd(output.unknown);
}

} // namespace

Bytes EncodePsbt(const Psbt& psbt)
{
    Encoder encoder(psbt.version);
    encoder.Globals(psbt);
    for (const PsbtInput& input : psbt.inputs) encoder.Input(input);
    for (const PsbtOutput& output : psbt.outputs) encoder.Output(output);
    return encoder.Take();
}

} // namespace ibd

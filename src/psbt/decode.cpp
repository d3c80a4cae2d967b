// Reads a PSBT: the global map here, the maps of inputs and outputs in their own files. See
// codec.h.
#include "psbt/codec.h"
#include "psbt/field_reader.h"
#include "psbt/field_types.h"

#include <algorithm>

namespace ibd {

namespace {

class Decoder {
public:
    explicit Decoder(ByteSpan bytes) : m_in(bytes) {}

    Result<Psbt> Decode()
    {
        if (m_in.Array<kPsbtMagic.size()>() != kPsbtMagic) m_in.Fail("Invalid PSBT magic bytes");
        if (m_in.Ok()) {
            m_out.version = 0;
            ReadPsbtMap(m_in, "global", "the global map",
                        [this](const PsbtKey& key) { Global(key); });
            CheckVersion();
            Inputs();
            Outputs();
        }
        // The suffix is that of the exception which carries Core's words.
        if (!m_in.Ok()) return BadData("{}: iostream error", m_in.Error());
        if (m_in.Remaining() > 0) return BadData("extra data after PSBT");
        return std::move(m_out);
    }

private:
    void Global(const PsbtKey& key);
    void UnsignedTx();
    void Xpub(const PsbtKey& key);
    bool Version2(const PsbtKey& key);
    void CheckVersion();
    void Inputs();
    void CheckSpentTx(const PsbtInput& input);
    void Outputs();
    uint64_t Count()
    {
        uint64_t count = 0;
        m_in.Value([&] { count = m_in.CompactSize(); });
        return count;
    }

    PsbtReader m_in;
    Psbt m_out;
    TransactionRef m_tx; //!< of version 0
    bool m_has_tx_version = false;
    bool m_has_lock_time = false;
    std::optional<uint64_t> m_input_count; //!< as stated in version 2
    std::optional<uint64_t> m_output_count;
};

void Decoder::UnsignedTx()
{
    m_in.Value([this] { m_tx = m_in.Tx(/*allow_witness=*/false); });
    if (!m_in.Ok()) return;
    const TxView& tx = m_tx->View();
    if (std::any_of(tx.inputs.begin(), tx.inputs.end(),
                    [](const InputView& input) { return !input.script_sig.empty(); })) {
        return m_in.Fail("Unsigned tx does not have empty scriptSigs and scriptWitnesses.");
    }
    m_out.tx_version = tx.version;
    m_out.fallback_lock_time = tx.lock_time;
}

void Decoder::Xpub(const PsbtKey& key)
{
    constexpr size_t kSize = std::tuple_size_v<SerializedXpub>;
    if (!m_in.KeyHasSize(key, kSize + 1, "Global XPUB")) return;
    const auto xpub = PsbtReader(key.Data()).Array<kSize>();
    if (!ParseExtendedPublicKey(xpub)) return m_in.Fail("Invalid pubkey");
    m_out.xpubs[ReadOrigin(m_in, m_in.CompactSize())].insert(xpub);
}

bool Decoder::Version2(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_global::kTxVersion:
        if (!m_in.IsPlain(key, "Global Transaction Version")) break;
        m_in.Value([this] { m_out.tx_version = m_in.U32(); });
        m_has_tx_version = true;
        break;
    case psbt_global::kFallbackLockTime:
        if (!m_in.IsPlain(key, "Global Fallback Locktime")) break;
        m_in.Value([this] { m_out.fallback_lock_time = m_in.U32(); });
        m_has_lock_time = true;
        break;
    case psbt_global::kInputCount:
        if (m_in.IsPlain(key, "Global Input Count")) m_input_count = Count();
        break;
    case psbt_global::kOutputCount:
        if (m_in.IsPlain(key, "Global Output Count")) m_output_count = Count();
        break;
    case psbt_global::kModifiable:
        if (!m_in.IsPlain(key, "Global TX Modifiable Flags")) break;
        m_in.Value([this] { m_out.modifiable = m_in.U8(); });
        break;
    default: return false;
    }
    return true;
}

void Decoder::Global(const PsbtKey& key)
{
    if (Version2(key)) return;
    switch (key.type) {
    case psbt_global::kUnsignedTx:
        if (m_in.IsPlain(key, "Global Unsigned TX")) UnsignedTx();
        break;
    case psbt_global::kXpub: Xpub(key); break;
    case psbt_global::kVersion:
        if (!m_in.IsPlain(key, "Global PSBT Version")) break;
        m_in.Value([this] { m_out.version = m_in.U32(); });
        if (m_in.Ok() && m_out.version > kPsbtVersion2) m_in.Fail("Unsupported version number");
        break;
    case kPsbtProprietary: ReadProprietary(m_in, key, m_out.proprietary); break;
    default: m_out.unknown.emplace(key.bytes, m_in.VarBytes()); break;
    }
}

/** Each version requires some fields and forbids others. */
void Decoder::CheckVersion()
{
    struct Rule {
        bool present;
        const char* field;
        bool required = true; //!< in version 2
    };
    const Rule rules[] = {
        {m_has_tx_version, "PSBT_GLOBAL_TX_VERSION"},
        {m_has_lock_time, "PSBT_GLOBAL_FALLBACK_LOCKTIME", false},
        {m_input_count.has_value(), "PSBT_GLOBAL_INPUT_COUNT"},
        {m_output_count.has_value(), "PSBT_GLOBAL_OUTPUT_COUNT"},
        {m_out.modifiable.has_value(), "PSBT_GLOBAL_TX_MODIFIABLE", false},
    };
    if (m_out.version == 0) {
        if (!m_tx) m_in.Fail("No unsigned transaction was provided");
        for (const Rule& rule : rules) {
            if (rule.present) m_in.Fail(fmt::format("{} is not allowed in PSBTv0", rule.field));
        }
    } else if (m_out.version == kPsbtVersion2) {
        for (const Rule& rule : rules) {
            if (rule.present || !rule.required) continue;
            m_in.Fail(fmt::format("{} is required in PSBTv2", rule.field));
        }
        if (m_tx) m_in.Fail("PSBT_GLOBAL_UNSIGNED_TX is not allowed in PSBTv2");
    } else {
        m_in.Fail("There is no PSBT version 1");
    }
}

/** A whole previous transaction must be the spent one. */
void Decoder::CheckSpentTx(const PsbtInput& input)
{
    if (!m_in.Ok() || !input.non_witness_utxo) return;
    const TxView& tx = input.non_witness_utxo->View();
    if (tx.txid != input.prevout.txid) m_in.Fail("Non-witness UTXO does not match outpoint hash");
    if (input.prevout.vout >= tx.outputs.size()) {
        m_in.Fail("Input specifies output index that does not exist");
    }
}

void Decoder::Inputs()
{
    const uint64_t count = m_tx ? m_tx->View().inputs.size() : m_input_count.value_or(0);
    while (m_in.Ok() && m_in.Remaining() > 0 && m_out.inputs.size() < count) {
        PsbtInput& input = m_out.inputs.emplace_back();
        if (m_tx) {
            const InputView& from = m_tx->View().inputs[m_out.inputs.size() - 1];
            input.prevout = from.Prevout();
            input.sequence = from.sequence;
        }
        ReadPsbtInput(m_in, m_out.version, input);
        CheckSpentTx(input);
    }
    if (m_in.Ok() && m_out.inputs.size() != count) {
        m_in.Fail("Inputs provided does not match the number of inputs in transaction.");
    }
}

void Decoder::Outputs()
{
    const uint64_t count = m_tx ? m_tx->View().outputs.size() : m_output_count.value_or(0);
    while (m_in.Ok() && m_in.Remaining() > 0 && m_out.outputs.size() < count) {
        PsbtOutput& output = m_out.outputs.emplace_back();
        if (m_tx) {
            const OutputView& from = m_tx->View().outputs[m_out.outputs.size() - 1];
            output.output.value = from.value;
            output.output.script_pubkey.assign(from.script_pubkey.begin(),
                                               from.script_pubkey.end());
        }
        ReadPsbtOutput(m_in, m_out.version, output);
    }
    if (m_in.Ok() && m_out.outputs.size() != count) {
        m_in.Fail("Outputs provided does not match the number of outputs in transaction.");
    }
}

} // namespace

Result<Psbt> DecodePsbt(ByteSpan bytes) { return Decoder(bytes).Decode(); }

} // namespace ibd

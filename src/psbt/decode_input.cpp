// Reads the map of an input; see codec.h.
#include "psbt/field_reader.h"
#include "psbt/field_types.h"
#include "script/signature_encoding.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint32_t kLockTimeThreshold = 500'000'000; //!< below: a height; else a time
constexpr size_t kSchnorrSize = std::tuple_size_v<SchnorrSignature>;
constexpr size_t kControlBlockKeySize = 34; //!< type and a control block without a path
constexpr size_t kMusigKeySize = 67;        //!< type, participant and aggregate key
constexpr size_t kMusigLeafKeySize = kMusigKeySize + 32;

/** Takes the fields of one input. Each function returns whether the field belongs to its group. */
class InputMap {
public:
    InputMap(PsbtReader& in, uint32_t version, PsbtInput& out)
        : m_in(in), m_version(version), m_out(out)
    {
    }

    void Read()
    {
        ReadPsbtMap(m_in, "input", "an input map", [this](const PsbtKey& key) {
            if (Outputs(key) || Scripts(key) || Preimages(key) || Version2(key) || Taproot(key) ||
                Musig(key)) {
                return;
            }
            if (key.type == kPsbtProprietary) {
                ReadProprietary(m_in, key, m_out.proprietary);
            } else {
                m_out.unknown.emplace(key.bytes, m_in.VarBytes());
            }
        });
        if (m_version < kPsbtVersion2) return;
        if (!m_has_txid) m_in.Fail("Previous TXID is required in PSBTv2");
        if (!m_has_index) m_in.Fail("Previous output's index is required in PSBTv2");
    }

private:
    bool Outputs(const PsbtKey& key);
    bool Scripts(const PsbtKey& key);
    bool Preimages(const PsbtKey& key);
    bool Version2(const PsbtKey& key);
    bool Taproot(const PsbtKey& key);
    bool Musig(const PsbtKey& key);

    void ReadOutput();
    void ReadPartialSignature(const PsbtKey& key);
    void ReadWitness();
    void ReadTaprootLeaf(const PsbtKey& key);
    void ReadTaprootScriptSignature(const PsbtKey& key);
    void CheckSchnorrSize(const Bytes& signature, std::string_view path);
    void ReadTimeLock();
    void ReadHeightLock();
    std::optional<std::pair<MusigKey, CompressedKey>> ReadMusigKey(const PsbtKey& key,
                                                                   std::string_view name);

    template <size_t N>
    void ReadPreimage(const PsbtKey& key, const char* name,
                      std::map<std::array<uint8_t, N>, Bytes>& out)
    {
        if (!m_in.KeyHasSize(key, N + 1, fmt::format("Input {} Preimage", name))) return;
        out.emplace(PsbtReader(key.Data()).Array<N>(), m_in.VarBytes());
    }
    uint32_t ReadU32()
    {
        uint32_t out = 0;
        m_in.Value([&] { out = m_in.U32(); });
        return out;
    }

    PsbtReader& m_in;
    const uint32_t m_version;
    PsbtInput& m_out;
    bool m_has_txid = false;
    bool m_has_index = false;
};

void InputMap::ReadOutput()
{
    MutableOutput output;
    m_in.Value([&] {
        output.value = m_in.I64();
        output.script_pubkey = m_in.VarBytes();
    });
    if (output.value != -1) m_out.witness_utxo = std::move(output); // -1: none, as in Core
}

bool InputMap::Outputs(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_in::kNonWitnessUtxo:
        if (!m_in.IsPlain(key, "Input Non-witness UTXO")) break;
        m_in.Value([&] { m_out.non_witness_utxo = m_in.Tx(/*allow_witness=*/true); });
        break;
    case psbt_in::kWitnessUtxo:
        if (m_in.IsPlain(key, "Input Witness UTXO")) ReadOutput();
        break;
    default: return false;
    }
    return true;
}

void InputMap::ReadPartialSignature(const PsbtKey& key)
{
    const ByteSpan public_key = key.Data();
    if (public_key.size() != std::tuple_size_v<CompressedKey> &&
        public_key.size() != std::tuple_size_v<UncompressedKey>) {
        return m_in.Fail("Size of key was not the expected size for the type partial signature "
                         "pubkey");
    }
    if (!IsValidPublicKey(public_key)) return m_in.Fail("Invalid pubkey");
    Bytes signature = m_in.VarBytes();
    if (signature.empty() ||
        CheckSignatureEncoding(signature, kVerifyDerSig | kVerifyStrictEnc) != ScriptError::kOk) {
        return m_in.Fail("Signature is not a valid encoding");
    }
    m_out.partial_signatures.emplace(
        Hash160(public_key),
        std::pair(Bytes(public_key.begin(), public_key.end()), std::move(signature)));
}

void InputMap::ReadWitness()
{
    m_in.Value([&] {
        for (uint64_t left = m_in.CompactSize(); left > 0 && m_in.Ok(); --left) {
            m_out.final_witness.push_back(m_in.VarBytes());
        }
    });
}

bool InputMap::Scripts(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_in::kPartialSignature: ReadPartialSignature(key); break;
    case psbt_in::kSighashType:
        if (m_in.IsPlain(key, "Input Sighash Type")) {
            m_out.sighash_type = static_cast<int32_t>(ReadU32());
        }
        break;
    case psbt_in::kRedeemScript:
        if (m_in.IsPlain(key, "Input redeemScript")) m_out.redeem_script = m_in.VarBytes();
        break;
    case psbt_in::kWitnessScript:
        if (m_in.IsPlain(key, "Input witnessScript")) m_out.witness_script = m_in.VarBytes();
        break;
    case psbt_in::kKeyOrigin: ReadKeyOrigin(m_in, key, m_out.key_origins); break;
    case psbt_in::kFinalScriptSig:
        if (m_in.IsPlain(key, "Input Final scriptSig")) m_out.final_script_sig = m_in.VarBytes();
        break;
    case psbt_in::kFinalWitness:
        if (m_in.IsPlain(key, "Input Final scriptWitness")) ReadWitness();
        break;
    default: return false;
    }
    return true;
}

bool InputMap::Preimages(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_in::kRipemd160: ReadPreimage(key, "RIPEMD160", m_out.ripemd160_preimages); break;
    case psbt_in::kSha256: ReadPreimage(key, "SHA256", m_out.sha256_preimages); break;
    case psbt_in::kHash160: ReadPreimage(key, "Hash160", m_out.hash160_preimages); break;
    case psbt_in::kHash256: ReadPreimage(key, "Hash256", m_out.hash256_preimages); break;
    default: return false;
    }
    return true;
}

void InputMap::ReadTimeLock()
{
    m_out.time_lock = ReadU32();
    if (m_in.Ok() && *m_out.time_lock < kLockTimeThreshold) {
        m_in.Fail("Required time based locktime is invalid (less than 500000000)");
    }
}

void InputMap::ReadHeightLock()
{
    m_out.height_lock = ReadU32();
    if (!m_in.Ok()) return;
    if (*m_out.height_lock >= kLockTimeThreshold) {
        m_in.Fail("Required height based locktime is invalid (greater than or equal to 500000000)");
    }
    if (*m_out.height_lock == 0) m_in.Fail("Required height based locktime is invalid (0)");
}

bool InputMap::Version2(const PsbtKey& key)
{
    struct Field {
        uint8_t type;
        const char* name;      //!< for errors about the key's size
        const char* forbidden; //!< in version 0
    };
    static constexpr Field kFields[] = {
        {psbt_in::kPreviousTxid, "Previous TXID", "Previous txid"},
        {psbt_in::kOutputIndex, "Previous Output's Index", "Previous output's index"},
        {psbt_in::kSequence, "Sequence", "Sequence"},
        {psbt_in::kTimeLock, "Required Time Based Locktime", "Required time based locktime"},
        {psbt_in::kHeightLock, "Required Height Based Locktime", "Required height based locktime"},
    };
    const auto field = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&](const Field& one) { return one.type == key.type; });
    if (field == std::end(kFields)) return false;
    if (!m_in.IsPlain(key, fmt::format("Input {}", field->name))) return true;
    if (m_version < kPsbtVersion2) {
        m_in.Fail(fmt::format("{} is not allowed in PSBTv0", field->forbidden));
        return true;
    }
    switch (key.type) {
    case psbt_in::kPreviousTxid:
        m_in.Value([&] { m_out.prevout.txid = Txid(m_in.Array<32>()); });
        m_has_txid = true;
        break;
    case psbt_in::kOutputIndex:
        m_out.prevout.vout = ReadU32();
        m_has_index = true;
        break;
    case psbt_in::kSequence: m_out.sequence = ReadU32(); break;
    case psbt_in::kTimeLock: ReadTimeLock(); break;
    default: ReadHeightLock(); break;
    }
    return true;
}

void InputMap::CheckSchnorrSize(const Bytes& signature, std::string_view path)
{
    if (!m_in.Ok()) return;
    if (signature.size() < kSchnorrSize) {
        m_in.Fail(fmt::format("Input Taproot {} path signature is shorter than 64 bytes", path));
    }
    if (signature.size() > kSchnorrSize + 1) {
        m_in.Fail(fmt::format("Input Taproot {} path signature is longer than 65 bytes", path));
    }
}

void InputMap::ReadTaprootScriptSignature(const PsbtKey& key)
{
    if (!m_in.KeyHasSize(key, 65, "Input Taproot Script Path Signature")) return;
    PsbtReader data(key.Data());
    const XOnlyKey public_key = data.Array<32>();
    const Hash32 leaf = data.Array<32>();
    Bytes signature = m_in.VarBytes();
    CheckSchnorrSize(signature, "script");
    m_out.taproot_script_signatures.emplace(TapScriptKey{public_key, leaf}, std::move(signature));
}

void InputMap::ReadTaprootLeaf(const PsbtKey& key)
{
    if (key.bytes.size() < kControlBlockKeySize) {
        return m_in.Fail("Input Taproot leaf script key is not at least 34 bytes");
    }
    if ((key.bytes.size() - kControlBlockKeySize) % 32 != 0) {
        return m_in.Fail("Input Taproot leaf script key's control block size is not valid");
    }
    Bytes script = m_in.VarBytes();
    if (script.empty()) {
        return m_in.Fail("Input Taproot leaf script must be at least 1 byte");
    }
    const uint8_t version = script.back();
    script.pop_back();
    const ByteSpan control = key.Data();
    m_out.taproot.scripts[{std::move(script), version}].emplace(control.begin(), control.end());
}

bool InputMap::Taproot(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_in::kTaprootSignature:
        if (!m_in.IsPlain(key, "Input Taproot Key Path Signature")) break;
        m_out.taproot_signature = m_in.VarBytes();
        CheckSchnorrSize(m_out.taproot_signature, "key");
        break;
    case psbt_in::kTaprootScriptSignature: ReadTaprootScriptSignature(key); break;
    case psbt_in::kTaprootLeaf: ReadTaprootLeaf(key); break;
    case psbt_in::kTaprootOrigin: ReadTapOrigin(m_in, key, "Input", m_out.taproot_origins); break;
    case psbt_in::kTaprootInternalKey:
        if (!m_in.IsPlain(key, "Input Taproot Internal Key")) break;
        m_out.taproot.internal_key = ReadHash(m_in);
        break;
    case psbt_in::kTaprootRoot:
        if (!m_in.IsPlain(key, "Input Taproot Merkle Root")) break;
        m_out.taproot.merkle_root = ReadHash(m_in);
        break;
    default: return false;
    }
    return true;
}

/** Reads the aggregate key with its leaf, and the participant. */
std::optional<std::pair<MusigKey, CompressedKey>> InputMap::ReadMusigKey(const PsbtKey& key,
                                                                         std::string_view name)
{
    if (key.bytes.size() != kMusigKeySize && key.bytes.size() != kMusigLeafKeySize) {
        m_in.Fail(fmt::format("Input musig2 {} key is not expected size of 67 or 99 bytes", name));
        return std::nullopt;
    }
    // Core reads both keys before it checks them, the aggregate key first.
    const ByteSpan bytes = key.Data();
    constexpr size_t kKeySize = std::tuple_size_v<CompressedKey>;
    PsbtReader aggregate(bytes.subspan(kKeySize));
    PsbtReader participant(bytes);
    std::pair<MusigKey, CompressedKey> out;
    out.first.first = aggregate.PublicKey("musig2 aggregate pubkey");
    out.second = participant.PublicKey("musig2 participant pubkey");
    for (const PsbtReader* part : {&aggregate, &participant}) {
        if (!part->Ok()) m_in.Fail(part->Error());
    }
    if (aggregate.Remaining() > 0) out.first.second = aggregate.Array<32>();
    if (out.first.second == Hash32{}) out.first.second.reset();
    return out;
}

bool InputMap::Musig(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_in::kMusigParticipants:
        ReadMusigParticipants(m_in, key, "Input", m_out.musig_participants);
        break;
    case psbt_in::kMusigNonce:
        if (const auto whose = ReadMusigKey(key, "pubnonce")) {
            Bytes nonce = m_in.VarBytes();
            if (m_in.Ok() && nonce.size() != kMusigNonceSize) {
                m_in.Fail("Input musig2 pubnonce value is not 66 bytes");
            }
            m_out.musig_nonces[whose->first].emplace(whose->second, std::move(nonce));
        }
        break;
    case psbt_in::kMusigSignature:
        if (const auto whose = ReadMusigKey(key, "partial sig")) {
            Hash32 signature{};
            m_in.Value([&] { signature = m_in.Array<32>(); });
            m_out.musig_signatures[whose->first].emplace(whose->second, signature);
        }
        break;
    default: return false;
    }
    return true;
}

} // namespace

void ReadPsbtInput(PsbtReader& in, uint32_t version, PsbtInput& out)
{
    InputMap(in, version, out).Read();
}

} // namespace ibd

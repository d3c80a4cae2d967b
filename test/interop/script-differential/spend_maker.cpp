// See spend_maker.h.
#include "spend_maker.h"

#include "crypto/ripemd160.h"
#include "script/standard.h"

#include <algorithm>

namespace ibd::differential {

namespace {

constexpr ScriptFlags kConsensus = kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv |
                                   kVerifyCsv | kVerifyWitness | kVerifyTaproot;
constexpr ScriptFlags kAll = (1U << 21) - 1;
/** Leaf version of BIP342. */
constexpr uint8_t kLeafTapscript = 0xc0;

/** Pays to the hash of the script. */
Bytes ScriptHashOf(ByteSpan redeem) { return ScriptHashScript(Hash160(redeem)); }

/** Combinations that Core's engine does not take are completed. */
ScriptFlags Complete(ScriptFlags flags)
{
    if (flags & (kVerifyCleanStack | kVerifyTaproot)) flags |= kVerifyWitness;
    if (flags & kVerifyWitness) flags |= kVerifyP2sh;
    return flags;
}

} // namespace

ScriptFlags SpendMaker::RandomFlags()
{
    const size_t kind = m_random.Below(10);
    if (kind < 3) return kConsensus;
    if (kind < 5) return kAll;
    if (kind < 6) return m_random.Of<ScriptFlags>({0, kVerifyP2sh, kVerifyP2sh | kVerifyWitness});
    const ScriptFlags random = static_cast<ScriptFlags>(m_random.Bits()) & kAll;
    return Complete(kind < 8 ? random : random | kConsensus);
}

void SpendMaker::MakeTransaction()
{
    MutableTransaction& tx = m_case.tx;
    tx.version = m_random.Of<uint32_t>({1, 2, 2, 2, 0, 3, 0xffffffff});
    tx.lock_time = m_random.Of<uint32_t>(
        {0, 100, 499'999'999, 500'000'000, 0xffffffff, static_cast<uint32_t>(m_random.Bits())});
    const size_t inputs = 1 + m_random.Below(3);
    for (size_t i = 0; i < inputs; ++i) {
        MutableInput input;
        const Bytes id = m_random.Bytes(32);
        input.prevout = {Txid::FromBytes(id.data()), static_cast<uint32_t>(m_random.Below(4))};
        input.sequence = m_random.Of<uint32_t>({0xffffffff, 0xfffffffe, 0, 10, 0x400010, 0x80000000,
                                                static_cast<uint32_t>(m_random.Bits())});
        if (m_random.Percent(20)) input.script_sig = m_random.Bytes(m_random.Below(20));
        if (m_random.Percent(10)) input.witness = {m_random.Bytes(m_random.Below(20))};
        tx.inputs.push_back(std::move(input));
        m_case.spent.push_back({static_cast<Amount>(m_random.Bits() % uint64_t{kMaxMoney}),
                                m_random.Bytes(m_random.Below(40))});
    }
    for (size_t i = m_random.Below(4); i > 0; --i) {
        tx.outputs.push_back(
            {static_cast<Amount>(m_random.Below(1'000'000)), m_random.Bytes(m_random.Below(40))});
    }
    m_case.index = m_random.Below(inputs);
    Input().script_sig.clear();
    Input().witness.clear();
}

WrittenScript SpendMaker::WriteScript(SigVersion version)
{
    return ScriptWriter(m_random, m_keys, version, m_case.tx.lock_time, Input().sequence).Write();
}

void SpendMaker::Place(const WrittenScript& written, SigVersion version)
{
    if (version == SigVersion::kWitnessV0) {
        std::vector<Bytes> items = written.items;
        items.push_back(written.script);
        PlaceWitness(items, WitnessProgramScript(0, Sha256Of(written.script)),
                     m_random.Percent(25));
        return;
    }
    for (const Bytes& item : written.items) AppendPush(Input().script_sig, item);
    if (m_random.Percent(45)) {
        AppendPush(Input().script_sig, written.script);
        OutputScript() = ScriptHashOf(written.script);
        m_case.kind = "p2sh";
    } else {
        OutputScript() = written.script;
    }
}

void SpendMaker::PlaceWitness(const std::vector<Bytes>& items, ByteSpan program_script,
                              bool in_p2sh)
{
    Input().witness = items;
    if (!in_p2sh) {
        OutputScript().assign(program_script.begin(), program_script.end());
        return;
    }
    AppendPush(Input().script_sig, program_script);
    OutputScript() = ScriptHashOf(program_script);
}

void SpendMaker::MakeScriptSpend(SigVersion version)
{
    WrittenScript written = WriteScript(version);
    Sign(written, version, nullptr);
    Place(written, version);
}

void SpendMaker::MakeKeyHashSpend(SigVersion version)
{
    ScriptWriter writer(m_random, m_keys, version, 0, 0);
    WrittenScript written;
    const Bytes key = writer.PublicKey();
    written.script = PubkeyHashScript(Hash160(key));
    written.items = {writer.Placeholder(), key};
    Sign(written, version, nullptr);
    if (version == SigVersion::kBase) return Place(written, version);
    PlaceWitness(written.items, WitnessProgramScript(0, Hash160(key)), m_random.Percent(30));
}

void SpendMaker::MaybeAnnex(TaprootContext& context, Bytes& annex)
{
    if (!m_random.Percent(12)) return;
    annex = m_random.Bytes(1 + m_random.Below(300));
    annex[0] = 0x50;
    Bytes with_size;
    Writer(with_size).VarBytes(annex);
    context.annex_hash = Sha256Of(with_size);
}

void SpendMaker::MakeTaprootKeySpend()
{
    const Keys::Pair& pair = m_keys.Any(m_random);
    Sha256 hasher = TaggedHash("TapTweak");
    hasher.Write(pair.x_only);
    if (m_random.Percent(50)) hasher.Write(m_random.Bytes(32)); // some merkle root
    const Hash32 tweak = hasher.Finalize();
    OutputScript() = WitnessProgramScript(1, TweakXOnlyKey(pair.x_only, tweak)->first);
    TaprootContext context;
    Bytes annex;
    MaybeAnnex(context, annex);
    const auto spent = SpentOutputs();
    const TransactionRef tx = m_case.tx.Freeze();
    const TxHashes hashes(tx->View(), spent);
    Input().witness = {
        SchnorrFor(*m_keys.Signing().TweakSecret(pair.secret, tweak), context, tx->View(), hashes)};
    if (!annex.empty()) Input().witness.push_back(annex);
}

void SpendMaker::MakeTapscriptSpend()
{
    WrittenScript written = WriteScript(SigVersion::kTapscript);
    const uint8_t leaf_version = m_random.Percent(95) ? kLeafTapscript : m_random.Byte() & 0xfe;
    Bytes annex;
    TapscriptState state;
    state.weight_left = INT32_MAX;
    state.context.tapscript = true;
    state.context.leaf_hash = TapLeafHash(leaf_version, written.script);
    MaybeAnnex(state.context, annex);

    const Keys::Pair& pair = m_keys.Any(m_random);
    Bytes control{leaf_version};
    Append(control, pair.x_only);
    Hash32 node = state.context.leaf_hash;
    const size_t depth = m_random.Percent(97) ? m_random.Below(4) : 127 + m_random.Below(3);
    for (size_t i = 0; i < depth; ++i) {
        const Bytes other = m_random.Bytes(32);
        const bool first =
            std::lexicographical_compare(node.begin(), node.end(), other.begin(), other.end());
        Sha256 hasher = TaggedHash("TapBranch");
        first ? hasher.Write(node).Write(other) : hasher.Write(other).Write(node);
        node = hasher.Finalize();
        Append(control, other);
    }
    const Hash32 tweak = TaggedHash("TapTweak").Write(pair.x_only).Write(node).Finalize();
    const auto output = TweakXOnlyKey(pair.x_only, tweak);
    control[0] |= output->second ? 1 : 0;
    OutputScript() = WitnessProgramScript(1, output->first);
    Sign(written, SigVersion::kTapscript, &state);
    Input().witness = written.items;
    Input().witness.push_back(written.script);
    Input().witness.push_back(control);
    if (!annex.empty()) Input().witness.push_back(annex);
}

void SpendMaker::MakeUnknownProgram()
{
    const int version = static_cast<int>(m_random.Below(17));
    Bytes program = m_random.Bytes(2 + m_random.Below(39));
    if (m_random.Percent(30)) program = {0x4e, 0x73};
    std::vector<Bytes> items;
    for (size_t i = m_random.Below(3); i > 0; --i)
        items.push_back(m_random.Bytes(m_random.Below(9)));
    PlaceWitness(items, WitnessProgramScript(m_random.Percent(30) ? 1 : version, program),
                 m_random.Percent(30));
}

void SpendMaker::MakeSpend()
{
    const size_t kind = m_random.Below(100);
    if (kind < 26) {
        m_case.kind = "bare";
        MakeScriptSpend(SigVersion::kBase);
    } else if (kind < 32) {
        m_case.kind = "p2pkh";
        MakeKeyHashSpend(SigVersion::kBase);
    } else if (kind < 56) {
        m_case.kind = "p2wsh";
        MakeScriptSpend(SigVersion::kWitnessV0);
    } else if (kind < 62) {
        m_case.kind = "p2wpkh";
        MakeKeyHashSpend(SigVersion::kWitnessV0);
    } else if (kind < 68) {
        m_case.kind = "taproot key";
        MakeTaprootKeySpend();
    } else if (kind < 96) {
        m_case.kind = "tapscript";
        MakeTapscriptSpend();
    } else {
        m_case.kind = "other program";
        MakeUnknownProgram();
    }
}

SpendCase SpendMaker::Next()
{
    m_case = SpendCase{};
    MakeTransaction();
    m_case.flags = RandomFlags();
    MakeSpend();
    if (m_random.Percent(50)) Spoil();
    return std::move(m_case);
}

} // namespace ibd::differential

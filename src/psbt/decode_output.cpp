// Reads the map of an output; see codec.h.
#include "psbt/field_reader.h"
#include "psbt/field_types.h"

namespace ibd {

namespace {

/** Takes the fields of one output. */
class OutputMap {
public:
    OutputMap(PsbtReader& in, uint32_t version, PsbtOutput& out)
        : m_in(in), m_version(version), m_out(out)
    {
    }

    void Read()
    {
        ReadPsbtMap(m_in, "output", "an output map", [this](const PsbtKey& key) {
            if (Scripts(key) || Taproot(key)) return;
            if (key.type == kPsbtProprietary) {
                ReadProprietary(m_in, key, m_out.proprietary);
            } else {
                m_out.unknown.emplace(key.bytes, m_in.VarBytes());
            }
        });
        if (m_version < kPsbtVersion2) return;
        if (!m_has_amount) m_in.Fail("Output amount is required in PSBTv2");
        if (!m_has_script) m_in.Fail("Output script is required in PSBTv2");
    }

private:
    bool Scripts(const PsbtKey& key);
    bool Taproot(const PsbtKey& key);
    void ReadTree();
    bool OnlyInVersion2(const char* name)
    {
        if (m_version >= kPsbtVersion2) return true;
        m_in.Fail(fmt::format("{} is not allowed in PSBTv0", name));
        return false;
    }

    PsbtReader& m_in;
    const uint32_t m_version;
    PsbtOutput& m_out;
    bool m_has_amount = false;
    bool m_has_script = false;
};

bool OutputMap::Scripts(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_out::kRedeemScript:
        if (m_in.IsPlain(key, "Output redeemScript")) m_out.redeem_script = m_in.VarBytes();
        break;
    case psbt_out::kWitnessScript:
        if (m_in.IsPlain(key, "Output witnessScript")) m_out.witness_script = m_in.VarBytes();
        break;
    case psbt_out::kKeyOrigin: ReadKeyOrigin(m_in, key, m_out.key_origins); break;
    case psbt_out::kAmount:
        if (!m_in.IsPlain(key, "Output Amount") || !OnlyInVersion2("Output amount")) break;
        m_in.Value([&] { m_out.output.value = m_in.I64(); });
        m_has_amount = true;
        break;
    case psbt_out::kScript:
        if (!m_in.IsPlain(key, "Output Script") || !OnlyInVersion2("Output script")) break;
        m_out.output.script_pubkey = m_in.VarBytes();
        m_has_script = true;
        break;
    default: return false;
    }
    return true;
}

void OutputMap::ReadTree()
{
    const Bytes value = m_in.VarBytes();
    if (m_in.Ok() && value.empty()) m_in.Fail("Output Taproot tree must not be empty");
    PsbtReader tree(value);
    while (tree.Ok() && tree.Remaining() > 0) {
        TapLeaf leaf;
        leaf.depth = tree.U8();
        leaf.version = tree.U8();
        leaf.script = tree.VarBytes();
        if (tree.Ok() && leaf.depth > kMaxTapTreeDepth) {
            tree.Fail("Output Taproot tree has as leaf greater than Taproot maximum depth");
        }
        if (tree.Ok() && (leaf.version & ~kLeafMask) != 0) {
            tree.Fail("Output Taproot tree has a leaf with an invalid leaf version");
        }
        m_out.taproot_leaves.push_back(std::move(leaf));
    }
    if (tree.Ok() && !TapTreeRoot(m_out.taproot_leaves)) {
        tree.Fail("Output Taproot tree is malformed");
    }
    if (!tree.Ok()) m_in.Fail(tree.Error());
}

bool OutputMap::Taproot(const PsbtKey& key)
{
    switch (key.type) {
    case psbt_out::kTaprootInternalKey:
        if (!m_in.IsPlain(key, "Output Taproot Internal Key")) break;
        m_out.taproot_internal_key = ReadHash(m_in);
        break;
    case psbt_out::kTaprootTree:
        if (m_in.IsPlain(key, "Output Taproot Tree Key")) ReadTree();
        break;
    case psbt_out::kTaprootOrigin: ReadTapOrigin(m_in, key, "Output", m_out.taproot_origins); break;
    case psbt_out::kMusigParticipants:
        ReadMusigParticipants(m_in, key, "Output", m_out.musig_participants);
        break;
    default: return false;
    }
    return true;
}

} // namespace

void ReadPsbtOutput(PsbtReader& in, uint32_t version, PsbtOutput& out)
{
    OutputMap(in, version, out).Read();
}

} // namespace ibd

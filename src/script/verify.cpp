// See verify.h.
#include "script/verify.h"

#include "script/standard.h"

#include <algorithm>

namespace ibd {

namespace {

using Err = ScriptError;

constexpr size_t kControlBase = 33; //!< leaf version and internal key
constexpr size_t kControlNode = 32; //!< one merkle step
constexpr uint8_t kAnnexTag = 0x50;
constexpr int64_t kWeightOffset = 50; //!< BIP342

#define IBD_TRY(expression)                                                                        \
    do {                                                                                           \
        if (const Err ibd_error = (expression); ibd_error != Err::kOk) return ibd_error;           \
    } while (0)

ScriptStack ReadWitness(const WitnessView& witness)
{
    ScriptStack stack;
    stack.reserve(witness.count);
    Reader reader(witness.items);
    for (uint32_t i = 0; i < witness.count; ++i) {
        stack.push_back(StackItem::Of(reader.VarBytes()));
    }
    return stack;
}

/** BIP341: walks the control block's merkle path up to the root. */
Hash32 MerkleRoot(ByteSpan control, const Hash32& leaf)
{
    Hash32 node = leaf;
    for (size_t at = kControlBase; at < control.size(); at += kControlNode) {
        node = TapBranchHash(node, control.subspan(at, kControlNode));
    }
    return node;
}

bool CommitmentHolds(const SignatureChecker& checker, ByteSpan control, ByteSpan program,
                     const Hash32& leaf)
{
    XOnlyKey internal, output;
    std::copy_n(control.begin() + 1, 32, internal.begin());
    std::copy_n(program.begin(), 32, output.begin());
    const Hash32 tweak = TapTweakHash(internal, MerkleRoot(control, leaf));
    return checker.CheckTweak(output, (control[0] & 1) != 0, internal, tweak);
}

/** One verification, with the data that its steps share. */
class Verification {
public:
    Verification(const WitnessView& witness, ScriptFlags flags, const SignatureChecker& checker)
        : m_witness(witness), m_flags(flags), m_checker(checker)
    {
    }

    Err Run(ByteSpan script_sig, ByteSpan script_pubkey);

private:
    Err RunP2sh(ByteSpan script_sig, ScriptStack& stack);
    Err RunWitness(const WitnessProgram& program, bool in_p2sh);
    Err RunV0(const WitnessProgram& program);
    Err RunTaproot(ByteSpan program);
    Err RunTaprootScript(ScriptStack& stack, ByteSpan program, TapscriptState& state);
    Err Execute(ScriptStack& stack, ByteSpan script, SigVersion version, TapscriptState* state);

    const WitnessView& m_witness;
    const ScriptFlags m_flags;
    const SignatureChecker& m_checker;
    bool m_had_witness = false;
};

Err Verification::Run(ByteSpan script_sig, ByteSpan script_pubkey)
{
    if ((m_flags & kVerifySigPushOnly) && !IsPushOnly(script_sig)) return Err::kSigPushOnly;
    ScriptStack stack;
    IBD_TRY(EvalScript(stack, script_sig, m_flags, m_checker, SigVersion::kBase));
    const bool p2sh = (m_flags & kVerifyP2sh) && IsPayToScriptHash(script_pubkey);
    ScriptStack after_sig;
    if (p2sh) after_sig = stack;
    IBD_TRY(EvalScript(stack, script_pubkey, m_flags, m_checker, SigVersion::kBase));
    if (stack.empty() || !ScriptBool(stack.back())) return Err::kEvalFalse;

    if (m_flags & kVerifyWitness) {
        if (const auto program = ParseWitnessProgram(script_pubkey)) {
            m_had_witness = true;
            if (!script_sig.empty()) return Err::kWitnessMalleated;
            IBD_TRY(RunWitness(*program, false));
            stack.resize(1); // the witness alone decides
        }
    }
    if (p2sh) {
        stack.swap(after_sig);
        IBD_TRY(RunP2sh(script_sig, stack));
    }
    if ((m_flags & kVerifyCleanStack) && stack.size() != 1) return Err::kCleanStack;
    if ((m_flags & kVerifyWitness) && !m_had_witness && m_witness.count > 0) {
        return Err::kWitnessUnexpected;
    }
    return Err::kOk;
}

Err Verification::RunP2sh(ByteSpan script_sig, ScriptStack& stack)
{
    if (!IsPushOnly(script_sig)) return Err::kSigPushOnly;
    CHECK(!stack.empty()); // otherwise scriptPubKey would have failed
    const StackItem redeem = stack.back();
    stack.pop_back();
    IBD_TRY(EvalScript(stack, redeem, m_flags, m_checker, SigVersion::kBase));
    if (stack.empty() || !ScriptBool(stack.back())) return Err::kEvalFalse;
    if (!(m_flags & kVerifyWitness)) return Err::kOk;
    const auto program = ParseWitnessProgram(redeem);
    if (!program) return Err::kOk;
    m_had_witness = true;
    Bytes only_push;
    AppendPush(only_push, redeem);
    if (!std::ranges::equal(only_push, script_sig)) return Err::kWitnessMalleatedP2sh;
    IBD_TRY(RunWitness(*program, true));
    stack.resize(1);
    return Err::kOk;
}

Err Verification::RunWitness(const WitnessProgram& program, bool in_p2sh)
{
    if (program.version == 0) return RunV0(program);
    if (program.version == 1 && program.program.size() == 32 && !in_p2sh) {
        return (m_flags & kVerifyTaproot) ? RunTaproot(program.program) : Err::kOk;
    }
    const bool anchor = program.version == 1 && program.program.size() == 2 &&
                        program.program[0] == 0x4e && program.program[1] == 0x73;
    if (anchor && !in_p2sh) return Err::kOk;
    return (m_flags & kVerifyDiscourageUpgradableWitnessProgram)
               ? Err::kDiscourageUpgradableWitnessProgram
               : Err::kOk;
}

Err Verification::RunV0(const WitnessProgram& program)
{
    ScriptStack stack = ReadWitness(m_witness);
    if (program.program.size() == 32) {
        if (stack.empty()) return Err::kWitnessProgramWitnessEmpty;
        const StackItem script = stack.back();
        stack.pop_back();
        if (!std::ranges::equal(Sha256Of(script), program.program)) {
            return Err::kWitnessProgramMismatch;
        }
        return Execute(stack, script, SigVersion::kWitnessV0, nullptr);
    }
    if (program.program.size() != 20) return Err::kWitnessProgramWrongLength;
    if (stack.size() != 2) return Err::kWitnessProgramMismatch;
    return Execute(stack, PubkeyHashScript(program.program), SigVersion::kWitnessV0, nullptr);
}

Err Verification::RunTaproot(ByteSpan program)
{
    ScriptStack stack = ReadWitness(m_witness);
    if (stack.empty()) return Err::kWitnessProgramWitnessEmpty;
    TapscriptState state;
    if (stack.size() >= 2 && !stack.back().empty() && *stack.back().data() == kAnnexTag) {
        Bytes annex;
        Writer(annex).VarBytes(stack.back());
        state.context.annex_hash = Sha256Of(annex);
        stack.pop_back();
    }
    if (stack.size() == 1) return m_checker.CheckSchnorr(stack[0], program, state.context);
    return RunTaprootScript(stack, program, state);
}

Err Verification::RunTaprootScript(ScriptStack& stack, ByteSpan program, TapscriptState& state)
{
    const StackItem last = stack.back();
    stack.pop_back();
    const StackItem script = stack.back();
    stack.pop_back();
    const ByteSpan control = last;
    if (control.size() < kControlBase ||
        control.size() > kControlBase + kControlNode * kMaxTapTreeDepth ||
        (control.size() - kControlBase) % kControlNode != 0) {
        return Err::kTaprootWrongControlSize;
    }
    const uint8_t leaf_version = control[0] & kLeafMask;
    state.context.leaf_hash = TapLeafHash(leaf_version, script);
    if (!CommitmentHolds(m_checker, control, program, state.context.leaf_hash)) {
        return Err::kWitnessProgramMismatch;
    }
    if (leaf_version == kLeafTapscript) {
        state.context.tapscript = true;
        state.weight_left =
            static_cast<int64_t>(CompactSizeLength(m_witness.count) + m_witness.items.size()) +
            kWeightOffset;
        return Execute(stack, script, SigVersion::kTapscript, &state);
    }
    return (m_flags & kVerifyDiscourageUpgradableTaprootVersion)
               ? Err::kDiscourageUpgradableTaprootVersion
               : Err::kOk;
}

/** BIP342: looks for operations that make the script succeed unconditionally. */
Err FindOpSuccess(ByteSpan script, ScriptFlags flags, bool& found)
{
    found = false;
    ScriptIterator it(script);
    while (it.Next()) {
        if (!IsOpSuccess(it.Op())) continue;
        found = true;
        return (flags & kVerifyDiscourageOpSuccess) ? Err::kDiscourageOpSuccess : Err::kOk;
    }
    return it.Failed() ? Err::kBadOpcode : Err::kOk;
}

Err Verification::Execute(ScriptStack& stack, ByteSpan script, SigVersion version,
                          TapscriptState* state)
{
    if (version == SigVersion::kTapscript) {
        bool succeeds = false;
        IBD_TRY(FindOpSuccess(script, m_flags, succeeds));
        if (succeeds) return Err::kOk;
        if (stack.size() > kMaxStackSize) return Err::kStackSize;
    }
    for (const StackItem& item : stack) {
        if (item.size() > kMaxScriptElementSize) return Err::kPushSize;
    }
    IBD_TRY(EvalScript(stack, script, m_flags, m_checker, version, state));
    if (stack.size() != 1) return Err::kCleanStack;
    return ScriptBool(stack[0]) ? Err::kOk : Err::kEvalFalse;
}

#undef IBD_TRY

} // namespace

ScriptError VerifyScript(ByteSpan script_sig, ByteSpan script_pubkey, const WitnessView& witness,
                         ScriptFlags flags, const SignatureChecker& checker)
{
    return Verification(witness, flags, checker).Run(script_sig, script_pubkey);
}

ScriptError VerifyInput(const TxView& tx, size_t input, const SpentOutput& spent,
                        const TxHashes& hashes, ScriptFlags flags, SignatureCacheUse cache,
                        DeferredSignatures* deferred)
{
    const InputView& in = tx.inputs[input];
    const TxSignatureChecker checker(tx, input, spent, hashes, cache, deferred);
    return VerifyScript(in.script_sig, spent.script_pubkey, {in.witness, in.witness_items}, flags,
                        checker);
}

} // namespace ibd

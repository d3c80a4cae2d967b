// See interpreter.h.
#include "script/interpreter.h"

#include "crypto/ripemd160.h"
#include "crypto/sha1.h"
#include "script/script.h"
#include "script/signature_encoding.h"

#include <algorithm>

namespace ibd {

namespace {

using Err = ScriptError;

constexpr int64_t kWeightPerSignature = 50; //!< BIP342

/** Nested IF branches, in constant time at any depth (tapscripts have no limit on operations). */
class Conditions {
public:
    bool Empty() const { return m_depth == 0; }
    bool AllTrue() const { return m_first_false == kNone; }
    void Push(bool value)
    {
        if (AllTrue() && !value) m_first_false = m_depth;
        ++m_depth;
    }
    void Pop()
    {
        --m_depth;
        if (m_first_false == m_depth) m_first_false = kNone;
    }
    void ToggleTop()
    {
        if (AllTrue()) {
            m_first_false = m_depth - 1;
        } else if (m_first_false == m_depth - 1) {
            m_first_false = kNone;
        }
        // Inside a false branch the top is false regardless of its own condition.
    }

private:
    static constexpr size_t kNone = SIZE_MAX;
    size_t m_depth = 0;
    size_t m_first_false = kNone;
};

bool IsDisabled(uint8_t op)
{
    return (op >= OP_CAT && op <= OP_RIGHT) || (op >= OP_INVERT && op <= OP_XOR) || op == OP_2MUL ||
           op == OP_2DIV || (op >= OP_MUL && op <= OP_RSHIFT);
}

bool StartsWith(ByteSpan bytes, ByteSpan pattern)
{
    return bytes.size() >= pattern.size() &&
           std::equal(pattern.begin(), pattern.end(), bytes.begin());
}

/** Whether some operation of `script` is the push of `data` that AppendPush makes. Visits each
 *  operation once: a search at every byte would let an attacker choose bytes that nearly match. */
bool PushesShortest(ByteSpan script, ByteSpan data)
{
    if (script.size() <= data.size()) return false;
    const size_t pushdata = data.size() <= 0xff ? OP_PUSHDATA1 : OP_PUSHDATA2;
    const size_t op = data.size() < OP_PUSHDATA1 ? data.size() : pushdata;
    for (ScriptIterator it(script); it.Next();) {
        if (it.Op() == op && std::ranges::equal(it.Data(), data)) return true;
    }
    return false;
}

/** One run of one script. Functions return kOk or the reason to stop. */
class Machine {
public:
    Machine(ScriptStack& stack, ByteSpan script, ScriptFlags flags, const SignatureChecker& checker,
            SigVersion version, TapscriptState* tapscript)
        : m_stack(stack), m_script(script), m_flags(flags), m_checker(checker), m_version(version),
          m_tapscript(tapscript), m_minimal((flags & kVerifyMinimalData) != 0),
          m_legacy_limits(version == SigVersion::kBase || version == SigVersion::kWitnessV0)
    {
    }

    Err Run();
    /** As the limit counts them; 0 in tapscript. */
    int Ops() const { return m_ops; }

private:
    Err Step(const ScriptIterator& it);
    Err Execute(uint8_t op);
    Err Conditional(uint8_t op);
    Err LockTime(uint8_t op);
    Err StackOp(uint8_t op);
    Err PickOrRoll(uint8_t op);
    Err Equal(uint8_t op);
    Err Unary(uint8_t op);
    Err Binary(uint8_t op);
    Err Within();
    Err HashTop(uint8_t op);
    Err CheckSig(uint8_t op);
    Err CheckSigAdd();
    Err CheckMultisig(uint8_t op);
    Err CheckOneSignature(ByteSpan signature, ByteSpan key, bool& ok);
    Err CheckTapscriptSignature(ByteSpan signature, ByteSpan key, bool& ok);
    Err MatchSignatures(size_t keys, size_t key_count, size_t sigs, size_t sig_count, bool& ok);
    Err MatchInOrder(size_t keys, size_t key_count, size_t sigs, size_t sig_count, ByteSpan code,
                     bool& ok);
    Err AssumeMatch(size_t keys, size_t key_count, size_t sigs, size_t sig_count, ByteSpan code);
    Err DeleteSignature(ByteSpan signature, ByteSpan& code, Bytes& cleaned);
    Err Verify(Err on_false);

    bool Has(size_t items) const { return m_stack.size() >= items; }
    /** The item `depth` from the top, 1 is the top. */
    StackItem& Top(size_t depth = 1) { return m_stack[m_stack.size() - depth]; }
    void Drop(size_t items) { m_stack.resize(m_stack.size() - items); }
    void PushCopy(size_t depth) { m_stack.push_back(StackItem(Top(depth))); }
    void PushBool(bool value) { PushNum(value ? 1 : 0); }
    void PushNum(int64_t value) { m_stack.push_back(StackItem::CopyOf(ScriptNum(value))); }
    std::optional<int64_t> Num(size_t depth, size_t max_size = 4)
    {
        return DecodeScriptNum(Top(depth), m_minimal, max_size);
    }
    ByteSpan ScriptCode() const { return m_script.subspan(m_code_start); }

    ScriptStack& m_stack;
    ScriptStack m_alt;
    const ByteSpan m_script;
    const ScriptFlags m_flags;
    const SignatureChecker& m_checker;
    const SigVersion m_version;
    TapscriptState* const m_tapscript;
    const bool m_minimal;
    const bool m_legacy_limits;
    Conditions m_conditions;
    int m_ops = 0;
    size_t m_code_start = 0; //!< after the last OP_CODESEPARATOR
    size_t m_next = 0;       //!< offset after the current operation
    uint32_t m_op_index = 0; //!< number of the current operation
};

#define IBD_TRY(expression)                                                                        \
    do {                                                                                           \
        if (const Err ibd_error = (expression); ibd_error != Err::kOk) return ibd_error;           \
    } while (0)
#define IBD_NEED(items)                                                                            \
    do {                                                                                           \
        if (!Has(items)) return Err::kInvalidStackOperation;                                       \
    } while (0)

Err Machine::Run()
{
    if (m_legacy_limits && m_script.size() > kMaxScriptSize) return Err::kScriptSize;
    ScriptIterator it(m_script);
    while (it.Next()) {
        IBD_TRY(Step(it));
        if (m_stack.size() + m_alt.size() > kMaxStackSize) return Err::kStackSize;
        ++m_op_index;
    }
    if (it.Failed()) return Err::kBadOpcode;
    return m_conditions.Empty() ? Err::kOk : Err::kUnbalancedConditional;
}

Err Machine::Step(const ScriptIterator& it)
{
    const uint8_t op = it.Op();
    m_next = it.End();
    if (it.Data().size() > kMaxScriptElementSize) return Err::kPushSize;
    if (m_legacy_limits && op > OP_16 && ++m_ops > kMaxOpsPerScript) return Err::kOpCount;
    if (IsDisabled(op)) return Err::kDisabledOpcode;
    if (op == OP_CODESEPARATOR && m_version == SigVersion::kBase &&
        (m_flags & kVerifyConstScriptCode)) {
        return Err::kOpCodeSeparator;
    }
    const bool executing = m_conditions.AllTrue();
    if (executing && op <= OP_PUSHDATA4) {
        if (m_minimal && !IsMinimalPush(op, it.Data())) return Err::kMinimalData;
        m_stack.push_back(StackItem::Of(it.Data()));
        return Err::kOk;
    }
    if (executing || (op >= OP_IF && op <= OP_ENDIF)) return Execute(op);
    return Err::kOk;
}

// One line for each family of operations.
// clang-format off
/** Sends each opcode to the function of its family. */
Err Machine::Execute(uint8_t op)
{
    switch (op) {
    case OP_1NEGATE: PushNum(-1); return Err::kOk;
    case OP_1: case OP_2: case OP_3: case OP_4: case OP_5: case OP_6: case OP_7: case OP_8:
    case OP_9: case OP_10: case OP_11: case OP_12: case OP_13: case OP_14: case OP_15: case OP_16:
        PushNum(op - (OP_1 - 1));
        return Err::kOk;
    case OP_NOP: return Err::kOk;
    case OP_CHECKLOCKTIMEVERIFY: case OP_CHECKSEQUENCEVERIFY: return LockTime(op);
    case OP_NOP1: case OP_NOP4: case OP_NOP5: case OP_NOP6: case OP_NOP7: case OP_NOP8:
    case OP_NOP9: case OP_NOP10:
        return (m_flags & kVerifyDiscourageUpgradableNops) ? Err::kDiscourageUpgradableNops
                                                           : Err::kOk;
    case OP_IF: case OP_NOTIF: case OP_ELSE: case OP_ENDIF: return Conditional(op);
    case OP_VERIFY:
        IBD_NEED(1);
        return Verify(Err::kVerify);
    case OP_RETURN: return Err::kOpReturn;
    case OP_TOALTSTACK: case OP_FROMALTSTACK: case OP_2DROP: case OP_2DUP: case OP_3DUP:
    case OP_2OVER: case OP_2ROT: case OP_2SWAP: case OP_IFDUP: case OP_DEPTH: case OP_DROP:
    case OP_DUP: case OP_NIP: case OP_OVER: case OP_ROT: case OP_SWAP: case OP_TUCK: case OP_SIZE:
        return StackOp(op);
    case OP_PICK: case OP_ROLL: return PickOrRoll(op);
    case OP_EQUAL: case OP_EQUALVERIFY: return Equal(op);
    case OP_1ADD: case OP_1SUB: case OP_NEGATE: case OP_ABS: case OP_NOT: case OP_0NOTEQUAL:
        return Unary(op);
    case OP_ADD: case OP_SUB: case OP_BOOLAND: case OP_BOOLOR: case OP_NUMEQUAL:
    case OP_NUMEQUALVERIFY: case OP_NUMNOTEQUAL: case OP_LESSTHAN: case OP_GREATERTHAN:
    case OP_LESSTHANOREQUAL: case OP_GREATERTHANOREQUAL: case OP_MIN: case OP_MAX:
        return Binary(op);
    case OP_WITHIN: return Within();
    case OP_RIPEMD160: case OP_SHA1: case OP_SHA256: case OP_HASH160: case OP_HASH256:
        return HashTop(op);
    case OP_CODESEPARATOR:
        m_code_start = m_next;
        if (m_tapscript) m_tapscript->context.code_separator = m_op_index;
        return Err::kOk;
    case OP_CHECKSIG: case OP_CHECKSIGVERIFY: return CheckSig(op);
    case OP_CHECKSIGADD: return CheckSigAdd();
    case OP_CHECKMULTISIG: case OP_CHECKMULTISIGVERIFY: return CheckMultisig(op);
    default: return Err::kBadOpcode;
    }
}
// clang-format on

Err Machine::Verify(Err on_false)
{
    if (!ScriptBool(Top())) return on_false;
    Drop(1);
    return Err::kOk;
}

Err Machine::LockTime(uint8_t op)
{
    const bool absolute = op == OP_CHECKLOCKTIMEVERIFY;
    if (!(m_flags & (absolute ? kVerifyCltv : kVerifyCsv))) return Err::kOk;
    IBD_NEED(1);
    const auto value = Num(1, 5);
    if (!value) return Err::kScriptNum;
    if (*value < 0) return Err::kNegativeLocktime;
    if (!absolute && (*value & (int64_t{1} << 31))) return Err::kOk; // BIP112: no lock
    const bool kept = absolute ? m_checker.CheckLockTime(*value) : m_checker.CheckSequence(*value);
    return kept ? Err::kOk : Err::kUnsatisfiedLocktime;
}

Err Machine::Conditional(uint8_t op)
{
    if (op == OP_ELSE || op == OP_ENDIF) {
        if (m_conditions.Empty()) return Err::kUnbalancedConditional;
        op == OP_ELSE ? m_conditions.ToggleTop() : m_conditions.Pop();
        return Err::kOk;
    }
    bool value = false;
    if (m_conditions.AllTrue()) {
        IBD_NEED(1);
        const ByteSpan top = Top();
        const bool minimal = top.empty() || (top.size() == 1 && top[0] == 1);
        if (m_version == SigVersion::kTapscript && !minimal) return Err::kTapscriptMinimalIf;
        if (m_version == SigVersion::kWitnessV0 && (m_flags & kVerifyMinimalIf) && !minimal) {
            return Err::kMinimalIf;
        }
        value = ScriptBool(top) == (op == OP_IF);
        Drop(1);
    }
    m_conditions.Push(value);
    return Err::kOk;
}

// clang-format off
Err Machine::StackOp(uint8_t op)
{
    switch (op) {
    case OP_TOALTSTACK:
        IBD_NEED(1);
        m_alt.push_back(Top());
        Drop(1);
        break;
    case OP_FROMALTSTACK:
        if (m_alt.empty()) return Err::kInvalidAltstackOperation;
        m_stack.push_back(m_alt.back());
        m_alt.pop_back();
        break;
    case OP_2DROP: IBD_NEED(2); Drop(2); break;
    case OP_2DUP: IBD_NEED(2); PushCopy(2); PushCopy(2); break;
    case OP_3DUP: IBD_NEED(3); PushCopy(3); PushCopy(3); PushCopy(3); break;
    case OP_2OVER: IBD_NEED(4); PushCopy(4); PushCopy(4); break;
    case OP_2ROT:
        IBD_NEED(6);
        std::rotate(m_stack.end() - 6, m_stack.end() - 4, m_stack.end());
        break;
    case OP_2SWAP:
        IBD_NEED(4);
        std::rotate(m_stack.end() - 4, m_stack.end() - 2, m_stack.end());
        break;
    case OP_IFDUP:
        IBD_NEED(1);
        if (ScriptBool(Top())) PushCopy(1);
        break;
    case OP_DEPTH: PushNum(static_cast<int64_t>(m_stack.size())); break;
    case OP_DROP: IBD_NEED(1); Drop(1); break;
    case OP_DUP: IBD_NEED(1); PushCopy(1); break;
    case OP_NIP: IBD_NEED(2); m_stack.erase(m_stack.end() - 2); break;
    case OP_OVER: IBD_NEED(2); PushCopy(2); break;
    case OP_ROT:
        IBD_NEED(3);
        std::rotate(m_stack.end() - 3, m_stack.end() - 2, m_stack.end());
        break;
    case OP_SWAP: IBD_NEED(2); std::swap(Top(1), Top(2)); break;
    case OP_TUCK:
        IBD_NEED(2);
        m_stack.insert(m_stack.end() - 2, StackItem(Top()));
        break;
    case OP_SIZE: IBD_NEED(1); PushNum(static_cast<int64_t>(Top().size())); break;
    default: CHECK(false);
    }
    return Err::kOk;
}
// clang-format on

Err Machine::PickOrRoll(uint8_t op)
{
    IBD_NEED(2);
    const auto n = Num(1);
    if (!n) return Err::kScriptNum;
    Drop(1);
    if (*n < 0 || *n >= static_cast<int64_t>(m_stack.size())) return Err::kInvalidStackOperation;
    const size_t depth = static_cast<size_t>(*n) + 1;
    PushCopy(depth);
    if (op == OP_ROLL) {
        m_stack.erase(m_stack.end() - static_cast<std::ptrdiff_t>(depth) - 1);
    }
    return Err::kOk;
}

Err Machine::Equal(uint8_t op)
{
    IBD_NEED(2);
    const bool equal = std::ranges::equal(ByteSpan(Top(1)), ByteSpan(Top(2)));
    Drop(2);
    PushBool(equal);
    return op == OP_EQUALVERIFY ? Verify(Err::kEqualVerify) : Err::kOk;
}

Err Machine::Unary(uint8_t op)
{
    IBD_NEED(1);
    const auto top = Num(1);
    if (!top) return Err::kScriptNum;
    int64_t n = *top;
    switch (op) {
    case OP_1ADD: n += 1; break;
    case OP_1SUB: n -= 1; break;
    case OP_NEGATE: n = -n; break;
    case OP_ABS: n = n < 0 ? -n : n; break;
    case OP_NOT: n = n == 0; break;
    case OP_0NOTEQUAL: n = n != 0; break;
    default: CHECK(false);
    }
    Drop(1);
    PushNum(n);
    return Err::kOk;
}

Err Machine::Binary(uint8_t op)
{
    IBD_NEED(2);
    const auto first = Num(2);
    if (!first) return Err::kScriptNum;
    const auto second = Num(1);
    if (!second) return Err::kScriptNum;
    const int64_t a = *first;
    const int64_t b = *second;
    int64_t n = 0;
    switch (op) {
    case OP_ADD: n = a + b; break;
    case OP_SUB: n = a - b; break;
    case OP_BOOLAND: n = a != 0 && b != 0; break;
    case OP_BOOLOR: n = a != 0 || b != 0; break;
    case OP_NUMEQUAL:
    case OP_NUMEQUALVERIFY: n = a == b; break;
    case OP_NUMNOTEQUAL: n = a != b; break;
    case OP_LESSTHAN: n = a < b; break;
    case OP_GREATERTHAN: n = a > b; break;
    case OP_LESSTHANOREQUAL: n = a <= b; break;
    case OP_GREATERTHANOREQUAL: n = a >= b; break;
    case OP_MIN: n = std::min(a, b); break;
    case OP_MAX: n = std::max(a, b); break;
    default: CHECK(false);
    }
    Drop(2);
    PushNum(n);
    return op == OP_NUMEQUALVERIFY ? Verify(Err::kNumEqualVerify) : Err::kOk;
}

Err Machine::Within()
{
    IBD_NEED(3);
    const auto value = Num(3);
    if (!value) return Err::kScriptNum;
    const auto low = Num(2);
    if (!low) return Err::kScriptNum;
    const auto high = Num(1);
    if (!high) return Err::kScriptNum;
    Drop(3);
    PushBool(*low <= *value && *value < *high);
    return Err::kOk;
}

Err Machine::HashTop(uint8_t op)
{
    IBD_NEED(1);
    const auto replace = [&](const auto& digest) { Top() = StackItem::CopyOf(digest); };
    switch (op) {
    case OP_RIPEMD160: replace(Ripemd160Of(Top())); break;
    case OP_SHA1: replace(Sha1Of(Top())); break;
    case OP_SHA256: replace(Sha256Of(Top())); break;
    case OP_HASH160: replace(Hash160(Top())); break;
    case OP_HASH256: replace(Sha256d(Top())); break;
    default: CHECK(false);
    }
    return Err::kOk;
}

Err Machine::CheckTapscriptSignature(ByteSpan signature, ByteSpan key, bool& ok)
{
    ok = !signature.empty();
    if (ok) {
        m_tapscript->weight_left -= kWeightPerSignature;
        if (m_tapscript->weight_left < 0) return Err::kTapscriptValidationWeight;
    }
    if (key.empty()) return Err::kTapscriptEmptyPubkey;
    if (key.size() == 32) {
        return ok ? m_checker.CheckSchnorr(signature, key, m_tapscript->context) : Err::kOk;
    }
    // Keys of other sizes are reserved for soft forks; their signatures count as valid.
    return (m_flags & kVerifyDiscourageUpgradablePubkeyType) ? Err::kDiscourageUpgradablePubkeyType
                                                             : Err::kOk;
}

/** Before BIP143 a signature cannot sign itself: its pushes are removed from the script code, which
 *  is then in `cleaned`. The empty signature is OP_0, which the rule removes too. */
Err Machine::DeleteSignature(ByteSpan signature, ByteSpan& code, Bytes& cleaned)
{
    if (m_version != SigVersion::kBase) return Err::kOk;
    DeferredSignatures* const deferred = m_checker.Deferred();
    if (deferred != nullptr && !deferred->Spend(DeferredSignatures::kSearchCost * code.size())) {
        return Err::kUnknownError;
    }
    // The push is almost never in the script, and a search for it is cheaper than making it.
    if (!PushesShortest(code, signature)) return Err::kOk;
    Bytes pattern;
    AppendPush(pattern, signature);
    CHECK(FindAndDelete(code, pattern, cleaned) > 0);
    code = cleaned;
    return (m_flags & kVerifyConstScriptCode) ? Err::kSigFindAndDelete : Err::kOk;
}

Err Machine::CheckOneSignature(ByteSpan signature, ByteSpan key, bool& ok)
{
    if (m_version == SigVersion::kTapscript) return CheckTapscriptSignature(signature, key, ok);
    ByteSpan code = ScriptCode();
    Bytes cleaned;
    IBD_TRY(DeleteSignature(signature, code, cleaned));
    IBD_TRY(CheckSignatureEncoding(signature, m_flags));
    IBD_TRY(CheckPubkeyEncoding(key, m_flags, m_version));
    ok = m_checker.CheckEcdsa(signature, key, code, m_version);
    if (!ok && (m_flags & kVerifyNullFail) && !signature.empty()) return Err::kSigNullFail;
    return Err::kOk;
}

Err Machine::CheckSig(uint8_t op)
{
    IBD_NEED(2);
    bool ok = true;
    IBD_TRY(CheckOneSignature(Top(2), Top(1), ok));
    Drop(2);
    PushBool(ok);
    return op == OP_CHECKSIGVERIFY ? Verify(Err::kCheckSigVerify) : Err::kOk;
}

Err Machine::CheckSigAdd()
{
    if (m_legacy_limits) return Err::kBadOpcode;
    IBD_NEED(3);
    const auto count = Num(2);
    if (!count) return Err::kScriptNum;
    bool ok = true;
    IBD_TRY(CheckOneSignature(Top(3), Top(1), ok));
    Drop(3);
    PushNum(*count + (ok ? 1 : 0));
    return Err::kOk;
}

/** Notes every pair that the matching could try, and assumes success. Checks the encoding of every
 *  signature and key, not only of those that the matching would try. This may be too strict, but a
 *  failure only leads to a run without deferring. */
Err Machine::AssumeMatch(size_t keys, size_t key_count, size_t sigs, size_t sig_count,
                         ByteSpan code)
{
    DeferredSignatures& deferred = *m_checker.Deferred();
    for (size_t i = 0; i < sig_count; ++i) IBD_TRY(CheckSignatureEncoding(Top(sigs + i), m_flags));
    for (size_t j = 0; j < key_count; ++j) {
        IBD_TRY(CheckPubkeyEncoding(Top(keys + j), m_flags, m_version));
    }
    deferred.BeginMatch(sig_count, key_count);
    for (size_t i = 0; i < sig_count; ++i) {
        for (size_t j = i; j <= i + key_count - sig_count; ++j) {
            const bool noted = m_checker.CheckEcdsa(Top(sigs + i), Top(keys + j), code, m_version);
            if (!noted) deferred.NoteNothing();
        }
    }
    deferred.EndMatch();
    return Err::kOk;
}

/** Gives each signature the next key that it fits. */
Err Machine::MatchInOrder(size_t keys, size_t key_count, size_t sigs, size_t sig_count,
                          ByteSpan code, bool& ok)
{
    while (ok && sig_count > 0) {
        const ByteSpan signature = Top(sigs);
        const ByteSpan key = Top(keys);
        IBD_TRY(CheckSignatureEncoding(signature, m_flags));
        IBD_TRY(CheckPubkeyEncoding(key, m_flags, m_version));
        if (m_checker.CheckEcdsa(signature, key, code, m_version)) {
            ++sigs;
            --sig_count;
        }
        ++keys;
        --key_count;
        // More signatures than keys are left, so one cannot match.
        if (sig_count > key_count) ok = false;
    }
    return Err::kOk;
}

/** `keys`, `sigs`: depth of the first of each; the next ones are deeper. */
Err Machine::MatchSignatures(size_t keys, size_t key_count, size_t sigs, size_t sig_count, bool& ok)
{
    ByteSpan code = ScriptCode();
    Bytes cleaned;
    for (size_t i = 0; i < sig_count; ++i) {
        IBD_TRY(DeleteSignature(Top(sigs + i), code, cleaned));
    }
    ok = true;
    DeferredSignatures* const deferred = m_checker.Deferred();
    if (deferred == nullptr || sig_count == 0 || !deferred->Defers()) {
        return MatchInOrder(keys, key_count, sigs, sig_count, code, ok);
    }
    if (DeferredSignatures::WorthNoting(sig_count, key_count)) {
        return AssumeMatch(keys, key_count, sigs, sig_count, code);
    }
    deferred->VerifyHere(true);
    const Err error = MatchInOrder(keys, key_count, sigs, sig_count, code, ok);
    deferred->VerifyHere(false);
    return error;
}

Err Machine::CheckMultisig(uint8_t op)
{
    if (m_version == SigVersion::kTapscript) return Err::kTapscriptCheckMultisig;
    IBD_NEED(1);
    const auto keys = Num(1);
    if (!keys) return Err::kScriptNum;
    if (*keys < 0 || *keys > kMaxPubkeysPerMultisig) return Err::kPubkeyCount;
    m_ops += static_cast<int>(*keys);
    if (m_ops > kMaxOpsPerScript) return Err::kOpCount;
    const size_t key_count = static_cast<size_t>(*keys);
    IBD_NEED(key_count + 2);
    const auto sigs = Num(key_count + 2);
    if (!sigs) return Err::kScriptNum;
    if (*sigs < 0 || *sigs > *keys) return Err::kSigCount;
    const size_t sig_count = static_cast<size_t>(*sigs);
    IBD_NEED(key_count + sig_count + 3);
    bool ok = false;
    IBD_TRY(MatchSignatures(2, key_count, key_count + 3, sig_count, ok));
    if (!ok && (m_flags & kVerifyNullFail)) {
        for (size_t i = 0; i < sig_count; ++i) {
            if (!Top(key_count + 3 + i).empty()) return Err::kSigNullFail;
        }
    }
    Drop(key_count + sig_count + 2);
    // CHECKMULTISIG always consumes one extra item; BIP147 requires it to be empty.
    if ((m_flags & kVerifyNullDummy) && !Top().empty()) return Err::kSigNullDummy;
    Drop(1);
    PushBool(ok);
    return op == OP_CHECKMULTISIGVERIFY ? Verify(Err::kCheckMultisigVerify) : Err::kOk;
}

#undef IBD_TRY
#undef IBD_NEED

} // namespace

ScriptError EvalScript(ScriptStack& stack, ByteSpan script, ScriptFlags flags,
                       const SignatureChecker& checker, SigVersion version,
                       TapscriptState* tapscript)
{
    CHECK(version != SigVersion::kTapscript || tapscript);
    Machine machine(stack, script, flags, checker, version, tapscript);
    const ScriptError error = machine.Run();
    DeferredSignatures* const deferred = checker.Deferred();
    if (deferred != nullptr && version != SigVersion::kTapscript) {
        deferred->AddCost(static_cast<size_t>(machine.Ops()) * DeferredSignatures::kOpCost +
                          script.size() * DeferredSignatures::kSearchCost);
    }
    return error;
}

int FindAndDelete(ByteSpan script, ByteSpan pattern, Bytes& kept)
{
    if (pattern.empty()) return 0;
    Bytes out;
    size_t size = 0; // of `out` so far
    int found = 0;
    size_t at = 0;     // start of an operation
    size_t copied = 0; // everything before it is in `out`, or removed
    const auto copy_up_to = [&](size_t end) {
        if (out.empty()) out.resize(script.size());
        std::copy_n(script.data() + copied, end - copied, out.data() + size);
        size += end - copied;
    };
    while (true) {
        const size_t start = at;
        for (; StartsWith(script.subspan(at), pattern); at += pattern.size()) ++found;
        if (at != start) {
            copy_up_to(start);
            copied = at;
        }
        ScriptIterator it(script.subspan(at));
        if (!it.Next()) break;
        at += it.End();
    }
    if (found == 0) return 0;
    copy_up_to(script.size());
    out.resize(size);
    kept = std::move(out);
    return found;
}

} // namespace ibd

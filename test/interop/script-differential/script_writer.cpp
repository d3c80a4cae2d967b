// See script_writer.h.
#include "script_writer.h"

#include "crypto/ripemd160.h"
#include "crypto/sha1.h"
#include "script/script.h"

#include <algorithm>

namespace ibd::differential {

namespace {

constexpr size_t kKeyPairs = 12;

struct StackEffect {
    uint8_t op;
    uint8_t needs;
    int8_t change;
};

constexpr StackEffect kOperations[] = {
    {OP_2DROP, 2, -2},  {OP_2DUP, 2, 2},      {OP_3DUP, 3, 3},    {OP_2OVER, 4, 2},
    {OP_2ROT, 6, 0},    {OP_2SWAP, 4, 0},     {OP_IFDUP, 1, 1},   {OP_DEPTH, 0, 1},
    {OP_DROP, 1, -1},   {OP_DUP, 1, 1},       {OP_NIP, 2, -1},    {OP_OVER, 2, 1},
    {OP_ROT, 3, 0},     {OP_SWAP, 2, 0},      {OP_TUCK, 2, 1},    {OP_SIZE, 1, 1},
    {OP_EQUAL, 2, -1},  {OP_RIPEMD160, 1, 0}, {OP_SHA1, 1, 0},    {OP_SHA256, 1, 0},
    {OP_HASH160, 1, 0}, {OP_HASH256, 1, 0},   {OP_NOP, 0, 0},     {OP_CODESEPARATOR, 0, 0},
    {OP_NOP1, 0, 0},    {OP_NOP10, 0, 0},     {OP_VERIFY, 1, -1}, {OP_EQUALVERIFY, 2, -2},
};

constexpr StackEffect kArithmetic[] = {
    {OP_1ADD, 1, 0},
    {OP_1SUB, 1, 0},
    {OP_NEGATE, 1, 0},
    {OP_ABS, 1, 0},
    {OP_NOT, 1, 0},
    {OP_0NOTEQUAL, 1, 0},
    {OP_ADD, 2, -1},
    {OP_SUB, 2, -1},
    {OP_BOOLAND, 2, -1},
    {OP_BOOLOR, 2, -1},
    {OP_NUMEQUAL, 2, -1},
    {OP_NUMNOTEQUAL, 2, -1},
    {OP_LESSTHAN, 2, -1},
    {OP_GREATERTHAN, 2, -1},
    {OP_LESSTHANOREQUAL, 2, -1},
    {OP_GREATERTHANOREQUAL, 2, -1},
    {OP_MIN, 2, -1},
    {OP_MAX, 2, -1},
    {OP_WITHIN, 3, -2},
    {OP_NUMEQUALVERIFY, 2, -2},
};

} // namespace

Keys::Keys()
{
    for (size_t i = 0; i < kKeyPairs; ++i) {
        const Hash32 secret = Sha256Of(Bytes{static_cast<uint8_t>(i), 0x5a});
        m_pairs.push_back({secret, m_signer.PublicKey(secret),
                           m_signer.UncompressedPublicKey(secret),
                           m_signer.XOnlyPublicKey(secret)});
        m_by_x[Bytes(m_pairs[i].x_only.begin(), m_pairs[i].x_only.end())] = i;
    }
}

const Keys::Pair* Keys::Find(ByteSpan key) const
{
    if (key.size() != 32 && key.size() != 33 && key.size() != 65) return nullptr;
    const ByteSpan x = key.size() == 32 ? key : key.subspan(1, 32);
    const auto at = m_by_x.find(Bytes(x.begin(), x.end()));
    return at == m_by_x.end() ? nullptr : &m_pairs[at->second];
}

Bytes ScriptWriter::Placeholder()
{
    Bytes out = m_random.Bytes(kPlaceholderSize);
    out[0] = 0xf5;
    return out;
}

Bytes ScriptWriter::PublicKey()
{
    const Keys::Pair& pair = m_keys.Any(m_random);
    Bytes key(pair.compressed.begin(), pair.compressed.end());
    if (m_version == SigVersion::kTapscript) {
        key.assign(pair.x_only.begin(), pair.x_only.end());
    } else if (m_random.Percent(12)) {
        key.assign(pair.uncompressed.begin(), pair.uncompressed.end());
        if (m_random.Percent(30)) key[0] = static_cast<uint8_t>(6 + (key[64] & 1)); // hybrid
    }
    if (m_random.Percent(3)) key[m_random.Below(key.size())] ^= 1;
    if (m_random.Percent(2)) key = m_random.Bytes(m_random.Of<size_t>({0, 1, 31, 32, 33, 34, 65}));
    return key;
}

void ScriptWriter::Push(ByteSpan data)
{
    if (m_random.Percent(98)) {
        AppendPush(m_out.script, data);
    } else if (data.size() <= 0xff) { // longer than needed
        m_out.script.insert(m_out.script.end(), {OP_PUSHDATA1, static_cast<uint8_t>(data.size())});
        Append(m_out.script, data);
    } else {
        m_out.script.insert(m_out.script.end(), {OP_PUSHDATA4, static_cast<uint8_t>(data.size()),
                                                 static_cast<uint8_t>(data.size() >> 8), 0, 0});
        Append(m_out.script, data);
    }
    ++m_depth;
}

void ScriptWriter::PushNumber(int64_t number)
{
    if (m_random.Percent(97)) {
        AppendPushInt(m_out.script, number);
        ++m_depth;
    } else {
        Push(EncodeScriptNum(number)); // 1..16 not by their opcodes
    }
}

void ScriptWriter::PushSomething()
{
    const size_t kind = m_random.Below(10);
    if (kind < 6) return PushNumber(static_cast<int64_t>(m_random.Below(20)) - 2);
    if (kind == 6) return PushNumber(static_cast<int64_t>(m_random.Bits() >> m_random.Below(64)));
    if (kind == 7) return Push(m_random.Bytes(m_random.Below(6)));
    Push(m_random.Bytes(m_random.Of<size_t>({20, 32, 33, 75, 76, 80, 255, 256, 520})));
}

void ScriptWriter::StackOperation()
{
    if (m_random.Percent(6)) { // PICK, ROLL
        PushNumber(static_cast<int64_t>(m_random.Below(m_depth + 2)));
        Op(m_random.Of<uint8_t>({OP_PICK, OP_ROLL}));
        return;
    }
    if (m_random.Percent(5) && m_depth > 0) {
        Op(OP_TOALTSTACK);
        Op(OP_FROMALTSTACK);
        return;
    }
    const StackEffect& chosen = m_random.Of<const StackEffect>(kOperations);
    while (m_depth < chosen.needs && m_random.Percent(97)) PushSomething();
    Op(chosen.op);
    m_depth = static_cast<size_t>(std::max<int64_t>(0, int64_t(m_depth) + chosen.change));
}

void ScriptWriter::Computation(size_t operations)
{
    for (size_t i = 0; i < operations; ++i) {
        const StackEffect& chosen = m_random.Of<const StackEffect>(kArithmetic);
        for (int n = 0; n < chosen.needs; ++n) {
            PushNumber(static_cast<int64_t>(m_random.Below(40)) - 8);
        }
        Op(chosen.op);
        m_depth = static_cast<size_t>(int64_t(m_depth) + chosen.change);
    }
}

void ScriptWriter::GiveSignature()
{
    const Bytes placeholder = m_random.Percent(94) ? Placeholder() : Bytes{};
    if (m_inline_signatures) {
        AppendPush(m_out.script, placeholder);
    } else {
        m_signatures.push_back(placeholder);
        Op(OP_FROMALTSTACK);
    }
    ++m_depth;
}

void ScriptWriter::Signature(bool with_verify)
{
    GiveSignature();
    Push(PublicKey());
    if (m_random.Percent(8)) Op(OP_CODESEPARATOR);
    Op(with_verify ? OP_CHECKSIGVERIFY : OP_CHECKSIG);
    m_depth -= with_verify ? 2 : 1;
}

void ScriptWriter::Multisig()
{
    const size_t keys = m_random.Percent(95) ? m_random.Below(5) : 15 + m_random.Below(7);
    const size_t sigs = m_random.Percent(95) ? m_random.Below(keys + 1) : keys + 1;
    const size_t before = m_depth;
    if (m_random.Percent(96)) {
        PushNumber(0);
    } else {
        PushSomething(); // BIP147
    }
    for (size_t i = 0; i < sigs; ++i) GiveSignature();
    PushNumber(static_cast<int64_t>(sigs));
    for (size_t i = 0; i < keys; ++i) Push(PublicKey());
    PushNumber(static_cast<int64_t>(keys));
    const bool verify = m_random.Percent(30);
    Op(verify ? OP_CHECKMULTISIGVERIFY : OP_CHECKMULTISIG);
    m_depth = before + (verify ? 0 : 1);
}

void ScriptWriter::SigAdd()
{
    const size_t count = 1 + m_random.Below(3);
    PushNumber(0);
    for (size_t i = 0; i < count; ++i) {
        GiveSignature();
        Op(OP_SWAP);
        Push(PublicKey());
        Op(OP_CHECKSIGADD);
        m_depth -= 2;
    }
    PushNumber(static_cast<int64_t>(m_random.Percent(80) ? count : count - 1));
    Op(m_random.Of<uint8_t>({OP_NUMEQUAL, OP_LESSTHANOREQUAL, OP_GREATERTHAN}));
    --m_depth;
}

void ScriptWriter::LockTime()
{
    const bool absolute = m_random.Percent(50);
    int64_t value = absolute ? m_lock_time : m_sequence;
    value += m_random.Of<int64_t>({0, 0, 0, -1, 1, -100, 1 << 22, 500'000'000});
    if (m_random.Percent(5)) value = -value;
    PushNumber(value);
    Op(absolute ? OP_CHECKLOCKTIMEVERIFY : OP_CHECKSEQUENCEVERIFY);
    if (m_random.Percent(95)) {
        Op(OP_DROP);
        --m_depth;
    }
}

void ScriptWriter::HashLock()
{
    const Bytes secret = m_random.Bytes(m_random.Below(40));
    Push(secret);
    switch (m_random.Below(4)) {
    case 0:
        Op(OP_SHA256);
        Push(Sha256Of(secret));
        break;
    case 1:
        Op(OP_HASH160);
        Push(Hash160(secret));
        break;
    case 2:
        Op(OP_SHA1);
        Push(Sha1Of(secret));
        break;
    default:
        Op(OP_HASH256);
        Push(Sha256d(secret));
        break;
    }
    const bool verify = m_random.Percent(70);
    Op(verify ? OP_EQUALVERIFY : OP_EQUAL);
    m_depth -= verify ? 2 : 1;
}

void ScriptWriter::Branch(int nesting)
{
    const bool chosen = m_random.Percent(60);
    if (m_random.Percent(92)) {
        AppendPushInt(m_out.script, chosen ? 1 : 0);
    } else {
        Push(m_random.Bytes(1 + m_random.Below(2))); // not minimal (BIP342)
        --m_depth;
    }
    Op(m_random.Percent(70) ? OP_IF : OP_NOTIF);
    const size_t before = m_depth;
    Piece(nesting + 1);
    const size_t after = m_depth;
    if (m_random.Percent(80)) {
        Op(OP_ELSE);
        m_depth = before;
        Piece(nesting + 1);
        while (m_depth > after) {
            Op(OP_DROP);
            --m_depth;
        }
        while (m_depth < after) PushNumber(1);
    }
    m_depth = after;
    if (m_random.Percent(98)) Op(OP_ENDIF);
}

void ScriptWriter::AnyByte()
{
    const uint8_t op = m_random.Byte();
    Op(op);
    // A push would consume the following bytes; give it bytes of its own, rarely too few.
    if (op >= 1 && op < OP_PUSHDATA1) {
        Append(m_out.script, m_random.Bytes(m_random.Percent(90) ? op : m_random.Below(op)));
        ++m_depth;
    }
}

/** Scripts around the limits on sizes and counts. */
void ScriptWriter::Limits()
{
    switch (m_random.Below(6)) {
    case 0: Push(m_random.Bytes(521)); break;
    case 1: m_out.script.insert(m_out.script.end(), 190 + m_random.Below(20), OP_NOP); break;
    case 2:
        m_out.script.insert(m_out.script.end(), 985 + m_random.Below(20), OP_1);
        m_depth += 990;
        break;
    case 3:
        for (size_t i = 0; i < 19; ++i) {
            Push(m_random.Bytes(520));
            Op(OP_DROP);
            --m_depth;
        }
        Push(m_random.Bytes(40 + m_random.Below(100)));
        break;
    case 4: // BIP342 budget: one signature checked again and again
        GiveSignature();
        Push(PublicKey());
        for (size_t i = m_random.Below(12); i > 0; --i) {
            Op(OP_2DUP);
            Op(OP_CHECKSIGVERIFY);
        }
        Op(OP_CHECKSIGVERIFY);
        m_depth -= 2;
        break;
    default: Op(m_random.Of<uint8_t>({80, 98, 126, 131, 137, 141, 149, 187, 254})); break;
    }
}

void ScriptWriter::Piece(int nesting)
{
    const size_t kind = m_random.Below(100);
    if (kind < 26) return Signature(m_random.Percent(60));
    if (kind < 36) {
        if (m_version == SigVersion::kTapscript && m_random.Percent(90)) return SigAdd();
        return Multisig();
    }
    if (kind < 45) return LockTime();
    if (kind < 52) return HashLock();
    if (kind < 62 && nesting < 4) return Branch(nesting);
    if (kind < 74) return Computation(1 + m_random.Below(4));
    if (kind < 90) {
        for (size_t n = 1 + m_random.Below(6); n > 0; --n) StackOperation();
        return;
    }
    if (kind < 96) return PushSomething();
    if (kind < 98) return AnyByte();
    Limits();
}

void ScriptWriter::Finish()
{
    while (m_depth >= 2 && m_random.Percent(97)) {
        Op(OP_2DROP);
        m_depth -= 2;
    }
    if (m_depth == 1 && m_random.Percent(90)) {
        Op(OP_DROP);
        m_depth = 0;
    }
    if (m_depth == 0 || m_random.Percent(80)) PushNumber(m_random.Percent(97) ? 1 : 0);
}

WrittenScript ScriptWriter::Write()
{
    m_inline_signatures = m_version == SigVersion::kBase && m_random.Percent(15);
    for (size_t pieces = 1 + m_random.Below(4); pieces > 0; --pieces) Piece(0);
    if (m_random.Percent(45)) {
        Finish();
    } else if (m_random.Percent(70)) {
        while (m_depth > 0) {
            Op(OP_DROP);
            --m_depth;
        }
        Signature(false);
    }
    // The signatures wait on the altstack, the first to be used on top.
    Bytes script(m_signatures.size(), OP_TOALTSTACK);
    Append(script, m_out.script);
    m_out.script = std::move(script);
    m_out.items = m_signatures;
    return std::move(m_out);
}

} // namespace ibd::differential

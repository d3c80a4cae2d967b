// See script.h.
#include "script/script.h"

#include "util/check.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

bool ScriptIterator::Next()
{
    m_start = m_end;
    m_data = {};
    if (m_failed || m_end >= m_script.size()) return false;
    m_op = m_script[m_end];
    size_t pos = m_end + 1;
    if (m_op <= OP_PUSHDATA4) {
        const size_t left = m_script.size() - pos;
        const uint8_t* p = m_script.data() + pos;
        size_t prefix = 0;
        uint64_t length = m_op;
        if (m_op >= OP_PUSHDATA1) {
            prefix = size_t{1} << (m_op - OP_PUSHDATA1);
            if (left >= prefix) {
                length = prefix == 1 ? *p : prefix == 2 ? ReadLE16(p) : ReadLE32(p);
            }
        }
        if (left < prefix || left - prefix < length) {
            m_failed = true;
            return false;
        }
        m_data = m_script.subspan(pos + prefix, length);
        pos += prefix + length;
    }
    m_end = pos;
    return true;
}

bool IsPushOnly(ByteSpan script)
{
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > OP_16) return false;
    }
    return !it.Failed();
}

unsigned CountSigOpsSimple(ByteSpan script, bool accurate)
{
    unsigned count = 0;
    uint8_t last = OP_INVALIDOPCODE;
    for (ScriptIterator it(script); it.Next(); last = it.Op()) {
        const uint8_t op = it.Op();
        if (op == OP_CHECKSIG || op == OP_CHECKSIGVERIFY) {
            ++count;
        } else if (op == OP_CHECKMULTISIG || op == OP_CHECKMULTISIGVERIFY) {
            const bool known = accurate && last >= OP_1 && last <= OP_16;
            count += known ? unsigned(last - OP_1 + 1) : unsigned(kMaxPubkeysPerMultisig);
        }
    }
    return count;
}

unsigned CountSigOps(ByteSpan script, bool accurate)
{
    // Speed matters: this runs for every script of every block. Nearly all are a few pushes and
    // operations.
    unsigned count = 0;
    uint8_t last = OP_INVALIDOPCODE;
    const uint8_t* p = script.data();
    const uint8_t* const end = p + script.size();
    while (p != end) {
        const uint8_t op = *p++;
        if (op <= OP_PUSHDATA4) {
            uint64_t length = op;
            if (op >= OP_PUSHDATA1) {
                const ptrdiff_t prefix = ptrdiff_t{1} << (op - OP_PUSHDATA1);
                if (end - p < prefix) break;
                length = prefix == 1 ? *p : prefix == 2 ? ReadLE16(p) : ReadLE32(p);
                p += prefix;
            }
            if (static_cast<uint64_t>(end - p) < length) break;
            p += length;
        } else if (op >= OP_CHECKSIG && op <= OP_CHECKMULTISIGVERIFY) {
            const bool single = op <= OP_CHECKSIGVERIFY;
            const bool known = accurate && last >= OP_1 && last <= OP_16;
            count += single ? 1u : known ? unsigned(last - OP_1 + 1) : kMaxPubkeysPerMultisig;
        }
        last = op;
    }
    return count;
}

unsigned CountP2shSigOps(ByteSpan script_pubkey, ByteSpan script_sig)
{
    if (!IsPayToScriptHash(script_pubkey)) return CountSigOps(script_pubkey, true);
    ByteSpan redeem;
    ScriptIterator it(script_sig);
    while (it.Next()) {
        if (it.Op() > OP_16) return 0;
        redeem = it.Data();
    }
    return it.Failed() ? 0 : CountSigOps(redeem, true);
}

std::optional<WitnessProgram> ParseWitnessProgram(ByteSpan script)
{
    if (script.size() < 4 || script.size() > 42) return {};
    const auto version = SmallInt(script[0]);
    if (!version || size_t{script[1]} + 2 != script.size()) return {};
    return WitnessProgram{*version, script.subspan(2)};
}

bool IsPayToScriptHash(ByteSpan script)
{
    return script.size() == 23 && script[0] == OP_HASH160 && script[1] == 20 &&
           script[22] == OP_EQUAL;
}

bool IsPayToAnchor(ByteSpan script)
{
    return script.size() == 4 && script[0] == OP_1 && script[1] == 2 && script[2] == 0x4e &&
           script[3] == 0x73;
}

bool IsMinimalPush(uint8_t op, ByteSpan data)
{
    if (data.empty()) return op == OP_0;
    if (data.size() == 1 && data[0] >= 1 && data[0] <= 16) return false; // OP_1..OP_16
    if (data.size() == 1 && data[0] == 0x81) return false;               // OP_1NEGATE
    if (data.size() < OP_PUSHDATA1) return op == data.size();
    if (data.size() <= 0xff) return op == OP_PUSHDATA1;
    if (data.size() <= 0xffff) return op == OP_PUSHDATA2;
    return true;
}

void AppendPush(Bytes& script, ByteSpan data)
{
    const size_t size = data.size();
    uint8_t prefix[5];
    size_t length = 1;
    if (size < OP_PUSHDATA1) {
        prefix[0] = static_cast<uint8_t>(size);
    } else if (size <= 0xff) {
        prefix[0] = OP_PUSHDATA1;
        prefix[1] = static_cast<uint8_t>(size);
        length = 2;
    } else if (size <= 0xffff) {
        prefix[0] = OP_PUSHDATA2;
        WriteLE16(prefix + 1, static_cast<uint16_t>(size));
        length = 3;
    } else {
        CHECK(size <= 0xffffffff);
        prefix[0] = OP_PUSHDATA4;
        WriteLE32(prefix + 1, static_cast<uint32_t>(size));
        length = 5;
    }
    script.insert(script.end(), prefix, prefix + length);
    Append(script, data);
}

void AppendPushInt(Bytes& script, int64_t value)
{
    if (value == 0) {
        script.push_back(OP_0);
    } else if (value == -1) {
        script.push_back(OP_1NEGATE);
    } else if (value >= 1 && value <= 16) {
        script.push_back(static_cast<uint8_t>(OP_1 + value - 1));
    } else {
        AppendPush(script, EncodeScriptNum(value));
    }
}

std::optional<int> SmallInt(uint8_t op)
{
    if (op == OP_0) return 0;
    if (op >= OP_1 && op <= OP_16) return op - OP_1 + 1;
    return {};
}

ScriptNum::ScriptNum(int64_t value)
{
    const bool negative = value < 0;
    uint64_t left = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    for (; left != 0; left >>= 8) m_bytes[m_size++] = static_cast<uint8_t>(left);
    if (m_size == 0) return;
    uint8_t& last = m_bytes[m_size - 1];
    if (last & 0x80) {
        m_bytes[m_size++] = negative ? 0x80 : 0x00;
    } else if (negative) {
        last |= 0x80;
    }
}

Bytes EncodeScriptNum(int64_t value)
{
    const ScriptNum number(value);
    const ByteSpan bytes = number;
    return Bytes(bytes.begin(), bytes.end());
}

std::optional<int64_t> DecodeScriptNum(ByteSpan bytes, bool require_minimal, size_t max_size)
{
    CHECK(max_size <= 8);
    const size_t size = bytes.size();
    if (size > max_size) return {};
    if (size == 0) return 0;
    if (require_minimal && (bytes[size - 1] & 0x7f) == 0) {
        // A last byte with only a sign bit is necessary if the byte before uses its top bit.
        if (size < 2 || (bytes[size - 2] & 0x80) == 0) return {};
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{bytes[i]} << (8 * i);
    const uint64_t sign = uint64_t{0x80} << (8 * (size - 1));
    if (value & sign) return -static_cast<int64_t>(value & ~sign);
    return static_cast<int64_t>(value);
}

bool ScriptBool(ByteSpan bytes)
{
    if (bytes.empty()) return false;
    const auto body = bytes.first(bytes.size() - 1);
    if (std::any_of(body.begin(), body.end(), [](uint8_t b) { return b != 0; })) return true;
    return bytes.back() != 0 && bytes.back() != 0x80;
}

} // namespace ibd

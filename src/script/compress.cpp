// See compress.h.
#include "script/compress.h"

#include "crypto/secp256k1.h"
#include "script/script.h"

namespace ibd {
namespace {

constexpr uint8_t kOpReturn = 0x6a, kOpDup = 0x76, kOpEqual = 0x87, kOpEqualVerify = 0x88;
constexpr uint8_t kOpHash160 = 0xa9, kOpCheckSig = 0xac;

// Type bytes. 2 and 3 are the prefix of a compressed key, 4 and 5 give the parity of y.
constexpr uint8_t kP2pkh = 0, kP2sh = 1, kUncompressedEven = 4;
constexpr uint64_t kSpecialTypes = 6;

bool IsP2pkh(ByteSpan s)
{
    return s.size() == 25 && s[0] == kOpDup && s[1] == kOpHash160 && s[2] == 20 &&
           s[23] == kOpEqualVerify && s[24] == kOpCheckSig;
}

bool IsP2sh(ByteSpan s)
{
    return s.size() == 23 && s[0] == kOpHash160 && s[1] == 20 && s[22] == kOpEqual;
}

bool IsCompressedP2pk(ByteSpan s)
{
    return s.size() == 35 && s[0] == 33 && (s[1] == 2 || s[1] == 3) && s[34] == kOpCheckSig;
}

/** Only a key on the curve can be restored from its x. */
bool IsUncompressedP2pk(ByteSpan s)
{
    return s.size() == 67 && s[0] == 65 && s[1] == 4 && s[66] == kOpCheckSig &&
           IsValidPublicKey(s.subspan(1, 65));
}

template <size_t Size>
uint8_t* PutTyped(uint8_t* to, uint8_t type, const uint8_t* payload)
{
    *to++ = type;
    std::memcpy(to, payload, Size);
    return to + Size;
}

uint8_t* PutCompressedScript(uint8_t* to, ByteSpan script)
{
    if (IsP2pkh(script)) return PutTyped<20>(to, kP2pkh, &script[3]);
    if (IsP2sh(script)) return PutTyped<20>(to, kP2sh, &script[2]);
    if (IsCompressedP2pk(script)) return PutTyped<32>(to, script[1], &script[2]);
    if (IsUncompressedP2pk(script)) {
        return PutTyped<32>(to, kUncompressedEven | (script[65] & 1), &script[2]);
    }
    to = PutVarInt(to, script.size() + kSpecialTypes);
    if (!script.empty()) std::memcpy(to, script.data(), script.size());
    return to + script.size();
}

void FillHashScript(ScriptBytes& script, uint8_t type, const uint8_t* hash)
{
    uint8_t* s = script.Reset(type == kP2pkh ? 25 : 23);
    if (type == kP2pkh) *s++ = kOpDup;
    *s++ = kOpHash160;
    *s++ = 20;
    std::memcpy(s, hash, 20);
    s += 20;
    *s++ = type == kP2pkh ? kOpEqualVerify : kOpEqual;
    if (type == kP2pkh) *s = kOpCheckSig;
}

bool FillKeyScript(ScriptBytes& script, uint8_t type, const uint8_t* x)
{
    CompressedKey key;
    key[0] = type < kUncompressedEven ? type : static_cast<uint8_t>(type - 2);
    std::memcpy(&key[1], x, 32);
    if (type < kUncompressedEven) {
        uint8_t* s = script.Reset(35);
        s[0] = 33;
        std::memcpy(s + 1, key.data(), 33);
        s[34] = kOpCheckSig;
        return true;
    }
    const auto full = DecompressPublicKey(key);
    if (!full) return false;
    uint8_t* s = script.Reset(67);
    s[0] = 65;
    std::memcpy(s + 1, full->data(), 65);
    s[66] = kOpCheckSig;
    return true;
}

} // namespace

// n = 10^e * m with e <= 9 and, below 9, m not a multiple of ten: the last digit d (1..9) of m and
// the rest r give 1 + 10 * (9r + d - 1) + e; at e = 9 it is 1 + 10 * (m - 1) + 9.
uint64_t CompressAmount(uint64_t amount)
{
    if (amount == 0) return 0;
    uint64_t exponent = 0;
    while (exponent < 9 && amount % 10 == 0) {
        amount /= 10;
        ++exponent;
    }
    if (exponent == 9) return 1 + (amount - 1) * 10 + 9;
    const uint64_t digit = amount % 10;
    return 1 + (amount / 10 * 9 + digit - 1) * 10 + exponent;
}

uint64_t DecompressAmount(uint64_t code)
{
    if (code == 0) return 0;
    --code;
    uint64_t exponent = code % 10;
    code /= 10;
    uint64_t amount = exponent < 9 ? code / 9 * 10 + code % 9 + 1 : code + 1;
    for (; exponent > 0; --exponent) amount *= 10;
    return amount;
}

void AppendCompressedScript(Bytes& out, ByteSpan script)
{
    const size_t at = out.size();
    out.resize(at + kVarIntRoom + script.size());
    out.resize(static_cast<size_t>(PutCompressedScript(&out[at], script) - out.data()));
}

std::optional<ByteSpan> ViewCompressedScript(Reader& in, ScriptBytes& space)
{
    const uint64_t code = in.VarInt();
    if (!in.Ok()) return std::nullopt;
    if (code < kSpecialTypes) {
        const uint8_t type = static_cast<uint8_t>(code);
        const ByteSpan payload = in.Span(type <= kP2sh ? 20 : 32);
        if (!in.Ok()) return std::nullopt;
        if (type <= kP2sh) {
            FillHashScript(space, type, payload.data());
        } else if (!FillKeyScript(space, type, payload.data())) {
            in.Fail();
            return std::nullopt;
        }
        return space;
    }
    const uint64_t size = code - kSpecialTypes;
    const ByteSpan raw = size <= in.Remaining() ? in.Span(size) : ByteSpan();
    if (raw.size() != size) in.Fail();
    if (!in.Ok()) return std::nullopt;
    return size > kMaxScriptSize ? ByteSpan(&kOpReturn, 1) : raw;
}

bool ReadCompressedScript(Reader& in, ScriptBytes& script)
{
    const std::optional<ByteSpan> read = ViewCompressedScript(in, script);
    if (read && read->data() != script.data()) script.Assign(*read);
    return read.has_value();
}

uint8_t* PutCompressedOutput(uint8_t* to, Amount value, ByteSpan script)
{
    return PutCompressedScript(PutVarInt(to, CompressAmount(static_cast<uint64_t>(value))), script);
}

void AppendCompressedOutput(Bytes& out, Amount value, ByteSpan script)
{
    const size_t at = out.size();
    out.resize(at + kCompressedOutputRoom + script.size());
    out.resize(static_cast<size_t>(PutCompressedOutput(&out[at], value, script) - out.data()));
}

bool ReadCompressedOutput(Reader& in, Amount& value, ScriptBytes& script)
{
    value = static_cast<Amount>(DecompressAmount(in.VarInt()));
    return in.Ok() && ReadCompressedScript(in, script);
}

} // namespace ibd

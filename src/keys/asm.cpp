// See asm.h.
#include "keys/asm.h"

#include "script/script.h"
#include "script/signature_encoding.h"
#include "util/hex.h"

namespace ibd {

namespace {

constexpr size_t kMaxNumberSize = 4; //!< longer pushes are data

std::string PushText(ByteSpan data, bool decode_hash_types)
{
    if (data.size() <= kMaxNumberSize) {
        return std::to_string(*DecodeScriptNum(data, /*require_minimal=*/false));
    }
    if (decode_hash_types && CheckSignatureEncoding(data, kVerifyStrictEnc) == ScriptError::kOk) {
        return ToHex(data.first(data.size() - 1)) + "[" + SigHashName(data.back()) + "]";
    }
    return ToHex(data);
}

} // namespace

std::string SigHashName(uint8_t type)
{
    static constexpr const char* kNames[] = {"", "ALL", "NONE", "SINGLE"};
    const uint8_t base = type & ~kSigHashAnyoneCanPay;
    if (base == 0 || base >= std::size(kNames)) return "";
    return std::string(kNames[base]) + (base != type ? "|ANYONECANPAY" : "");
}

std::string ScriptToAsm(ByteSpan script, bool decode_hash_types)
{
    // Data after OP_RETURN may look like a signature by chance.
    const bool decode = decode_hash_types && !IsUnspendable(script);
    std::string text;
    ScriptIterator it(script);
    while (it.Next()) {
        if (!text.empty()) text += " ";
        text += it.Op() <= OP_PUSHDATA4 ? PushText(it.Data(), decode) : OpcodeName(it.Op());
    }
    if (it.Failed()) text += text.empty() ? "[error]" : " [error]";
    return text;
}

} // namespace ibd

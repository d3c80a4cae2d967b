// See asm.h.
#include "script/asm.h"

#include "script/script.h"
#include "script/signature_encoding.h"
#include "util/hex.h"

namespace ibd {

namespace {

constexpr size_t kMaxNumberSize = 4; //!< longer pushes are data

std::string HashTypeName(uint8_t type)
{
    static constexpr const char* kNames[] = {"", "ALL", "NONE", "SINGLE"};
    std::string name = kNames[type & 3];
    if (type & 0x80) name += "|ANYONECANPAY";
    return name;
}

std::string PushText(ByteSpan data, bool decode_hash_types)
{
    if (data.size() <= kMaxNumberSize) {
        return std::to_string(*DecodeScriptNum(data, /*require_minimal=*/false));
    }
    if (decode_hash_types && CheckSignatureEncoding(data, kVerifyStrictEnc) == ScriptError::kOk) {
        return ToHex(data.first(data.size() - 1)) + "[" + HashTypeName(data.back()) + "]";
    }
    return ToHex(data);
}

} // namespace

std::string ScriptToAsm(ByteSpan script, bool decode_hash_types)
{
    // Data behind OP_RETURN may look like a signature by chance.
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

// Scripts as text and back: classification, asm, descriptors, addresses, and the text decoders on
// arbitrary characters. Decoded text must encode to the same script.
#include "keys/address.h"
#include "keys/asm.h"
#include "keys/base58.h"
#include "keys/bech32.h"
#include "keys/descriptor.h"
#include "script/script.h"
#include "util/check.h"

using namespace ibd;

namespace {

const AddressPrefixes kPrefixes{0, 5, "bc"};

void AsScript(ByteSpan script)
{
    CHECK(ScriptToAsm(script).size() >= script.size() / 600);
    ScriptToAsm(script, true);
    const std::string descriptor = InferDescriptor(script, kPrefixes);
    CHECK(descriptor.size() > 9 && descriptor[descriptor.size() - 9] == '#');
    CHECK(DescriptorChecksum(descriptor.substr(0, descriptor.size() - 9)) ==
          descriptor.substr(descriptor.size() - 8));
    if (const auto address = EncodeAddress(script, kPrefixes)) {
        const auto back = DecodeAddress(*address, kPrefixes);
        CHECK(back && std::equal(back->begin(), back->end(), script.begin(), script.end()));
    }
    CHECK(CountSigOps(script, true) <= CountSigOps(script, false));
}

void AsText(std::string_view text)
{
    if (const auto script = DecodeAddress(text, kPrefixes)) {
        const auto again = EncodeAddress(*script, kPrefixes);
        CHECK(again && DecodeAddress(*again, kPrefixes) == script);
    }
    if (const auto bytes = DecodeBase58(text, 200)) {
        CHECK(DecodeBase58(EncodeBase58(*bytes), 200) == bytes);
    }
    if (const auto decoded = DecodeBech32(text)) {
        const std::string again = EncodeBech32(decoded->kind, decoded->prefix, decoded->digits);
        CHECK(again.size() == text.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size > 2000) return 0; // base58 takes quadratic time
    AsScript({data, size});
    AsText({reinterpret_cast<const char*>(data), size});
    return 0;
}

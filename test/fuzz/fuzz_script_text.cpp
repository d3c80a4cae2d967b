// Scripts as text and back: classification, asm, descriptors, addresses, miniscript, and the text
// decoders on arbitrary characters. Decoded text must encode to the same script.
#include "keys/address.h"
#include "keys/asm.h"
#include "keys/base58.h"
#include "keys/bech32.h"
#include "keys/descriptor.h"
#include "keys/miniscript/satisfy.h"
#include "keys/miniscript/text.h"
#include "script/script.h"
#include "util/check.h"
#include "util/hex.h"

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

/** Has everything that a miniscript can need. */
class FullSource final : public miniscript::WitnessSource {
public:
    std::optional<Bytes> Sign(ByteSpan) override { return Bytes(64); }
    std::optional<Bytes> FindPreimage(miniscript::Fragment, ByteSpan) const override
    {
        return Bytes(32);
    }
    bool IsOlder(uint32_t) const override { return true; }
    bool IsAfter(uint32_t) const override { return true; }
};

void CheckText(std::string_view text, miniscript::Context context)
{
    std::vector<Bytes> keys;
    const auto root = miniscript::Parse(text, context, [&](std::string_view key) {
        keys.push_back(FromHex(key).value_or(Bytes()));
        return true;
    });
    if (!root) return;
    miniscript::FindFault(*root, context, miniscript::FirstEqual(keys));
    const auto print = [&](const miniscript::Node& node) {
        return ToText(node, context, [&](uint32_t key) { return "k" + std::to_string(key); });
    };
    const std::string canonical = print(*root);
    const auto any_key = [](std::string_view) { return true; };
    const auto again = miniscript::Parse(canonical, context, any_key);
    CHECK(again && print(*again) == canonical);
}

void AsMiniscript(ByteSpan script, miniscript::Context context)
{
    const auto no_key = [](const Hash20&) { return std::nullopt; };
    const auto read = miniscript::FromScript(script, context, no_key);
    if (!read) return;
    const Bytes again = ToScript(read->root, context, read->keys);
    CHECK(std::ranges::equal(again, script) && read->root.script_size == script.size());
    CheckText(ToText(read->root, context, [&](uint32_t key) { return ToHex(read->keys[key]); }),
              context);
    FullSource source;
    miniscript::Satisfy(*read, source);
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
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    AsText(text);
    for (const auto context : {miniscript::Context::kWsh, miniscript::Context::kTapscript}) {
        AsMiniscript({data, size}, context);
        CheckText(text, context);
    }
    return 0;
}

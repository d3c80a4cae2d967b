// See descriptor.h.
#include "keys/descriptor.h"
#include "crypto/secp256k1.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** One step of the checksum's polynomial over GF(32), BIP380. */
uint64_t Step(uint64_t c, uint64_t digit)
{
    static constexpr uint64_t kGenerator[] = {0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d,
                                              0x3706b1677a, 0x644d626ffd};
    const uint64_t top = c >> 35;
    c = (c & 0x7ffffffff) << 5 ^ digit;
    for (size_t i = 0; i < std::size(kGenerator); ++i) {
        if (top >> i & 1) c ^= kGenerator[i];
    }
    return c;
}

/** Hybrid keys (06, 07) are not allowed in descriptors. */
bool IsDescriptorKey(ByteSpan key) { return HasPubkeyShape(key) && key[0] <= 4; }

std::string Body(ByteSpan script, const AddressPrefixes& prefixes)
{
    const ScriptTemplate shape = ClassifyScript(script);
    if (shape.kind == ScriptKind::kPubkey && IsDescriptorKey(shape.parts[0])) {
        return "pk(" + ToHex(shape.parts[0]) + ")";
    }
    if (shape.kind == ScriptKind::kMultisig &&
        std::all_of(shape.parts.begin(), shape.parts.end(), IsDescriptorKey)) {
        std::string text = "multi(" + std::to_string(shape.required);
        for (const ByteSpan key : shape.parts) text += "," + ToHex(key);
        return text + ")";
    }
    if (shape.kind == ScriptKind::kTaproot) {
        XOnlyKey key;
        std::copy(shape.parts[0].begin(), shape.parts[0].end(), key.begin());
        if (IsValidXOnlyKey(key)) return "rawtr(" + ToHex(key) + ")";
    }
    if (const auto address = EncodeAddress(script, prefixes)) return "addr(" + *address + ")";
    return "raw(" + ToHex(script) + ")";
}

} // namespace

std::string DescriptorChecksum(std::string_view descriptor)
{
    // Characters in groups of 32, so that likely typing errors change only the low five bits.
    static constexpr std::string_view kInput = "0123456789()[],'/*abcdefgh@:$%{}"
                                               "IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~"
                                               "ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
    static constexpr std::string_view kOutput = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    uint64_t c = 1;
    uint64_t group = 0;
    int in_group = 0;
    for (const char character : descriptor) {
        const size_t at = kInput.find(character);
        if (at == std::string_view::npos) return {};
        c = Step(c, at & 31);
        group = group * 3 + (at >> 5);
        if (++in_group == 3) {
            c = Step(c, group);
            group = 0;
            in_group = 0;
        }
    }
    if (in_group > 0) c = Step(c, group);
    for (int i = 0; i < 8; ++i) c = Step(c, 0);
    c ^= 1;
    std::string checksum;
    for (int i = 0; i < 8; ++i) checksum.push_back(kOutput[c >> (5 * (7 - i)) & 31]);
    return checksum;
}

std::string InferDescriptor(ByteSpan script, const AddressPrefixes& prefixes)
{
    const std::string body = Body(script, prefixes);
    return body + "#" + DescriptorChecksum(body);
}

} // namespace ibd

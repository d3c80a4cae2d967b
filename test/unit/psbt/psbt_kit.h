// PSBTs for tests, built field by field from hex.
#pragma once

#include "psbt/codec.h"
#include "util/hex.h"

namespace ibd::test {

inline const std::string kPublicKey =
    "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

inline std::string Repeat(const std::string& text, size_t count)
{
    std::string out;
    for (size_t i = 0; i < count; ++i) out += text;
    return out;
}

/** "07" + key data and a value, each with its length, which must be below 253 bytes. */
inline std::string Field(const std::string& key, const std::string& value)
{
    const auto length = [](const std::string& hex) {
        return ToHex(Bytes{static_cast<uint8_t>(hex.size() / 2)});
    };
    return length(key) + key + length(value) + value;
}

/** A PSBT of one input and one output; further fields of each map can be given. */
struct PsbtText {
    uint32_t version = 0;
    std::string global;
    std::string input;
    std::string output;

    std::string Hex() const
    {
        const std::string txid = Repeat("11", 32);
        std::string out = "70736274ff";
        if (version == 0) {
            out += Field("00", "0200000001" + txid + "00000000" + "00" + "fdffffff" +
                                   "01e803000000000000" + "0151" + "07000000");
            return out + global + "00" + input + "00" + output + "00";
        }
        out += Field("02", "02000000") + Field("03", "07000000") + Field("04", "01") +
               Field("05", "01") + Field("fb", "02000000");
        return out + global + "00" + input + Field("0e", txid) + Field("0f", "00000000") + "00" +
               output + Field("03", "e803000000000000") + Field("04", "51") + "00";
    }
};

inline Result<Psbt> DecodeHex(const std::string& hex) { return DecodePsbt(*FromHex(hex)); }

} // namespace ibd::test

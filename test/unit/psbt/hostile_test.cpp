// PSBTs from others: each field twice, with a key or a value of another size, every bit flipped,
// every length truncated. Decoding fails, or its result has a stable encoding.
#include "psbt/combine.h"
#include "psbt/psbt_kit.h"
#include "support/must.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

const std::string kOrigin = "d34db33f2c00008001000000";
const std::string kX = Repeat("22", 32);
const std::string kKeys = kPublicKey + kPublicKey;

struct KnownField {
    std::string key;
    std::string value;
};

const std::vector<KnownField>& InputFields()
{
    static const std::vector<KnownField> fields = {
        {"01", "e80300000000000001"
               "51"},
        {"03", "81000000"},
        {"04", "aa"},
        {"05", "bb"},
        {"06" + kPublicKey, kOrigin},
        {"07", "51"},
        {"08", "020001aa"},
        {"0a" + Repeat("00", 20), "cc"},
        {"0b" + Repeat("00", 32), "dd"},
        {"0c" + Repeat("01", 20), "ee"},
        {"0d" + Repeat("01", 32), "ff"},
        {"13", Repeat("33", 64)},
        {"14" + kX + kX, Repeat("33", 65)},
        {"15c0" + kX, "51c0"},
        {"16" + kX, "01" + kX + kOrigin},
        {"17", kX},
        {"18", kX},
        {"1a" + kPublicKey, kKeys},
        {"1b" + kKeys, Repeat("44", 66)},
        {"1c" + kKeys + kX, Repeat("55", 32)},
    };
    return fields;
}

const std::vector<KnownField>& OutputFields()
{
    static const std::vector<KnownField> fields = {
        {"00", "aa"},
        {"01", "bb"},
        {"02" + kPublicKey, kOrigin},
        {"05", kX},
        {"06", "01c0"
               "0151"
               "01c0"
               "0152"},
        {"07" + kX, "00" + kOrigin},
        {"08" + kPublicKey, kKeys},
    };
    return fields;
}

/** A PSBT with the field in an input's or an output's map. */
std::string Hex(uint32_t version, bool is_input, const std::string& field)
{
    return PsbtText{version, "", is_input ? field : "", is_input ? "" : field}.Hex();
}

template <typename Check>
void ForEachField(Check check)
{
    for (const uint32_t version : {0U, 2U}) {
        for (const bool is_input : {true, false}) {
            for (const KnownField& field : is_input ? InputFields() : OutputFields()) {
                INFO(version << (is_input ? " input " : " output ") << field.key);
                check(version, is_input, field);
            }
        }
    }
}

/** A decoded PSBT can be encoded, and the encoded form is stable. */
bool FailsOrStays(const std::string& hex)
{
    const auto decoded = DecodeHex(hex);
    if (!decoded) return decoded.GetError().kind == Error::Kind::kBadData;
    const Bytes encoded = EncodePsbt(*decoded);
    const auto again = DecodePsbt(encoded);
    return again && EncodePsbt(*again) == encoded;
}

/** All fields that can stand together: fields made obsolete by an input's final scripts are not
 *  written. */
std::string Everything(uint32_t version)
{
    PsbtText text{version, "", "", ""};
    for (const KnownField& field : InputFields()) {
        if (field.key != "07" && field.key != "08") text.input += Field(field.key, field.value);
    }
    for (const KnownField& field : OutputFields()) text.output += Field(field.key, field.value);
    return text.Hex();
}

} // namespace

TEST_CASE("every field of a PSBT is refused when it comes twice", "[psbt]")
{
    ForEachField([](uint32_t version, bool is_input, const KnownField& field) {
        const std::string once = Field(field.key, field.value);
        CHECK(DecodeHex(Hex(version, is_input, once)));
        const auto twice = DecodeHex(Hex(version, is_input, once + once));
        REQUIRE_FALSE(twice);
        CHECK_THAT(twice.Message(), Catch::StartsWith("Duplicate Key"));
    });
}

TEST_CASE("every field of a PSBT is refused with a key of another size", "[psbt]")
{
    ForEachField([](uint32_t version, bool is_input, const KnownField& field) {
        const std::string longer = Field(field.key + "00", field.value);
        // A leaf's control block may be longer, by whole steps of the path.
        CHECK_FALSE(DecodeHex(Hex(version, is_input, longer)));
        if (field.key.size() == 2) return;
        const std::string shorter = Field(field.key.substr(0, field.key.size() - 2), field.value);
        CHECK_FALSE(DecodeHex(Hex(version, is_input, shorter)));
        CHECK_FALSE(DecodeHex(Hex(version, is_input, Field(field.key.substr(0, 2), field.value))));
    });
}

TEST_CASE("a value of a PSBT with a byte more or less is refused, or is another value", "[psbt]")
{
    ForEachField([](uint32_t version, bool is_input, const KnownField& field) {
        for (const std::string& value :
             {field.value + "00", field.value.substr(0, field.value.size() - 2), std::string()}) {
            const std::string hex = Hex(version, is_input, Field(field.key, value));
            INFO(value);
            const auto decoded = DecodeHex(hex);
            if (!decoded) continue;
            // No field is read and dropped, except an empty script, as in Core.
            const std::string encoded = ToHex(EncodePsbt(*decoded));
            const bool is_none = value.empty() && encoded == Hex(version, is_input, "");
            // Those of version 2 may come in another order.
            if (!is_none) CHECK(encoded.size() == hex.size());
            if (!is_none && version == 0) CHECK(encoded == hex);
        }
    });
}

TEST_CASE("every prefix of a PSBT with all fields is refused", "[psbt]")
{
    for (const uint32_t version : {0U, 2U}) {
        const std::string whole = Everything(version);
        REQUIRE(EncodePsbt(Must(DecodeHex(whole))).size() == whole.size() / 2);
        for (size_t size = 0; size < whole.size(); size += 2) {
            CHECK_FALSE(DecodeHex(whole.substr(0, size)));
        }
    }
}

TEST_CASE("a PSBT with any bit turned is refused, or stays what it is", "[psbt]")
{
    for (const uint32_t version : {0U, 2U}) {
        const Bytes whole = *FromHex(Everything(version));
        for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
            Bytes turned = whole;
            turned[bit / 8] = static_cast<uint8_t>(turned[bit / 8] ^ (1U << (bit % 8)));
            INFO(version << ", bit " << bit);
            CHECK(FailsOrStays(ToHex(turned)));
        }
    }
}

TEST_CASE("lengths beyond the end of a PSBT allocate nothing", "[psbt]")
{
    const std::string head = "70736274ff";
    for (const char* length :
         {"fd0100", "fe00000010", "ff0000000000000010", "ffffffffffffffffff", "feffffffff"}) {
        INFO(length);
        CHECK_FALSE(DecodeHex(head + length));
        CHECK_FALSE(DecodeHex(head + "0104" + length));
        CHECK_FALSE(DecodeHex(PsbtText{}.Hex().insert(10, std::string(length))));
    }
}

TEST_CASE("the combiner takes every field, in either order, once", "[psbt]")
{
    ForEachField([](uint32_t version, bool is_input, const KnownField& field) {
        const Psbt with = Must(DecodeHex(Hex(version, is_input, Field(field.key, field.value))));
        Psbt plain = Must(DecodeHex(Hex(version, is_input, "")));
        const Bytes want = EncodePsbt(with);
        // Core's combiner takes no hash type.
        if (is_input && field.key == "03") return;
        REQUIRE(CombinePsbt(plain, with));
        CHECK(EncodePsbt(plain) == want);
        Psbt first = with;
        REQUIRE(CombinePsbt(first, Must(DecodeHex(Hex(version, is_input, "")))));
        CHECK(EncodePsbt(first) == want);
        REQUIRE(CombinePsbt(first, with));
        CHECK(EncodePsbt(first) == want);
    });
}

} // namespace ibd::test

// The codec of PSBTs: round trips, the refused ones with their reasons, and Core's vectors.
#include "psbt/psbt_kit.h"
#include "support/must.h"
#include "support/testdata.h"
#include "util/base64.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

const std::string kOrigin = "d34db33f2c00008001000000"; // m/44h/1
const std::string kX = Repeat("22", 32);
const std::string kCoreVectors =
    "../core-functional/core/test/functional/data/rpc_psbt.json"; // seen from testdata

void CheckRoundTrip(const PsbtText& text)
{
    const std::string hex = text.Hex();
    INFO(hex);
    CHECK(ToHex(EncodePsbt(Must(DecodeHex(hex)))) == hex);
}

void CheckRefused(const std::string& hex, const std::string& why)
{
    INFO(hex);
    const auto decoded = DecodeHex(hex);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.Message() == why + ": iostream error");
}

} // namespace

TEST_CASE("fields of inputs are read and written the same", "[psbt]")
{
    const std::string keys = kPublicKey + kPublicKey;
    for (const uint32_t version : {0U, 2U}) {
        for (const std::string& fields :
             {std::string(),
              Field("01", "e80300000000000001"
                          "51"),
              Field("03", "81000000"), Field("04", "aa") + Field("05", "bb"),
              Field("06" + kPublicKey, kOrigin),
              Field("0a" + Repeat("00", 20), "cc") + Field("0b" + Repeat("00", 32), ""),
              Field("0c" + Repeat("01", 20), "") + Field("0d" + Repeat("01", 32), "dd"),
              Field("07", "51"), Field("08", "020001aa"), Field("13", Repeat("33", 64)),
              Field("14" + kX + kX, Repeat("33", 65)),
              Field("15"
                    "c0" +
                        kX,
                    "51c0"),
              Field("16" + kX, "01" + kX + kOrigin), Field("17", kX) + Field("18", kX),
              Field("1a" + kPublicKey, keys), Field("1b" + keys, Repeat("44", 66)),
              Field("1c" + keys + kX, Repeat("55", 32))}) {
            CheckRoundTrip({version, "", fields, ""});
        }
    }
    // Unknown fields come last, in the order of their keys.
    CheckRoundTrip({0, "",
                    Field("fc0161"
                          "0b"
                          "00",
                          "01") +
                        Field("09", "") + Field("f0aa", "cc"),
                    ""});
}

TEST_CASE("fields of outputs and of the whole are read and written the same", "[psbt]")
{
    for (const uint32_t version : {0U, 2U}) {
        for (const std::string& fields :
             {Field("00", "aa") + Field("01", "bb"), Field("02" + kPublicKey, kOrigin)}) {
            CheckRoundTrip({version, "", "", fields});
        }
    }
    CheckRoundTrip({0, "", "",
                    Field("05", kX) + Field("06", "01c0"
                                                  "0151"
                                                  "01c0"
                                                  "0152")});
    CheckRoundTrip({0, "", "", Field("07" + kX, "00" + kOrigin) + Field("08" + kPublicKey, "")});
    const std::string xpub = "043587cf"
                             "01"
                             "d34db33f"
                             "00000001" +
                             kX + kPublicKey;
    CheckRoundTrip({0,
                    Field("01" + xpub, kOrigin) +
                        Field("fc00"
                              "05",
                              "01") +
                        Field("0a", "00"),
                    "", ""});
    CheckRoundTrip({2, Field("aa", "00"), "", ""});
}

TEST_CASE("a field that came twice, broken or in the wrong version is refused", "[psbt]")
{
    const std::string utxo = Field("03", "01000000");
    const struct {
        PsbtText text;
        const char* why;
    } cases[] = {
        {{0, "", utxo + utxo, ""}, "Duplicate Key, input key \"03\" already provided"},
        {{0, "", Field("0300", "01000000"), ""},
         "Size of key was not 1 for the type Input Sighash Type"},
        {{0, "", Field("03", "0100000000"), ""}, "Size of value was not the stated size"},
        {{0, "", Field("0f", "00000000"), ""}, "Previous output's index is not allowed in PSBTv0"},
        {{0, "", "", Field("03", "e803000000000000")}, "Output amount is not allowed in PSBTv0"},
        {{0, Field("02", "02000000"), "", ""}, "PSBT_GLOBAL_TX_VERSION is not allowed in PSBTv0"},
        {{0, Field("fb", "01000000"), "", ""}, "There is no PSBT version 1"},
        {{0, Field("fb", "03000000"), "", ""}, "Unsupported version number"},
        {{2, "", Field("11", "ff64cd1d") + Field("12", "00000000"), ""},
         "Required time based locktime is invalid (less than 500000000)"},
        {{2, "", Field("12", "0065cd1d"), ""},
         "Required height based locktime is invalid (greater than or equal to 500000000)"},
        {{2, "", Field("12", "00000000"), ""}, "Required height based locktime is invalid (0)"},
        {{0, "", Field("02" + kPublicKey, "aa"), ""}, "Signature is not a valid encoding"},
        {{0, "", Field("06" + Repeat("05", 33), kOrigin), ""}, "Invalid pubkey"},
        {{0, "", Field("06" + kPublicKey, "d34db33f2c"), ""}, "Invalid length for HD key path"},
        {{0, "", Field("13", Repeat("33", 63)), ""},
         "Input Taproot key path signature is shorter than 64 bytes"},
        {{0, "",
          Field("15"
                "c0" +
                    kX,
                ""),
          ""},
         "Input Taproot leaf script must be at least 1 byte"},
        {{0, "", "",
          Field("06", "01c0"
                      "0151")},
         "Output Taproot tree is malformed"},
        {{0, "", "",
          Field("06", "00c1"
                      "0151")},
         "Output Taproot tree has a leaf with an invalid leaf version"},
        {{0, "", "", Field("08" + kPublicKey, "02")},
         "Output musig2 participants pubkeys value size is not a multiple of 33"},
    };
    for (const auto& one : cases) CheckRefused(one.text.Hex(), one.why);
}

TEST_CASE("PSBTs that end too soon or too late are refused", "[psbt]")
{
    const std::string whole = PsbtText{0, "", Field("04", "aa"), ""}.Hex();
    for (size_t size = 0; size < whole.size(); size += 2) {
        CHECK_FALSE(DecodeHex(whole.substr(0, size)));
    }
    const auto longer = DecodeHex(whole + "00");
    REQUIRE_FALSE(longer);
    CHECK(longer.Message() == "extra data after PSBT");
    CheckRefused("70736275ff", "Invalid PSBT magic bytes");
    CheckRefused("70736274ff"
                 "00",
                 "No unsigned transaction was provided");
    // A count without its data allocates nothing.
    const std::string counts = Field("04", "feffffff01") + Field("05", "01");
    CheckRefused("70736274ff" + Field("02", "02000000") + counts + Field("fb", "02000000") + "00",
                 "Inputs provided does not match the number of inputs in transaction.");
}

TEST_CASE("lock times that inputs ask for", "[psbt]")
{
    Psbt psbt;
    psbt.fallback_lock_time = 5;
    const auto ask = [&](std::optional<uint32_t> time, std::optional<uint32_t> height) {
        psbt.inputs.emplace_back();
        psbt.inputs.back().time_lock = time;
        psbt.inputs.back().height_lock = height;
        return psbt.LockTime();
    };
    CHECK(psbt.LockTime() == 5U);
    CHECK(ask({}, {}) == 5U);
    CHECK(ask(600'000'000, 100) == 100U); // a height will do
    CHECK(ask(700'000'000, 90) == 100U);
    CHECK(ask(650'000'000, {}) == 700'000'000U); // it will not
    CHECK_FALSE(ask({}, 120));
    CHECK_FALSE(psbt.UnsignedTx());
}

TEST_CASE("Core's vectors of PSBTs", "[psbt]")
{
    const auto path = TestData(kCoreVectors);
    if (!path) return;
    const UniValue vectors = ReadTestJson(*path);
    const auto decode = [](const UniValue& text) {
        const auto bytes = FromBase64(text.get_str());
        return bytes ? DecodePsbt(*bytes) : Result<Psbt>(BadData("invalid base64"));
    };
    for (const UniValue& text : vectors["valid"].getValues()) {
        const Bytes encoded = EncodePsbt(Must(decode(text)));
        CHECK(EncodePsbt(Must(DecodePsbt(encoded))) == encoded);
    }
    for (const UniValue& text : vectors["invalid"].getValues()) CHECK_FALSE(decode(text));
    for (const UniValue& entry : vectors["invalid_with_msg"].getValues()) {
        const auto decoded = decode(entry[0]);
        REQUIRE_FALSE(decoded);
        CHECK(decoded.Message().find(entry[1].get_str()) != std::string::npos);
    }
}

} // namespace ibd::test

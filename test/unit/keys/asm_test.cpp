// Scripts as RPC answers show them (asm, type, address, desc) against answers that Core gave.
#include "keys/address.h"
#include "keys/asm.h"
#include "keys/descriptor.h"
#include "script/signature_encoding.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>

#include "support/catch.h"

using namespace ibd;

namespace {

const AddressPrefixes kMain{0, 5, "bc"};
const AddressPrefixes kRegtest{111, 196, "bcrt"};

/** Compares one scriptPubKey object, whose script is `script`. */
void CheckScriptObject(ByteSpan script, const UniValue& object, const AddressPrefixes& prefixes)
{
    INFO(ToHex(script));
    CHECK(ScriptToAsm(script) == object["asm"].get_str());
    CHECK(ScriptKindName(ClassifyScript(script).kind) == object["type"].get_str());
    CHECK(InferDescriptor(script, prefixes) == object["desc"].get_str());
    const auto address = EncodeAddress(script, prefixes);
    CHECK(address.has_value() == object.exists("address"));
    if (address && object.exists("address")) CHECK(*address == object["address"].get_str());
}

std::string Asm(const std::string& hex, bool decode = true)
{
    return ScriptToAsm(*FromHex(hex), decode);
}

} // namespace

TEST_CASE("decodescript answers")
{
    const auto path = test::TestData("core/rpc_decodescript.json");
    if (!path) return;
    const UniValue cases = test::ReadTestJson(*path);
    size_t objects = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        const UniValue& answer = cases[i][1];
        CheckScriptObject(*FromHex(cases[i][0].get_str()), answer, kRegtest);
        ++objects;
        if (!answer.exists("segwit")) continue;
        const UniValue& segwit = answer["segwit"];
        CheckScriptObject(*FromHex(segwit["hex"].get_str()), segwit, kRegtest);
        ++objects;
    }
    std::cerr << "decodescript: " << objects << " script objects"
              << "\n";
    CHECK(objects >= 11);
}

TEST_CASE("getblock answers of Core")
{
    const auto path = test::TestData("golden_mainnet14131/golden.json");
    if (!path) return;
    const UniValue golden = test::ReadTestJson(*path);
    int outputs = 0, inputs = 0;
    for (const char* name : {"getblock_170_verbosity_2", "getblock_170_verbosity_3"}) {
        const UniValue& txs = golden[name]["tx"];
        for (size_t t = 0; t < txs.size(); ++t) {
            const UniValue& vout = txs[t]["vout"];
            for (size_t o = 0; o < vout.size(); ++o, ++outputs) {
                const UniValue& object = vout[o]["scriptPubKey"];
                CheckScriptObject(*FromHex(object["hex"].get_str()), object, kMain);
            }
            const UniValue& vin = txs[t]["vin"];
            for (size_t n = 0; n < vin.size(); ++n) {
                if (!vin[n].exists("scriptSig")) continue;
                const UniValue& sig = vin[n]["scriptSig"];
                CHECK(Asm(sig["hex"].get_str()) == sig["asm"].get_str());
                ++inputs;
            }
        }
    }
    std::cerr << "getblock: " << outputs << " outputs, " << inputs << " inputs"
              << "\n";
    CHECK(outputs == 6);
    CHECK(inputs == 2);
}

TEST_CASE("numbers, names and broken pushes in asm")
{
    CHECK(Asm("") == "");
    CHECK(Asm("00") == "0");
    CHECK(Asm("4f5160") == "-1 1 16");
    CHECK(Asm("0101") == "1");
    CHECK(Asm("0180") == "0"); // minus zero
    CHECK(Asm("04ffffffff") == "-2147483647");
    CHECK(Asm("04ffffff7f") == "2147483647");
    CHECK(Asm("050000000000") == "0000000000");
    CHECK(Asm("4c0102") == "2");
    CHECK(Asm("76a9bafeff") == "OP_DUP OP_HASH160 OP_CHECKSIGADD OP_UNKNOWN OP_INVALIDOPCODE");
    CHECK(Asm("51024e") == "1 [error]");
    CHECK(Asm("4c") == "[error]");
}

TEST_CASE("hash types are named where a signature is likely")
{
    const std::string der = "3006020101020101"; // r = s = 1
    const struct {
        const char* type;
        const char* shown;
    } kCases[] = {{"01", "[ALL]"},
                  {"02", "[NONE]"},
                  {"03", "[SINGLE]"},
                  {"81", "[ALL|ANYONECANPAY]"},
                  {"82", "[NONE|ANYONECANPAY]"},
                  {"83", "[SINGLE|ANYONECANPAY]"}};
    for (const auto& c : kCases) {
        CHECK(Asm("09" + der + c.type) == der + c.shown);
        CHECK(Asm("09" + der + c.type, false) == der + c.type);
        CHECK(Asm("6a09" + der + c.type) == "OP_RETURN " + der + c.type);
    }
    for (const char* type : {"00", "04", "80", "84", "41"}) {
        CHECK(Asm("09" + der + type) == der + type);
    }
    CHECK(Asm("09300602018102010101") == "300602018102010101"); // negative r
}

TEST_CASE("strict DER, byte by byte")
{
    const Bytes good = *FromHex("300602010102010101");
    REQUIRE(IsStrictDer(good));
    // Any other value of a tag or length byte breaks the shape.
    for (const size_t at : {0, 1, 2, 3, 5, 6}) {
        for (int v = 0; v < 256; ++v) {
            Bytes bad = good;
            if (bad[at] == v) continue;
            bad[at] = static_cast<uint8_t>(v);
            CHECK_FALSE(IsStrictDer(bad));
        }
    }
    for (size_t size = 0; size < good.size(); ++size) {
        CHECK_FALSE(IsStrictDer(ByteSpan(good).first(size)));
    }
    CHECK(IsStrictDer(*FromHex("30070202008102010101")));
    CHECK_FALSE(IsStrictDer(*FromHex("30070202007f02010101"))); // needless zero
    CHECK_FALSE(IsStrictDer(*FromHex("30050200020101"
                                     "0101")));
    // 73 bytes at most.
    const std::string number = "0221"
                               "00"
                               "ff" +
                               std::string(62, '1');
    CHECK(IsStrictDer(*FromHex("3046" + number + number + "01")));
    const std::string longer = "0222"
                               "00"
                               "ff" +
                               std::string(64, '1');
    CHECK_FALSE(IsStrictDer(*FromHex("3047" + number + longer + "01")));
}

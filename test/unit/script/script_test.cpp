// Reading scripts, counting operations, shapes and numbers, against plain definitions.
#include "script/script.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <limits>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

Bytes Hex(const std::string& text) { return *FromHex(text); }

} // namespace

TEST_CASE("every truncated push ends the walk as a failure")
{
    for (const char* bad : {"01", "4c", "4c01", "4d", "4d01", "4d0100", "4d0200ff", "4e",
                            "4e010000", "4e01000000", "4effffffff00", "51054444"}) {
        const Bytes script = Hex(bad);
        ScriptIterator it(script);
        while (it.Next()) {
        }
        CAPTURE(bad);
        CHECK(it.Failed());
        CHECK(!it.Next());
        CHECK(!IsPushOnly(script));
    }
    const Bytes good = Hex("004c0155"
                           "4d020066774e0100000088"
                           "5160"
                           "61");
    ScriptIterator it(good);
    std::string seen;
    while (it.Next()) seen += std::to_string(it.Op()) + ":" + ToHex(it.Data()) + " ";
    CHECK(!it.Failed());
    CHECK(seen == "0: 76:55 77:6677 78:88 81: 96: 97: ");
    CHECK(it.End() == good.size());
    CHECK(IsPushOnly(ByteSpan(good).first(good.size() - 1)));
    CHECK(!IsPushOnly(good));
}

TEST_CASE("any bytes are walked without leaving them")
{
    for (int round = 0; round < 20000; ++round) {
        const Bytes script = RandomBytes(TestRng()() % 60);
        ScriptIterator it(script);
        size_t end = 0;
        while (it.Next()) {
            REQUIRE(it.Start() == end);
            REQUIRE(it.End() > end);
            end = it.End();
            REQUIRE(it.End() <= script.size());
            if (!it.Data().empty()) {
                REQUIRE(it.Data().data() + it.Data().size() == script.data() + it.End());
            }
        }
        REQUIRE(it.Failed() == (end != script.size()));
        CountSigOps(script, true);
    }
}

TEST_CASE("signature operations in one script")
{
    CHECK(CountSigOps(Hex("acadaeaf"), false) == 42);
    CHECK(CountSigOps(Hex("53ae"), true) == 3);
    CHECK(CountSigOps(Hex("60af"), true) == 16);
    CHECK(CountSigOps(Hex("00ae"), true) == 20);   // OP_0 is no count
    CHECK(CountSigOps(Hex("0111ae"), true) == 20); // nor is a pushed number
    CHECK(CountSigOps(Hex("5361ae"), true) == 20); // nor one that is not just before
    CHECK(CountSigOps(Hex("ba"), true) == 0);
    CHECK(CountSigOps(Hex("ac05acac"), false) == 1); // stops at the broken push
    CHECK(CountSigOps(Hex("02acacac"), false) == 1); // data is no operation
    const Bytes p2sh = Hex("a914" + std::string(40, '0') + "87");
    CHECK(CountP2shSigOps(p2sh, Hex("0253ae61")) == 0);
    CHECK(CountP2shSigOps(p2sh, Hex("0253ae")) == 3);
    CHECK(CountP2shSigOps(p2sh, Hex("0253ae51")) == 0); // OP_1 was last and pushed no bytes
    CHECK(CountP2shSigOps(p2sh, {}) == 0);
    CHECK(CountP2shSigOps(Hex("53ae"), Hex("01ac")) == 3);
}

TEST_CASE("shapes of outputs, exact to the byte")
{
    const std::string h20(40, '7');
    struct Shape {
        std::string script;
        bool (*is)(ByteSpan);
    };
    const Shape shapes[] = {{"a914" + h20 + "87", IsPayToScriptHash}, {"51024e73", IsPayToAnchor}};
    for (const Shape& shape : shapes) {
        const Bytes script = Hex(shape.script);
        CAPTURE(shape.script);
        CHECK(shape.is(script));
        CHECK(!shape.is(ByteSpan(script).first(script.size() - 1)));
        Bytes longer = script;
        longer.push_back(0);
        CHECK(!shape.is(longer));
        for (const size_t at : {size_t{0}, size_t{1}}) {
            Bytes changed = script;
            changed[at] ^= 0x20;
            CHECK(!shape.is(changed));
        }
        for (const Shape& other : shapes) {
            if (&other != &shape) CHECK(!other.is(script));
        }
    }
    CHECK(ParseWitnessProgram(Hex("6002aabb"))->version == 16);
    CHECK(ToHex(ParseWitnessProgram(Hex("6002aabb"))->program) == "aabb");
    CHECK(!ParseWitnessProgram(Hex("5101aa")));
    CHECK(!ParseWitnessProgram(Hex("6102aabb")));
    CHECK(!ParseWitnessProgram(Hex("4f02aabb")));
    CHECK(!ParseWitnessProgram(Hex("5103aabb")));
    CHECK(!ParseWitnessProgram(Hex("514c02aabb")));
    CHECK(ParseWitnessProgram(Hex("5128" + std::string(80, '0'))));
    CHECK(!ParseWitnessProgram(Hex("5129" + std::string(82, '0'))));
}

TEST_CASE("pushes are minimal and read back")
{
    for (const size_t size : {0, 1, 2, 75, 76, 255, 256, 65535, 65536, 70000}) {
        const Bytes data = size == 1 ? Bytes{0x99} : RandomBytes(size);
        Bytes script;
        AppendPush(script, data);
        ScriptIterator it(script);
        REQUIRE(it.Next());
        CHECK(Bytes(it.Data().begin(), it.Data().end()) == data);
        CHECK(IsMinimalPush(it.Op(), it.Data()));
        CHECK(!it.Next());
        CHECK(!it.Failed());
    }
    CHECK(!IsMinimalPush(1, Hex("01")));
    CHECK(!IsMinimalPush(1, Hex("81")));
    CHECK(IsMinimalPush(1, Hex("11")));
    CHECK(!IsMinimalPush(OP_PUSHDATA1, Hex("1122")));
    CHECK(!IsMinimalPush(OP_PUSHDATA2, Bytes(255, 3)));
    CHECK(!IsMinimalPush(OP_PUSHDATA4, Bytes(256, 3)));
    CHECK(!IsMinimalPush(OP_PUSHDATA1, {}));
    for (int64_t n = -2; n <= 17; ++n) {
        Bytes script;
        AppendPushInt(script, n);
        const bool small = n >= -1 && n <= 16;
        CHECK(script.size() == (small ? 1U : 2U));
        if (n >= 0 && small) CHECK(SmallInt(script[0]) == n);
    }
    CHECK(!SmallInt(OP_1NEGATE));
    CHECK(!SmallInt(OP_NOP));
}

TEST_CASE("script numbers")
{
    const std::pair<int64_t, const char*> known[] = {{0, ""},
                                                     {1, "01"},
                                                     {-1, "81"},
                                                     {127, "7f"},
                                                     {-127, "ff"},
                                                     {128, "8000"},
                                                     {-128, "8080"},
                                                     {255, "ff00"},
                                                     {256, "0001"},
                                                     {-255, "ff80"},
                                                     {32767, "ff7f"},
                                                     {32768, "008000"},
                                                     {500000, "20a107"},
                                                     {2147483647, "ffffff7f"},
                                                     {-2147483647, "ffffffff"},
                                                     {2147483648, "0000008000"}};
    for (const auto& [value, hex] : known) {
        CAPTURE(value);
        CHECK(ToHex(EncodeScriptNum(value)) == hex);
        CHECK(DecodeScriptNum(Hex(hex), true, 5) == value);
    }
    CHECK(!DecodeScriptNum(Hex("0000008000"), true));
    for (const char* padded : {"00", "80", "0100", "0180", "ff7f00", "7f80"}) {
        CHECK(!DecodeScriptNum(Hex(padded), true));
        CHECK(DecodeScriptNum(Hex(padded), false));
    }
    CHECK(DecodeScriptNum(Hex("80"), false) == 0);
    CHECK(DecodeScriptNum(Hex("7f80"), false) == -127);
    for (int i = 0; i < 10000; ++i) {
        const auto value = static_cast<int64_t>(TestRng()()) >> (TestRng()() % 60 + 2);
        const Bytes bytes = EncodeScriptNum(value);
        REQUIRE(DecodeScriptNum(bytes, true, 8) == value);
    }
    CHECK(EncodeScriptNum(std::numeric_limits<int64_t>::min()).size() == 9);
    CHECK(!ScriptBool({}));
    CHECK(!ScriptBool(Hex("0000")));
    CHECK(!ScriptBool(Hex("0080")));
    CHECK(ScriptBool(Hex("8000")));
    CHECK(ScriptBool(Hex("01")));
}

TEST_CASE("names of opcodes")
{
    CHECK(OpcodeName(OP_0) == "0");
    CHECK(OpcodeName(OP_1NEGATE) == "-1");
    CHECK(OpcodeName(OP_16) == "16");
    CHECK(OpcodeName(OP_NOP) == "OP_NOP");
    CHECK(OpcodeName(OP_RETURN) == "OP_RETURN");
    CHECK(OpcodeName(OP_EQUALVERIFY) == "OP_EQUALVERIFY");
    CHECK(OpcodeName(OP_WITHIN) == "OP_WITHIN");
    CHECK(OpcodeName(OP_HASH160) == "OP_HASH160");
    CHECK(OpcodeName(OP_CHECKMULTISIGVERIFY) == "OP_CHECKMULTISIGVERIFY");
    CHECK(OpcodeName(OP_CHECKLOCKTIMEVERIFY) == "OP_CHECKLOCKTIMEVERIFY");
    CHECK(OpcodeName(OP_NOP10) == "OP_NOP10");
    CHECK(OpcodeName(OP_CHECKSIGADD) == "OP_CHECKSIGADD");
    CHECK(OpcodeName(0xbb) == "OP_UNKNOWN");
    CHECK(OpcodeName(0x05) == "OP_UNKNOWN");
    CHECK(OpcodeName(0xff) == "OP_INVALIDOPCODE");
    int successes = 0;
    for (int op = 0; op < 256; ++op) successes += IsOpSuccess(static_cast<uint8_t>(op)) ? 1 : 0;
    CHECK(successes == 87); // BIP342
}

TEST_CASE("Signature operations: the fast count equals its plain reference")
{
    auto& rng = test::TestRng();
    for (int i = 0; i < 20'000; ++i) {
        Bytes script = test::RandomBytes(rng() % 40);
        // Mostly the operations that matter: pushes, small numbers, checks of signatures.
        for (uint8_t& byte : script) {
            if (rng() % 4 == 0) continue;
            const uint8_t kinds[] = {0xac, 0xad, 0xae, 0xaf, 0x51, 0x60,
                                     0x00, 0x01, 0x4c, 0x4d, 0x4e};
            byte = kinds[rng() % sizeof kinds];
        }
        for (const bool accurate : {false, true}) {
            REQUIRE(CountSigOps(script, accurate) == CountSigOpsSimple(script, accurate));
        }
    }
}

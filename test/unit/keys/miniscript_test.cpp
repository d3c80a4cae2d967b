#include "keys/miniscript/text.h"

#include "support/catch.h"
#include "util/hex.h"

#include <fmt/format.h>

using namespace ibd;

namespace {

const std::string kKey = "0250929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0";
const std::string kOther = "03" + kKey.substr(2);
const std::string kPush = "21" + kKey, kPushOther = "21" + kOther;
const std::string kHash(40, 'f'); // of 20 bytes

/** "-": none. */
std::string Inferred(const std::string& hex)
{
    return miniscript::TextOf(*FromHex(hex)).value_or("-");
}

} // namespace

// The texts are those of Core's decodescript; test/interop/test_core_miniscript.py has many more.
TEST_CASE("witness scripts are read as miniscript", "[miniscript]")
{
    CHECK(Inferred("00") == "0");
    CHECK(Inferred(kPush + "ac") == "pk(" + kKey + ")");
    CHECK(Inferred("82012088a914" + kHash + "88" + kPush + "ad51b2") ==
          "and_v(and_v(v:hash160(" + kHash + "),v:pk(" + kKey + ")),older(1))");
    CHECK(Inferred("51" + kPush + kPushOther + "52ae") ==
          "multi(1," + kKey + "," + kOther + ")");
    CHECK(Inferred(kPush + "ac7364" + kPushOther + "ad029000b268") ==
          "or_d(pk(" + kKey + "),and_v(v:pk(" + kOther + "),older(144)))");
    CHECK(Inferred("63" + kPush + "67" + kPushOther + "68ac") ==
          "c:or_i(pk_k(" + kKey + "),pk_k(" + kOther + "))");
    CHECK(Inferred(kPush + "ac7c" + kPushOther + "ac9352" + "87") ==
          "thresh(2,pk(" + kKey + "),s:pk(" + kOther + "))");
    CHECK(Inferred(kPush + "ad51") == "tv:pk(" + kKey + ")");
}

TEST_CASE("scripts near miniscripts are none", "[miniscript]")
{
    CHECK(Inferred("") == "-");
    CHECK(Inferred("51") == "-");                             // spent without a signature
    CHECK(Inferred("51b2") == "-");                           // likewise
    CHECK(Inferred(kPush + "ac69" + kPushOther + "ac") == "-"); // CHECKSIG VERIFY
    CHECK(Inferred(kPush + "ad" + kPush + "ac") == "-");      // a key twice
    CHECK(Inferred(kPush + "ad00b2") == "-");                 // no lock
    CHECK(Inferred(kPush + "ad0101b2") == "-");               // 1 as a push of a byte
    CHECK(Inferred(kPush + "ad050000000001b2") == "-");       // a number of five bytes
    CHECK(Inferred(kPush + "ac" + kPushOther) == "-");
    CHECK(Inferred("21") == "-"); // a push that is cut off
    CHECK(Inferred("2104" + kKey.substr(2) + "ac") == "-");
    CHECK(Inferred("76a914" + kHash + "88ac") == "-"); // the key is not known
    // Locks by height and by time together.
    CHECK(Inferred(kPush + "ad029000b26903010040b2") == "-");
}

TEST_CASE("operations, items and bytes of a miniscript are bounded", "[miniscript]")
{
    const auto chain = [](int keys) { // v:pk(), v:pk(), ..., pk()
        std::string out;
        for (int i = 0; i < keys; ++i) {
            out += fmt::format("2102{:064x}{}", i + 1, i + 1 < keys ? "ad" : "ac");
        }
        return out;
    };
    CHECK(Inferred(chain(2)).starts_with("and_v(v:pk("));
    CHECK(Inferred(chain(100)).starts_with("and_v("));
    CHECK(Inferred(chain(101)) == "-"); // witness items
    CHECK(Inferred(std::string(2 * 3'600, '5')) == "-");
    std::string nested;
    for (int i = 0; i < 500; ++i) nested += "92"; // 0NOTEQUAL
    CHECK(Inferred("00" + nested) == "-");
    CHECK(Inferred("00" + nested.substr(0, 2 * 201)) == std::string(201, 'n') + ":0");
    CHECK(Inferred("00" + nested.substr(0, 2 * 202)) == "-");
}

// Miniscript from text to script and back, and its faults. The texts and faults are those of Core;
// test/interop/test_core_miniscript.py has many more.
#include "keys/miniscript/script.h"
#include "keys/miniscript/text.h"

#include "support/catch.h"
#include "util/hex.h"
#include "util/strings.h"

#include <fmt/format.h>
#include <numeric>

using namespace ibd;
using namespace ibd::miniscript;

namespace {

/** Keys are A to Z: 33 or 32 equal bytes. */
Bytes KeyOf(char name, Context context)
{
    Bytes key(context == Context::kTapscript ? 32 : 33, static_cast<uint8_t>(name));
    if (context == Context::kWsh) key[0] = 2;
    return key;
}

struct Parsed {
    std::optional<Node> root;
    std::vector<Bytes> keys;
    std::string names;
};

Parsed ParsedText(std::string_view text, Context context)
{
    Parsed out;
    out.root = Parse(text, context, [&](std::string_view key) {
        if (key.size() != 1) return false;
        out.keys.push_back(KeyOf(key[0], context));
        out.names += key;
        return true;
    });
    return out;
}

std::string TextOfParsed(const Node& root, const std::string& names, Context context)
{
    return ToText(root, context, [&](uint32_t key) { return names.substr(key, 1); });
}

/** The script in hex; "-": the text is no miniscript. Reading the script gives the same script. */
std::string ScriptOf(std::string_view text, Context context = Context::kWsh)
{
    const Parsed parsed = ParsedText(text, context);
    if (!parsed.root) return "-";
    const Bytes script = ToScript(*parsed.root, context, parsed.keys);
    CHECK(script.size() == parsed.root->script_size);
    const auto find = [&](const Hash20& hash) -> std::optional<Bytes> {
        for (const Bytes& key : parsed.keys) {
            if (Hash160(key) == hash) return key;
        }
        return std::nullopt;
    };
    const auto read = FromScript(script, context, find);
    if (HasBasicType(*parsed.root) && parsed.root->type.Has("B")) {
        REQUIRE(read);
        CHECK(ToScript(read->root, context, read->keys) == script);
        CHECK(read->root.script_size == script.size());
    }
    return ToHex(script);
}

std::string FaultOf(std::string_view text, Context context = Context::kWsh)
{
    const Parsed parsed = ParsedText(text, context);
    REQUIRE(parsed.root);
    const FaultAt found = FindFault(*parsed.root, context, FirstEqual(parsed.keys));
    if (found.fault == Fault::kNone) return "";
    const char* const names[] = {"none",  "invalid",  "malleable", "unsigned",     "locks",
                                 "twice", "too much", "no truth",  "unsatisfiable"};
    return fmt::format("{}: {}", names[static_cast<int>(found.fault)],
                       TextOfParsed(*found.where, parsed.names, context));
}

/** A text inside so many n: wrappers. */
std::string Nested(size_t depth) { return std::string(depth, 'n') + ":pk(A)"; }

const std::string kA = ToHex(KeyOf('A', Context::kWsh));
const std::string kB = ToHex(KeyOf('B', Context::kWsh));
const std::string kX = ToHex(KeyOf('A', Context::kTapscript));
const std::string kY = ToHex(KeyOf('B', Context::kTapscript));
const std::string kHash(64, '1');

} // namespace

TEST_CASE("texts of miniscript give their scripts", "[miniscript]")
{
    CHECK(ScriptOf("pk(A)") == "21" + kA + "ac");
    CHECK(ScriptOf("c:pk_k(A)") == "21" + kA + "ac");
    CHECK(ScriptOf("and_v(v:pk(A),pk(B))") == "21" + kA + "ad21" + kB + "ac");
    CHECK(ScriptOf("and_v(v:older(1),pk(A))") == "51b26921" + kA + "ac");
    CHECK(ScriptOf("and_v(v:after(500000001),pk(A))") == "040165cd1db16921" + kA + "ac");
    CHECK(ScriptOf("thresh(2,pk(A),s:pk(B),sln:older(144))") ==
          "21" + kA + "ac7c21" + kB + "ac937c6300670290" + "00b292689352" + "87");
    CHECK(ScriptOf("andor(pk(A),older(1),pk(B))") == "21" + kA + "ac6421" + kB + "ac6751b268");
    CHECK(ScriptOf("and_n(pk(A),pk(B))") == "21" + kA + "ac64006721" + kB + "ac68");
    CHECK(ScriptOf("tv:pk(A)") == "21" + kA + "ad51");
    CHECK(ScriptOf("multi(1,A,B)") == "5121" + kA + "21" + kB + "52ae");
    CHECK(ScriptOf("v:multi(1,A,B)") == "5121" + kA + "21" + kB + "52af");
    CHECK(ScriptOf("and_b(pk(A),a:pk(B))") == "21" + kA + "ac6b21" + kB + "ac6c9a");
    CHECK(ScriptOf("and_v(v:sha256(" + kHash + "),pk(A))") ==
          "82012088a820" + kHash + "8821" + kA + "ac");
    CHECK(ScriptOf("jc:pk_k(A)") == "82926321" + kA + "ac68");
    CHECK(ScriptOf("or_d(pk(A),dv:older(1))").starts_with("21" + kA + "ac7364766351b26968"));
    CHECK(ScriptOf("multi_a(2,A,B)", Context::kTapscript) == "20" + kX + "ac20" + kY + "ba529c");
    CHECK(ScriptOf("and_v(v:pk(A),pkh(B))", Context::kTapscript).starts_with("20" + kX + "ad76a9"));
}

TEST_CASE("texts that are no miniscript", "[miniscript]")
{
    const std::vector<std::string_view> texts = Split(
        " 2 pk() pk(A pk(A)) pk(AB) pk(A)x foo(A) older(0) older(-1) older(2147483648) after(x) "
        "thresh(0,pk(A)) thresh(2,pk(A)) thresh(1) multi(2,A) multi(1,) multi(1,,A) multi(1,A "
        "multi_a(1,A) and_v(pk(A)) and_v(v:pk(A),pk(B) sha256(11) hash160(zz) x:pk(A) :pk(A) "
        "vv:pk(A) andor(pk(A),pk(B)) 1:pk(A) t:",
        ' ');
    for (const std::string_view text : texts) {
        INFO(text);
        CHECK(ScriptOf(text) == "-");
    }
    CHECK(ScriptOf("multi(1,A)", Context::kTapscript) == "-");
    CHECK(ScriptOf("older(2147483647)") != "-");
}

TEST_CASE("faults of a miniscript are found in the order of its script", "[miniscript]")
{
    CHECK(FaultOf("pk(A)").empty());
    CHECK(FaultOf("thresh(2,pk(A),s:pk(B),sln:older(144))").empty());
    CHECK(FaultOf("and_v(pk(A),pk(B))") == "invalid: and_v(pk(A),pk(B))");
    CHECK(FaultOf("or_b(pk(A),a:and_v(s:0,pk(B)))") == "invalid: s:0");
    CHECK(FaultOf("or_i(pk(A),or_i(1,1))") == "malleable: or_i(1,1)");
    CHECK(FaultOf("older(1)") == "unsigned: older(1)");
    CHECK(FaultOf("and_v(and_v(v:older(1),v:older(4194305)),pk(A))") ==
          "locks: and_v(v:older(1),v:older(4194305))");
    CHECK(FaultOf("and_v(v:pk(A),or_i(pk(B),and_v(v:pk(C),pk(B))))") ==
          "twice: or_i(pk(B),and_v(v:pk(C),pk(B)))");
    CHECK(FaultOf("or_i(pk(A),pk(A))") == "twice: or_i(pk(A),pk(A))");
    CHECK(FaultOf("multi(1,A,A)") == "twice: multi(1,A,A)");
    CHECK(FaultOf("v:pk(A)") == "no truth: v:pk(A)");
    CHECK(FaultOf("and_b(pk(A),a:0)") == "unsatisfiable: and_b(pk(A),a:0)");
    // In P2WSH any value may stand for true before IF, so d: leaves no exact 1.
    CHECK(FaultOf("and_v(v:pk(A),or_d(dv:older(1),pk(B)))").starts_with("invalid: "));
    CHECK(FaultOf("and_v(v:pk(A),or_d(dv:older(1),pk(B)))", Context::kTapscript).empty());
}

TEST_CASE("operations, stack items and depth of a miniscript are bounded", "[miniscript]")
{
    CHECK(FaultOf(Nested(200)).empty());
    CHECK(FaultOf(Nested(201)).starts_with("too much"));
    CHECK(FaultOf(Nested(999), Context::kTapscript).empty());
    CHECK(ScriptOf(Nested(1000), Context::kTapscript) == "-");
    CHECK(ScriptOf(Nested(300'000), Context::kTapscript) == "-");
    const Bytes deep(300'000, 0x92); // 0NOTEQUAL
    const auto no_key = [](const Hash20&) { return std::nullopt; };
    CHECK_FALSE(FromScript(deep, Context::kTapscript, no_key));
    Bytes sequence; // v:1, v:1, ..., which is no nesting
    for (int i = 0; i < 100'000; ++i) sequence.insert(sequence.end(), {0x51, 0x69});
    Append(sequence, *FromHex("20" + kX + "ac"));
    const auto read = FromScript(sequence, Context::kTapscript, no_key);
    REQUIRE(read);
    CHECK(ToScript(read->root, Context::kTapscript, read->keys) == sequence);
    std::string brackets;
    for (int i = 0; i < 100'000; ++i) brackets += "or_i(";
    CHECK(ScriptOf(brackets, Context::kTapscript) == "-");

    std::string too_long = "thresh(1"; // ends where no script could be so long
    for (int i = 0; i < 3'000'000; ++i) too_long += ",0";
    CHECK(ScriptOf(too_long + ")", Context::kTapscript) == "-");

    // Children that cannot be satisfied cost no time; the others are too many.
    std::string none = "thresh(1,pk(A)", all = none;
    for (int i = 0; i < 50'000; ++i) none += ",a:0";
    CHECK(FaultOf(none + ")", Context::kTapscript).empty());
    for (int i = 0; i < 5'000; ++i) all += ",s:pk(B)";
    const auto root = Parse(all + ")", Context::kTapscript, [](std::string_view) { return true; });
    REQUIRE(root);
    std::vector<uint32_t> different(5'001);
    std::iota(different.begin(), different.end(), 0);
    CHECK(FindFault(*root, Context::kTapscript, different).fault == Fault::kTooExpensive);
}

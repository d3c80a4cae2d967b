// Output descriptors: scripts of the BIPs' vectors, the canonical text, ranges, and refusals in
// Core's words.
#include "keys/descriptor.h"
#include "keys/output_descriptor.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;

namespace {

const DescriptorNetwork kMain{
    {0, 5, "bc"}, {{0x04, 0x88, 0xb2, 0x1e}, {0x04, 0x88, 0xad, 0xe4}}, 128};
const std::string kX = "a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd";
const std::string kKey = "03" + kX;
const std::string kLong =
    "04" + kX + "5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235";
const std::string kWif = "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1";
const std::string kHash = "9a1c78a507689f6f54b847ad1cef1e614ee23f1e";
const std::string kXprv =
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGt"
    "RBeJgk33yuGBxrMPHi";
const std::string kXpub =
    "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg"
    "7usUDFdp6W1EGMcet8";

std::vector<OutputDescriptor> ParseAll(const std::string& text)
{
    auto parsed = OutputDescriptor::Parse(text, kMain, false);
    INFO(text);
    if (!parsed) FAIL(parsed.Message());
    return std::move(parsed).Value();
}

OutputDescriptor Parse(const std::string& text)
{
    auto all = ParseAll(text);
    REQUIRE(all.size() == 1);
    return all[0];
}

std::vector<std::string> Scripts(const std::string& text, uint32_t index = 0)
{
    std::vector<std::string> out;
    const auto expanded = Parse(text).Expand(index);
    REQUIRE(expanded);
    for (const ExpandedScript& one : *expanded) out.push_back(ToHex(one.script));
    return out;
}

std::string Body(const std::string& text) { return text.substr(0, text.rfind('#')); }

std::string Refusal(const std::string& text, bool require_checksum = false)
{
    const auto parsed = OutputDescriptor::Parse(text, kMain, require_checksum);
    REQUIRE_FALSE(parsed);
    return parsed.Message();
}

using Hexes = std::vector<std::string>;

} // namespace

TEST_CASE("Descriptors: scripts of one key")
{
    CHECK(Scripts("pk(" + kKey + ")") == Hexes{"21" + kKey + "ac"});
    CHECK(Scripts("pkh(" + kKey + ")") == Hexes{"76a914" + kHash + "88ac"});
    CHECK(Scripts("wpkh(" + kWif + ")") == Hexes{"0014" + kHash});
    CHECK(Scripts("combo(" + kKey + ")") ==
          Hexes{"21" + kKey + "ac", "76a914" + kHash + "88ac", "0014" + kHash,
                "a91484ab21b1b2fd065d4504ff693d832434b6108d7b87"});
    CHECK(Scripts("combo(" + kLong + ")").size() == 2);
    CHECK(Scripts("sh(wpkh(" + kKey + "))") ==
          Hexes{"a91484ab21b1b2fd065d4504ff693d832434b6108d7b87"});
    CHECK(Scripts("tr(" + kX + ")") ==
          Hexes{"512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11"});
    CHECK(Scripts("rawtr(" + kX + ")") == Hexes{"5120" + kX});
    CHECK(Scripts("raw(deadbeef)") == Hexes{"deadbeef"});
    CHECK(Scripts("unused(" + kKey + ")").empty());
}

TEST_CASE("Descriptors: multisignature scripts")
{
    CHECK(Scripts("multi(1," + kKey + "," + kLong + ")") ==
          Hexes{"5121" + kKey + "41" + kLong + "52ae"});
    // Sorted by their bytes, for any given order.
    const std::string other = "02" + kX;
    CHECK(Scripts("sortedmulti(2," + kKey + "," + other + ")") ==
          Hexes{"5221" + other + "21" + kKey + "52ae"});
    CHECK(Scripts("sh(multi(1," + kKey + "))")[0].substr(0, 4) == "a914");
    CHECK(Scripts("wsh(multi(1," + kKey + "))")[0].substr(0, 4) == "0020");
}

TEST_CASE("Descriptors: a tree of scripts is the same with its branches exchanged")
{
    const std::string left = "pk(" + kX + ")";
    const std::string right = "multi_a(1," + kKey + ")";
    const std::string key = "tr(" + kX + ",";
    CHECK(Scripts(key + "{" + left + "," + right + "})") ==
          Scripts(key + "{" + right + "," + left + "})"));
    const std::string third =
        "pk(79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)";
    CHECK(Scripts(key + "{" + left + ",{" + right + "," + third + "}})") !=
          Scripts(key + "{{" + left + "," + right + "}," + third + "})"));
    const std::string text = key + "{" + left + ",{" + right + "," + left + "}})";
    CHECK(Body(Parse(text).ToString()) == text);
}

TEST_CASE("Descriptors: the canonical text has no secrets, and parses to the same scripts")
{
    const std::string text = "wsh(sortedmulti(1,[d34db33f/44'/0]" + kXprv + "/1h/*," + kWif + "))";
    const OutputDescriptor descriptor = Parse(text);
    CHECK(descriptor.HasPrivateKeys());
    CHECK(descriptor.IsRange());
    CHECK(descriptor.IsSolvable());
    // The last mark of a hardened step decides for all of that key.
    CHECK(Body(descriptor.ToString()) ==
          "wsh(sortedmulti(1,[d34db33f/44h/0]" + kXpub + "/1h/*," + kKey + "))");
    CHECK_FALSE(Parse(Body(descriptor.ToString())).Expand(0)); // hardened, and no secret
    const std::string open = "pkh(" + kXpub + "/0/*)";
    CHECK(Scripts(open, 5) == Scripts(Parse(open).ToString(), 5));
    CHECK(Scripts(open, 5) != Scripts(open, 6));
    CHECK_FALSE(Parse("addr(1111111111111111111114oLvT2)").IsSolvable());
}

TEST_CASE("Descriptors: an expanded script names its keys with their origin")
{
    const auto one = Parse("pkh([d34db33f/44h]" + kXpub + "/0/*)").Expand(3);
    REQUIRE(one);
    CHECK((*one)[0].descriptor.substr(0, 23) == "pkh([d34db33f/44h/0/3]0");
    const auto fixed = Parse("wpkh(" + kKey + ")").Expand(0);
    CHECK(Body((*fixed)[0].descriptor) == "wpkh([9a1c78a5]" + kKey + ")");
    const auto raw = Parse("raw(76a914" + kHash + "88ac)").Expand(0);
    CHECK((*raw)[0].descriptor.substr(0, 5) == "addr(");
    const std::string whole = (*fixed)[0].descriptor;
    CHECK(Parse(whole).ToString() == whole);
}

TEST_CASE("Descriptors: multipath steps give one descriptor each")
{
    const auto both = ParseAll("wpkh(" + kXpub + "/<0;1>/*)");
    REQUIRE(both.size() == 2);
    CHECK(Body(both[0].ToString()) == "wpkh(" + kXpub + "/0/*)");
    CHECK(Body(both[1].ToString()) == "wpkh(" + kXpub + "/1/*)");
    const auto mixed = ParseAll("sh(multi(1," + kKey + "," + kXpub + "/<4;5;6>))");
    CHECK(mixed.size() == 3);
    CHECK(Refusal("multi(1," + kXpub + "/<0;1>," + kXpub + "/<0;1;2>)") ==
          "multi(): Multipath derivation paths have mismatched lengths");
    CHECK(Refusal("pk(" + kXpub + "/<0;0>)") ==
          "pk(): Duplicated key path value 0 in multipath specifier");
    CHECK(Refusal("pk(" + kXpub + "/<0>)") ==
          "pk(): Multipath key path specifiers must have at least two items");
    CHECK(Refusal("pk(" + kXpub + "/<0;1>/<0;1>)") ==
          "pk(): Multiple multipath key path specifiers found");
}

TEST_CASE("Descriptors: checksums")
{
    const std::string good = Parse("raw(deadbeef)").ToString();
    CHECK(good == "raw(deadbeef)#89f8spxm");
    CHECK(OutputDescriptor::Parse(good, kMain, true).Ok());
    CHECK(Refusal("raw(deadbeef)", true) == "Missing checksum");
    CHECK(Refusal("raw(deadbeef)#") == "Expected 8 character checksum, not 0 characters");
    CHECK(Refusal("raw(deadbeef)#89f8spxmx") == "Expected 8 character checksum, not 9 characters");
    CHECK(Refusal("raw(deadbeef)##9f8spxm") == "Multiple '#' symbols");
    CHECK(Refusal("raw(deedbeef)#89f8spxm").substr(0, 58) ==
          "Provided checksum '89f8spxm' does not match computed check");
    CHECK(Refusal("raw(Ü)") == "Invalid characters in payload");
}

TEST_CASE("Descriptors: any other text is refused in Core's words")
{
    CHECK(Refusal("") == "'' is not a valid descriptor function");
    CHECK(Refusal("foo(" + kKey + ")") == "'foo(" + kKey + ")' is not a valid descriptor function");
    CHECK(Refusal("pk()") == "pk(): No key provided");
    CHECK(Refusal("pk( " + kKey + ")") == "pk(): Key ' " + kKey + "' is invalid due to whitespace");
    CHECK(Refusal("pk(abcd)") == "pk(): Pubkey 'abcd' is invalid");
    CHECK(Refusal("pk(abcx)") == "pk(): key 'abcx' is not valid");
    CHECK(Refusal("wpkh(" + kLong + ")") == "wpkh(): Uncompressed keys are not allowed");
    CHECK(Refusal("pk(06" + kLong.substr(2) + ")") == "pk(): Hybrid public keys are not allowed");
    CHECK(Refusal("pk([d34db33]" + kKey + ")") ==
          "pk(): Fingerprint is not 4 bytes (7 characters instead of 8 characters)");
    CHECK(Refusal("pk([d34db33x]" + kKey + ")") == "pk(): Fingerprint 'd34db33x' is not hex");
    CHECK(Refusal("pk(d34db33f]" + kKey + ")") ==
          "pk(): Key origin start '[ character expected but not found, got 'd' instead");
    CHECK(Refusal("pk([a]b]" + kKey + ")") ==
          "pk(): Multiple ']' characters found for a single pubkey");
    CHECK(Refusal("pk(" + kXpub + "/2147483648)") ==
          "pk(): Key path value 2147483648 is out of range");
    CHECK(Refusal("pk(" + kXpub + "/x)") == "pk(): Key path value 'x' is not a valid uint32");
    CHECK(Refusal("sh(sh(pk(" + kKey + ")))") == "Can only have sh() at top level");
    CHECK(Refusal("wsh(wpkh(" + kKey + "))") == "Can only have wpkh() at top level or inside sh()");
    CHECK(Refusal("sh(combo(" + kKey + "))") == "Can only have combo() at top level");
    CHECK(Refusal("sh(raw(00))") == "Can only have raw() at top level");
    CHECK(Refusal("sh(00)") == "A function is needed within P2SH");
    CHECK(Refusal("wsh(00)") == "A function is needed within P2WSH");
    CHECK(Refusal("addr(bogus)") == "Address is not valid");
    CHECK(Refusal("raw(0)") == "Raw script is not hex");
    CHECK(Refusal("multi(a," + kKey + ")") == "Multi threshold 'a' is not valid");
    CHECK(Refusal("multi(0," + kKey + ")") == "Multisig threshold cannot be 0, must be at least 1");
    CHECK(Refusal("multi(2," + kKey + ")") ==
          "Multisig threshold cannot be larger than the number of keys; threshold is 2 but only 1 "
          "keys specified");
    CHECK(Refusal("multi(1)") ==
          "Cannot have 0 keys in multisig; must have between 1 and 20 keys, inclusive");
    const std::string four = kKey + "," + kKey + "," + kKey + "," + kKey;
    CHECK(Refusal("multi(1," + four + ")") ==
          "Cannot have 4 pubkeys in bare multisig; only at most 3 pubkeys");
    CHECK(Refusal("sh(multi(1," + four + "," + four + "," + four + "," + four + "))") ==
          "P2SH script is too large, 547 bytes is larger than 520 bytes");
    CHECK(Refusal("multi_a(1," + kKey + ")") == "Can only have multi_a/sortedmulti_a inside tr()");
    CHECK(Refusal("tr(" + kX + ",multi(1," + kKey + "))") ==
          "Can only have multi/sortedmulti at top level, in sh(), or in wsh()");
    CHECK(Refusal("tr(" + kX + ",{pk(" + kX + "))") ==
          "tr(): expected ',' after script expression");
    CHECK(Refusal("rawtr(" + kX + "," + kX + ")") == "rawtr(): only one key expected.");
    CHECK(Refusal("unused(" + kXpub + "/*)") == "unused(): key cannot be ranged");
    std::string deep = "tr(" + kX + ",";
    for (int i = 0; i < 200; ++i) deep += '{';
    CHECK(Refusal(deep + ")") == "tr() supports at most 128 nesting levels");
}

// Addresses, base58, bech32, script shapes and descriptors against published vectors.
#include "keys/address.h"
#include "keys/base58.h"
#include "keys/bech32.h"
#include "keys/descriptor.h"
#include "keys/secret_key.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <algorithm>
#include <iostream>

#include "support/catch.h"

using namespace ibd;

namespace {

AddressPrefixes PrefixesOf(const std::string& chain)
{
    if (chain == "main") return {0, 5, "bc"};
    return {111, 196, chain == "regtest" ? "bcrt" : "tb"};
}

uint8_t SecretPrefixOf(const std::string& chain) { return chain == "main" ? 128 : 239; }

/** Upper case to lower and back. */
std::string Flipped(std::string text)
{
    for (char& c : text) {
        if (c >= 'a' && c <= 'z')
            c = static_cast<char>(c - 'a' + 'A');
        else if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

std::string Desc(const char* script_hex)
{
    return InferDescriptor(*FromHex(script_hex), PrefixesOf("main"));
}

const char* KindOf(const std::string& script_hex)
{
    return ScriptKindName(ClassifyScript(*FromHex(script_hex)).kind);
}

} // namespace

TEST_CASE("base58 both ways on the published pairs")
{
    const auto path = test::TestData("core/base58_encode_decode.json");
    if (!path) return;
    const UniValue cases = test::ReadTestJson(*path);
    REQUIRE(cases.size() == 21);
    for (size_t i = 0; i < cases.size(); ++i) {
        const Bytes raw = *FromHex(cases[i][0].get_str());
        const std::string text = cases[i][1].get_str();
        CHECK(EncodeBase58(raw) == text);
        CHECK(DecodeBase58(text, 1000) == raw);
        if (!raw.empty()) CHECK_FALSE(DecodeBase58(text, raw.size() - 1));
    }
    std::cerr << "base58_encode_decode.json: " << cases.size() << " cases\n";
    for (const char* bad : {"0", "O", "I", "l", "a b", "3\xff"})
        CHECK_FALSE(DecodeBase58(bad, 100));
}

TEST_CASE("base58check refuses every changed character")
{
    const Bytes payload = test::RandomBytes(21);
    const std::string text = EncodeBase58Check(payload);
    CHECK(DecodeBase58Check(text, 21) == payload);
    for (size_t i = 0; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = changed[i] == '2' ? '3' : '2';
        if (changed != text) CHECK_FALSE(DecodeBase58Check(changed, 40));
    }
}

TEST_CASE("key_io: valid addresses and keys both ways, invalid ones not at all")
{
    const auto path = test::TestData("core/key_io_valid.json");
    if (!path) return;
    const UniValue cases = test::ReadTestJson(*path);
    int addresses = 0, flipped = 0, keys = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        const UniValue& facts = cases[i][2];
        const std::string chain = facts["chain"].get_str();
        const std::string text = cases[i][0].get_str();
        const Bytes raw = *FromHex(cases[i][1].get_str());
        INFO(text);
        const AddressPrefixes prefixes = PrefixesOf(chain);
        if (facts["isPrivkey"].get_bool()) {
            const auto key = DecodeSecretKey(text, SecretPrefixOf(chain));
            REQUIRE(key);
            CHECK(std::equal(key->bytes.begin(), key->bytes.end(), raw.begin(), raw.end()));
            CHECK(key->compressed == facts["isCompressed"].get_bool());
            CHECK(EncodeSecretKey(*key, SecretPrefixOf(chain)) == text);
            CHECK_FALSE(DecodeSecretKey(text, SecretPrefixOf(chain) ^ 0x6f));
            CHECK_FALSE(DecodeAddress(text, prefixes));
            ++keys;
            continue;
        }
        CHECK(DecodeAddress(text, prefixes) == raw);
        CHECK(EncodeAddress(raw, prefixes) == text);
        CHECK_FALSE(DecodeSecretKey(text, SecretPrefixOf(chain)));
        const bool either_case = facts.exists("tryCaseFlip") && facts["tryCaseFlip"].get_bool();
        CHECK((DecodeAddress(Flipped(text), prefixes) == raw) == either_case);
        flipped += either_case ? 1 : 0;
        ++addresses;
    }
    const UniValue invalid = test::ReadTestJson(*test::TestData("core/key_io_invalid.json"));
    for (size_t i = 0; i < invalid.size(); ++i) {
        for (const char* chain : {"main", "test", "regtest"}) {
            INFO(invalid[i][0].get_str());
            CHECK_FALSE(DecodeAddress(invalid[i][0].get_str(), PrefixesOf(chain)));
            CHECK_FALSE(DecodeSecretKey(invalid[i][0].get_str(), SecretPrefixOf(chain)));
        }
    }
    std::cerr << "key_io: " << addresses << " addresses (" << flipped << " in either case), "
              << keys << " keys, " << invalid.size() << " invalid\n";
    CHECK(addresses + keys == 70);
    CHECK(invalid.size() == 70);
}

TEST_CASE("numbers that are no private key")
{
    SecretKey key;
    CHECK_FALSE(DecodeSecretKey(EncodeSecretKey(key, 128), 128)); // zero
    std::fill(key.bytes.begin(), key.bytes.end(), 0xff);
    CHECK_FALSE(DecodeSecretKey(EncodeSecretKey(key, 128), 128));
    const Bytes order =
        *FromHex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    std::copy(order.begin(), order.end(), key.bytes.begin());
    CHECK_FALSE(DecodeSecretKey(EncodeSecretKey(key, 128), 128));
    key.bytes[31] = 0x40;
    CHECK(DecodeSecretKey(EncodeSecretKey(key, 128), 128) == key);
    key.compressed = false;
    CHECK(DecodeSecretKey(EncodeSecretKey(key, 128), 128) == key);
}

TEST_CASE("bits regroup and come back")
{
    for (int round = 0; round < 200; ++round) {
        const Bytes data = test::RandomBytes(static_cast<size_t>(round) % 41);
        const auto digits = RegroupBits(data, 8, 5, true);
        REQUIRE(digits);
        CHECK(RegroupBits(*digits, 5, 8, false) == data);
    }
    CHECK_FALSE(RegroupBits(Bytes{32}, 5, 8, true));
    CHECK_FALSE(RegroupBits(Bytes{1}, 5, 8, false));      // 5 bits left over
    CHECK_FALSE(RegroupBits(Bytes{31, 31}, 5, 8, false)); // 2 bits left over, not zero
}

TEST_CASE("shapes of scripts")
{
    const std::string key = "02" + std::string(64, '1');
    const std::string hash(40, '2');
    CHECK(KindOf("21" + key + "ac") == std::string("pubkey"));
    CHECK(KindOf("21" + ("05" + key.substr(2)) + "ac") == std::string("nonstandard"));
    CHECK(KindOf("76a914" + hash + "88ac") == std::string("pubkeyhash"));
    CHECK(KindOf("a914" + hash + "87") == std::string("scripthash"));
    CHECK(KindOf("0014" + hash) == std::string("witness_v0_keyhash"));
    CHECK(KindOf("0020" + std::string(64, '3')) == std::string("witness_v0_scripthash"));
    CHECK(KindOf("0015" + hash + "00") == std::string("nonstandard"));
    CHECK(KindOf("5120" + std::string(64, '3')) == std::string("witness_v1_taproot"));
    CHECK(KindOf("51024e73") == std::string("anchor"));
    CHECK(KindOf("5214" + hash) == std::string("witness_unknown"));
    CHECK(KindOf("6a") == std::string("nulldata"));
    CHECK(KindOf("6a0201ff") == std::string("nulldata"));
    CHECK(KindOf("6a02ff") == std::string("nonstandard"));
    CHECK(KindOf("6aac") == std::string("nonstandard"));
    CHECK(KindOf("") == std::string("nonstandard"));
    CHECK(KindOf("5121" + key + "51ae") == std::string("multisig"));
    CHECK(KindOf("5221" + key + "21" + key + "52ae") == std::string("multisig"));
    CHECK(KindOf("5321" + key + "21" + key + "52ae") == std::string("nonstandard"));
    CHECK(KindOf("5121" + key + "52ae") == std::string("nonstandard"));
    CHECK(KindOf("5121" + key + "51aeae") == std::string("nonstandard"));
    CHECK(KindOf("51ae") == std::string("nonstandard"));
}

TEST_CASE("descriptors carry the checksum that Core prints")
{
    CHECK(
        Desc(
            "4104d46c4968bde02899d2aa0963367c7a6ce34eec332b32e42e5f3407e052d64ac625da6f0718e7b30214"
            "0434bd725706957c092db53805b821a85b23a7ac61725bac") ==
        "pk("
        "04d46c4968bde02899d2aa0963367c7a6ce34eec332b32e42e5f3407e052d64ac625da6f0718e7b302140434"
        "bd725706957c092db53805b821a85b23a7ac61725b)#pezndevg");
    CHECK(DescriptorChecksum("raw(deadbeef)") == "89f8spxm"); // BIP380
    CHECK(DescriptorChecksum("raw(\n)").empty());
    CHECK(Desc("6a0201ff").starts_with("raw(6a0201ff)#"));
    CHECK(Desc("0014751e76e8199196d454941c45d1b3a323f1433bd6")
              .starts_with("addr(bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4)#"));
    // BIP350's key is on the curve; x = 5 is not.
    CHECK(Desc("512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
              .starts_with("rawtr(79be667e"));
    CHECK(Desc("51200000000000000000000000000000000000000000000000000000000000000005")
              .starts_with("addr(bc1p"));
}

TEST_CASE("one or two wrong characters of Bech32 are found")
{
    const std::string_view digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const std::string texts[] = {"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
                                 "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"};
    for (const std::string& text : texts) {
        const bool old = text[3] == 'q';
        const std::string wanted = old ? "Invalid Bech32 checksum" : "Invalid Bech32m checksum";
        for (size_t a = 3; a < text.size(); a += 5) {
            for (size_t b = a; b < text.size(); b += 7) {
                std::string wrong = text;
                wrong[a] = digits[(digits.find(text[a]) + 11) % 32];
                if (b != a) wrong[b] = digits[(digits.find(text[b]) + 3) % 32];
                const Bech32Fault fault = FindBech32Fault(wrong);
                CHECK(fault.text == wanted);
                std::vector<int> places{static_cast<int>(a)};
                if (b != a) places.push_back(static_cast<int>(b));
                CHECK(fault.places == places);
            }
        }
    }
    CHECK(FindBech32Fault(std::string(100, 'q')).places.size() == 10);
    CHECK(FindBech32Fault("bc1Qq").places == std::vector<int>{3});
    CHECK(FindBech32Fault("bcq").text == "Missing separator");
    CHECK(FindBech32Fault("1qqqqqq").text == "Invalid separator position");
    CHECK(FindBech32Fault("bc1bqqqqqq").places == std::vector<int>{3});
}

TEST_CASE("BIP341 wallet vectors: addresses")
{
    const auto path = test::TestData("core/bip341_wallet_vectors.json");
    if (!path) return;
    const UniValue json = test::ReadTestJson(*path);
    const UniValue& cases = json["scriptPubKey"];
    for (size_t i = 0; i < cases.size(); ++i) {
        const UniValue& expected = cases[i]["expected"];
        const Bytes script = *FromHex(expected["scriptPubKey"].get_str());
        CHECK(EncodeAddress(script, PrefixesOf("main")) == expected["bip350Address"].get_str());
    }
    CHECK(cases.size() == 7);
}

// BIP32: the document's first test vector, and that secret and public derivation agree.
#include "keys/bip32.h"

#include "support/catch.h"

using namespace ibd;

namespace {

const ExtendedKeyPrefixes kMain{{0x04, 0x88, 0xb2, 0x1e}, {0x04, 0x88, 0xad, 0xe4}};
constexpr const char* kSecret =
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGt"
    "RBeJgk33yuGBxrMPHi";
constexpr const char* kPublic =
    "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg"
    "7usUDFdp6W1EGMcet8";

std::string Derived(const KeyPath& path)
{
    const auto root = DecodeExtendedKey(kSecret, kMain);
    REQUIRE(root);
    const auto child = DerivePath(*root, path);
    REQUIRE(child);
    return EncodeExtendedPublicKey(*child, kMain);
}

} // namespace

TEST_CASE("BIP32: test vector 1")
{
    CHECK(Derived({}) == kPublic);
    CHECK(Derived({kHardenedBit}) == "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6L"
                                     "HhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw");
    CHECK(Derived({kHardenedBit, 1}) == "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UF"
                                        "HKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ");
}

TEST_CASE("BIP32: the public key derives the same children, but no hardened ones")
{
    const auto secret = DecodeExtendedKey(kSecret, kMain);
    const auto open = DecodeExtendedKey(kPublic, kMain);
    REQUIRE(secret);
    REQUIRE(open);
    for (uint32_t i = 0; i < 20; ++i) {
        const KeyPath path{i, 7 * i};
        CHECK(DerivePath(*secret, path)->public_key == DerivePath(*open, path)->public_key);
    }
    CHECK_FALSE(DeriveChild(*open, kHardenedBit));
    ExtendedKey deep = *open;
    deep.depth = 255;
    CHECK_FALSE(DeriveChild(deep, 0));
}

TEST_CASE("BIP32: text of another network, cut short, or with a bad checksum is no key")
{
    const std::string good = kPublic;
    CHECK_FALSE(DecodeExtendedKey(good, {{4, 0x35, 0x87, 0xcf}, {4, 0x35, 0x83, 0x94}}));
    CHECK_FALSE(DecodeExtendedKey(good.substr(0, good.size() - 1), kMain));
    std::string wrong = good;
    wrong[20] = wrong[20] == 'a' ? 'b' : 'a';
    CHECK_FALSE(DecodeExtendedKey(wrong, kMain));
    CHECK_FALSE(DecodeExtendedKey("", kMain));
}

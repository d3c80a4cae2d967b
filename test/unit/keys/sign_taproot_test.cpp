// Taproot outputs: trees and control blocks against BIP341's vectors; signing by the internal key
// and by leaves, from the keys of a descriptor.
#include "keys/output_descriptor.h"
#include "keys/sign.h"
#include "support/testdata.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

const DescriptorNetwork kMain{
    {0, 5, "bc"}, {{0x04, 0x88, 0xb2, 0x1e}, {0x04, 0x88, 0xad, 0xe4}}, 128};

std::string Wif(uint8_t number)
{
    SecretKey key;
    key.bytes[31] = number;
    return EncodeSecretKey(key, kMain.secret_key_prefix);
}

std::string PublicHex(uint8_t number)
{
    Hash32 secret{};
    secret[31] = number;
    return ToHex(Signer().XOnlyPublicKey(secret));
}

OutputDescriptor Parse(const std::string& text)
{
    auto parsed = OutputDescriptor::Parse(text, kMain, false);
    if (!parsed) FAIL(parsed.Message());
    return parsed.Value()[0];
}

/** One input that spends an output of the descriptor, signed with the secrets in it. */
struct Spend {
    explicit Spend(const std::string& text, uint8_t hash_type = kSigHashDefault)
    {
        const OutputDescriptor descriptor = Parse(text);
        REQUIRE(descriptor.Collect(0, keys));
        script = descriptor.Expand(0)->at(0).script;
        MutableTransaction tx;
        tx.inputs.emplace_back().prevout.vout = 7;
        tx.outputs.push_back({900, script});
        const TransactionRef frozen = tx.Freeze();
        const SpentOutput spent{1000, script};
        const TxHashes hashes(frozen->View(), {&spent, 1});
        const TxSignatureMaker maker(frozen->View(), 0, spent, hashes, hash_type, keys);
        complete = Solve(script, keys, maker, data); // runs the script
    }

    KeyRing keys;
    Bytes script;
    SpendData data;
    bool complete = false;
};

/** BIP341's "scriptTree": a leaf, or two trees. */
void FlattenTree(const UniValue& tree, uint8_t depth, std::vector<TapLeaf>& leaves)
{
    if (tree.isArray()) {
        for (size_t i = 0; i < 2; ++i) {
            FlattenTree(tree[i], static_cast<uint8_t>(depth + 1), leaves);
        }
    } else if (tree.isObject()) {
        leaves.push_back({depth, static_cast<uint8_t>(tree["leafVersion"].get_int()),
                          *FromHex(tree["script"].get_str())});
    }
}

} // namespace

TEST_CASE("trees and control blocks are those of BIP341", "[taproot]")
{
    const auto path = TestData("core/bip341_wallet_vectors.json");
    if (!path) return;
    const UniValue vectors = ReadTestJson(*path);
    size_t blocks = 0;
    for (const UniValue& one : vectors["scriptPubKey"].getValues()) {
        TaprootOutput output;
        const Bytes key = *FromHex(one["given"]["internalPubkey"].get_str());
        std::copy(key.begin(), key.end(), output.internal_key.begin());
        FlattenTree(one["given"]["scriptTree"], 0, output.leaves);
        const UniValue& root = one["intermediary"]["merkleRoot"];
        CHECK(ToHex(*TapTreeRoot(output.leaves)) == (root.isNull() ? "" : root.get_str()));
        REQUIRE(output.Key());
        CHECK(ToHex(output.Key()->first) == one["intermediary"]["tweakedPubkey"].get_str());
        const TaprootSpends spends = output.Spends();
        CHECK(spends.merkle_root.has_value() == !root.isNull());
        const UniValue& controls = one["expected"]["scriptPathControlBlocks"];
        for (size_t i = 0; i < controls.size(); ++i) {
            const TapLeaf& leaf = output.leaves[i];
            const Bytes control = *FromHex(controls[i].get_str());
            CHECK(spends.scripts.at({leaf.script, leaf.version}).contains(control));
            ++blocks;
        }
    }
    CHECK(blocks > 8);
}

TEST_CASE("depths that are those of no tree are refused", "[taproot]")
{
    const auto root = [](std::initializer_list<int> depths) {
        std::vector<TapLeaf> leaves;
        for (const int depth : depths) {
            leaves.push_back({static_cast<uint8_t>(depth), kLeafTapscript, Bytes{OP_1}});
        }
        return TapTreeRoot(leaves);
    };
    CHECK(root({})->empty());
    CHECK(root({0})->size() == 32);
    CHECK(root({1, 1})->size() == 32);
    CHECK(root({1, 2, 2})->size() == 32);
    CHECK(root({2, 2, 1})->size() == 32);
    for (const auto& depths : {std::initializer_list<int>{1},
                               {0, 0},
                               {0, 1},
                               {1, 2},
                               {2, 1, 2},
                               {2, 1, 1, 2},
                               {1, 1, 1},
                               {1, 1, 0},
                               {0, 0, 0, 0}}) {
        CHECK_FALSE(root(depths));
    }
}

TEST_CASE("the internal key of a descriptor signs, with and without a tree", "[taproot]")
{
    for (uint8_t number = 1; number < 8; ++number) { // of either parity
        for (const std::string& tree : {std::string(), ",pk(" + PublicHex(20) + ")"}) {
            for (const uint8_t type : {kSigHashDefault, kSigHashAll}) {
                const Spend spend("tr(" + Wif(number) + tree + ")", type);
                CHECK(spend.complete);
                CHECK(spend.data.witness.size() == 1);
                CHECK(spend.data.taproot_origins.size() == 1);
            }
        }
    }
    CHECK_FALSE(Spend("tr(" + PublicHex(1) + ")").complete);
    CHECK(Spend("rawtr(" + Wif(3) + ")").complete);
}

TEST_CASE("leaves of one key and of several sign", "[taproot]")
{
    const std::string internal = PublicHex(50);
    const Spend one("tr(" + internal + ",{pk(" + Wif(1) + "),pk(" + PublicHex(2) + ")})");
    CHECK(one.complete);
    CHECK(one.data.witness.size() == 3); // signature, script, control block
    CHECK(one.data.taproot_script_signatures.size() == 1);
    CHECK(one.data.taproot_origins.size() == 3);

    const std::string keys = Wif(1) + "," + PublicHex(2) + "," + Wif(3);
    const Spend several("tr(" + internal + ",multi_a(2," + keys + "))", kSigHashAll);
    CHECK(several.complete);
    REQUIRE(several.data.witness.size() == 5);
    CHECK(several.data.witness[0].size() == 65); // of the last key
    CHECK(several.data.witness[1].empty());
    CHECK(several.data.witness[2].size() == 65);

    const Spend too_few("tr(" + internal + ",multi_a(3," + keys + "))");
    CHECK_FALSE(too_few.complete);
    CHECK(too_few.data.taproot_script_signatures.size() == 2);

    // If two leaves can be signed, the smaller witness is used.
    const Spend both("tr(" + internal + ",{multi_a(1," + Wif(1) + "," + PublicHex(2) + "),pk(" +
                     Wif(3) + ")})");
    CHECK(both.complete);
    CHECK(both.data.witness.size() == 3);
    CHECK(both.data.taproot_script_signatures.size() == 2);
}

TEST_CASE("more keys than multi_a needs: the last of them sign", "[taproot]")
{
    const Spend spend("tr(" + PublicHex(50) + ",multi_a(1," + Wif(1) + "," + Wif(2) + "))");
    REQUIRE(spend.complete);
    CHECK(spend.data.witness[0].size() == 64);
    CHECK(spend.data.witness[1].empty());
    CHECK(spend.data.taproot_script_signatures.size() == 2);
}

TEST_CASE("a ring holds what a descriptor's scripts need", "[taproot]")
{
    KeyRing keys;
    REQUIRE(Parse("sh(wsh(multi(1," + Wif(1) + ",02" + PublicHex(2) + ")))").Collect(0, keys));
    CHECK(keys.secrets.size() == 1);
    CHECK(keys.public_keys.size() == 2);
    CHECK(keys.origins.size() == 2);
    CHECK(keys.scripts.size() == 2);
    KeyRing combo;
    REQUIRE(Parse("combo([d34db33f/44h]02" + PublicHex(1) + ")").Collect(0, combo));
    CHECK(combo.scripts.size() == 1);
    CHECK(ToHex(combo.origins.begin()->second.fingerprint) == "d34db33f");
    CHECK(combo.origins.begin()->second.path == KeyPath{44 | kHardenedBit});
}

} // namespace ibd::test

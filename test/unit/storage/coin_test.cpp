// Coins, amounts and scripts: known encodings, round trips, refusal of malformed bytes.
#include "crypto/secp256k1.h"
#include "support.h"
#include "util/hex.h"

using namespace ibd;
using namespace ibd::test;

namespace {

Bytes Hex(std::string_view text)
{
    auto bytes = FromHex(text);
    REQUIRE(bytes);
    return *bytes;
}

Bytes Compressed(ByteSpan script)
{
    Bytes out;
    AppendCompressedScript(out, script);
    return out;
}

const std::string kGeneratorX = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const std::string kGeneratorY = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";

} // namespace

TEST_CASE("amounts compress to the published codes")
{
    const std::pair<uint64_t, uint64_t> vectors[] = {
        {0, 0x0},
        {1, 0x1},
        {1'000'000, 0x7},                   // 0.01 BTC
        {100'000'000, 0x9},                 // 1 BTC
        {5'000'000'000, 0x32},              // 50 BTC
        {2'100'000'000'000'000, 0x1406f40}, // 21 million BTC
    };
    for (const auto& [amount, code] : vectors) {
        CHECK(CompressAmount(amount) == code);
        CHECK(DecompressAmount(code) == amount);
    }
}

TEST_CASE("every amount and every small code survives the round trip")
{
    for (uint64_t i = 0; i < 100'000; ++i) {
        REQUIRE(DecompressAmount(CompressAmount(i)) == i);
        REQUIRE(CompressAmount(DecompressAmount(i)) == i);
    }
    for (int i = 0; i < 10'000; ++i) {
        const uint64_t amount = RandomBelow(kMaxMoney + 1);
        REQUIRE(DecompressAmount(CompressAmount(amount)) == amount);
    }
}

TEST_CASE("special scripts take their short form, all others do not")
{
    const std::string hash = "000102030405060708090a0b0c0d0e0f10111213";
    CHECK(Compressed(Hex("76a914" + hash + "88ac")) == Hex("00" + hash));
    CHECK(Compressed(Hex("a914" + hash + "87")) == Hex("01" + hash));
    CHECK(Compressed(Hex("2102" + kGeneratorX + "ac")) == Hex("02" + kGeneratorX));
    CHECK(Compressed(Hex("2103" + kGeneratorX + "ac")) == Hex("03" + kGeneratorX));
    CHECK(Compressed(Hex("4104" + kGeneratorX + kGeneratorY + "ac")) == Hex("04" + kGeneratorX));

    // Near misses: wrong last opcode, hybrid key, key off the curve, witness program, empty.
    for (const Bytes& script :
         {Hex("76a914" + hash + "88ad"), Hex("a914" + hash + "88"),
          Hex("2104" + kGeneratorX + "ac"), Hex("4106" + kGeneratorX + kGeneratorY + "ac"),
          Hex("4104" + kGeneratorX + kGeneratorX + "ac"), Hex("0014" + hash), Bytes{}}) {
        const Bytes out = Compressed(script);
        CHECK(out.size() == script.size() + 1);
        CHECK(out[0] == script.size() + 6);
    }
}

TEST_CASE("the parity of an uncompressed key is in its type byte")
{
    int odd = 0;
    for (uint8_t i = 1; i < 20; ++i) {
        Hash32 secret{};
        secret[31] = i;
        const UncompressedKey key = Signer().UncompressedPublicKey(secret);
        Bytes script = {65};
        Append(script, key);
        script.push_back(0xac);
        const Bytes out = Compressed(script);
        REQUIRE(out.size() == 33);
        CHECK(out[0] == 4 + (key[64] & 1));
        odd += key[64] & 1;
        Reader in(out);
        ScriptBytes back;
        REQUIRE(ReadCompressedScript(in, back));
        CHECK(back == ScriptBytes(script));
    }
    CHECK(odd > 0);
    CHECK(odd < 19);
}

TEST_CASE("coins survive the round trip")
{
    for (int i = 0; i < 3000; ++i) {
        const Coin coin = RandomCoin();
        Bytes value;
        AppendCoin(value, coin);
        const auto back = DecodeCoin(value);
        REQUIRE(back.Ok());
        REQUIRE(*back == coin);
        const size_t cut = RandomBelow(value.size());
        CHECK_FALSE(DecodeCoin(ByteSpan(value).first(cut)).Ok());
        value.push_back(0);
        CHECK_FALSE(DecodeCoin(value).Ok());
    }
}

TEST_CASE("a coin of the chain decodes as its transaction says")
{
    // The coinbase of block 1, as any chainstate has it: height 1, coinbase, 50 BTC, P2PK.
    Bytes value = Hex("0332");
    Append(value, Hex("0496b538e853519c726a2c91e61ec11600ae1390813a627c66fb8be7947be63c52"));
    const auto coin = DecodeCoin(value);
    REQUIRE(coin.Ok());
    CHECK(coin->height == 1);
    CHECK(coin->coinbase);
    CHECK(coin->value == 50 * kCoin);
    CHECK(ToHex(coin->script) ==
          "410496b538e853519c726a2c91e61ec11600ae1390813a627c66fb8be7947be63c52da7589379515d4e0a6"
          "04f8141781e62294721166bf621e73a82cbf2342c858eeac");
}

TEST_CASE("malformed coins are refused")
{
    CHECK_FALSE(DecodeCoin(Hex("")).Ok());
    CHECK(DecodeCoin(Hex("8efefefe7f0006")).Ok());       // height 2^31 - 1, the largest
    CHECK_FALSE(DecodeCoin(Hex("8efefeff000006")).Ok()); // 2^31
    // x = 5 is on no point of the curve.
    const std::string five(62, '0');
    CHECK_FALSE(DecodeCoin(Hex("033204" + five + "05")).Ok());
    CHECK(DecodeCoin(Hex("033202" + five + "05")).Ok()); // kept as it came: no one checks
    for (const Amount amount : {kMaxMoney, kMaxMoney + 1}) {
        Bytes value;
        AppendCoin(value, amount, {}, 7, false);
        CHECK(DecodeCoin(value).Ok() == (amount == kMaxMoney));
    }
    // A length near 2^64 must not wrap around.
    CHECK_FALSE(DecodeCoin(Hex("033280fefefefefefefefe05")).Ok());
}

TEST_CASE("a script that is too long becomes OP_RETURN")
{
    for (size_t size : {kMaxScriptSize, kMaxScriptSize + 1}) {
        Bytes value;
        AppendCoin(value, 1, Bytes(size, 0x51), 7, false);
        const Coin coin = Must(DecodeCoin(value));
        CHECK(coin.script.size() == (size > kMaxScriptSize ? 1 : size));
        CHECK(IsUnspendable(coin.script) == (size > kMaxScriptSize));
    }
}

TEST_CASE("unspendable outputs")
{
    CHECK(IsUnspendable(Hex("6a")));
    CHECK(IsUnspendable(Hex("6a0102")));
    CHECK(IsUnspendable(Bytes(10'001, 0x51)));
    CHECK_FALSE(IsUnspendable(Bytes(10'000, 0x51)));
    CHECK_FALSE(IsUnspendable(Bytes{}));
    CHECK_FALSE(IsUnspendable(Hex("516a")));
}

TEST_CASE("coin keys hold the outpoint and equal the general coding")
{
    for (int i = 0; i < 5000; ++i) {
        const OutPoint outpoint = RandomOutPoint();
        const CoinKey key(outpoint);
        Bytes plain = {'C'};
        Writer w(plain);
        w.Hash(outpoint.txid);
        w.VarInt(outpoint.vout);
        REQUIRE(Bytes(key.Span().begin(), key.Span().end()) == plain);
        OutPoint back;
        REQUIRE(ParseCoinKey(key.Span(), back));
        REQUIRE(back == outpoint);
        REQUIRE_FALSE(ParseCoinKey(key.Span().first(key.size - 1u), back));
    }
    OutPoint back;
    for (const uint32_t vout : {0xfffffffe, 0xffffffff}) {
        const CoinKey key({Txid(), vout});
        CHECK(key.size == CoinKey::kMaxSize);
        CHECK(ParseCoinKey(key.Span(), back) == (vout != OutPoint::kNullIndex));
    }
}

TEST_CASE("ScriptBytes behaves as a value on both sides of its inline size")
{
    for (size_t size : {0u, 1u, 35u, 36u, 37u, 10'000u}) {
        const Bytes bytes = RandomBytes(size);
        ScriptBytes a(bytes);
        CHECK(a.size() == size);
        CHECK((a.HeapBytes() == 0) == (size <= ScriptBytes::kInline));
        ScriptBytes b(a);
        CHECK(a == b);
        ScriptBytes c(std::move(b));
        CHECK(b.empty());
        CHECK(c == a);
        b = c;
        c = ScriptBytes(RandomBytes(50));
        c = std::move(b);
        CHECK(c == a);
        CHECK(Bytes(c.Span().begin(), c.Span().end()) == bytes);
    }
}

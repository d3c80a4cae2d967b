// See support.h.
#include "support.h"

#include "crypto/secp256k1.h"

#include <cstdlib>

namespace ibd::test {

Env& TestEnv()
{
    static const std::unique_ptr<Env> env = MakePosixEnv();
    return *env;
}

Logger& TestLog()
{
    static const std::unique_ptr<Logger> log = MakeNullLogger();
    return *log;
}

bool UnpackGolden(const TempDir& to)
{
    const auto packed = TestData("golden_mainnet14131/core_datadir_mainnet14131.tar.xz");
    if (!packed) return false;
    const std::string command = "tar -xJf '" + *packed + "' -C '" + to.Get().string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    return true;
}

uint64_t RandomBelow(uint64_t n) { return TestRng()() % n; }

namespace {

Bytes KeyScript(ByteSpan key)
{
    Bytes s = {static_cast<uint8_t>(key.size())};
    Append(s, key);
    s.push_back(0xac);
    return s;
}

Bytes HashScript(const Bytes& before, size_t hash, const Bytes& after)
{
    Bytes s = before;
    Append(s, RandomBytes(hash));
    Append(s, after);
    return s;
}

Hash32 RandomSecret()
{
    Hash32 secret;
    const Bytes random = RandomBytes(32);
    std::copy(random.begin(), random.end(), secret.begin());
    secret[0] &= 0x7f; // below the group order
    secret[31] |= 1;
    return secret;
}

} // namespace

Bytes RandomScript()
{
    switch (RandomBelow(10)) {
    case 0: return HashScript({0x76, 0xa9, 20}, 20, {0x88, 0xac});
    case 1: return HashScript({0xa9, 20}, 20, {0x87});
    case 2: return KeyScript(Signer().PublicKey(RandomSecret()));
    case 3: return KeyScript(Signer().UncompressedPublicKey(RandomSecret()));
    case 4: { // uncompressed form, almost surely not on the curve
        Bytes key = RandomBytes(65);
        key[0] = 4;
        return KeyScript(key);
    }
    case 5: { // compressed form, not on the curve half of the time
        Bytes key = RandomBytes(33);
        key[0] = static_cast<uint8_t>(2 + RandomBelow(2));
        return KeyScript(key);
    }
    case 6: return HashScript({0x00, 20}, 20, {});
    case 7: return HashScript({0x51, 32}, 32, {});
    case 8: return RandomBytes(RandomBelow(100));
    default: return RandomBytes(RandomBelow(kMaxScriptSize + 1));
    }
}

Coin RandomCoin()
{
    Coin coin;
    coin.value = static_cast<Amount>(RandomBelow(kMaxMoney + 1));
    for (uint64_t i = RandomBelow(12); i > 0; --i) coin.value = coin.value / 10 * 10;
    coin.script = RandomScript();
    coin.height = static_cast<uint32_t>(RandomBelow(uint64_t{1} << (1 + RandomBelow(31))));
    coin.coinbase = RandomBelow(2);
    return coin;
}

OutPoint RandomOutPoint()
{
    const Bytes id = RandomBytes(32);
    const uint64_t vout = TestRng()() >> (32 + RandomBelow(32)); // of any magnitude
    return {Txid::FromBytes(id.data()), static_cast<uint32_t>(vout)};
}

Bytes RandomBlock(size_t extra) { return RandomBytes(80 + extra); }

} // namespace ibd::test

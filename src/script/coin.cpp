// See coin.h.
#include "script/coin.h"

namespace ibd {

void AppendCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase)
{
    const size_t at = out.size();
    out.resize(at + kVarIntRoom + kCompressedOutputRoom + script.size());
    uint8_t* const origin = PutVarInt(&out[at], uint64_t{height} * 2 + coinbase);
    out.resize(static_cast<size_t>(PutCompressedOutput(origin, value, script) - out.data()));
}

void AppendCoin(Bytes& out, const Coin& coin)
{
    AppendCoin(out, coin.value, coin.script, coin.height, coin.coinbase);
}

void ReadCoinOrigin(Reader& in, Coin& coin)
{
    const uint64_t code = in.VarInt();
    if (code > 0xffffffff) in.Fail();
    coin.height = static_cast<uint32_t>(code >> 1);
    coin.coinbase = code & 1;
}

bool ReadCoin(Reader& in, Coin& coin)
{
    ReadCoinOrigin(in, coin);
    return in.Ok() && ReadCompressedOutput(in, coin.value, coin.script);
}

Result<Coin> DecodeCoin(ByteSpan value)
{
    Reader in(value);
    Coin coin;
    if (!ReadCoin(in, coin)) return BadData("malformed coin at byte {}", in.Position());
    if (!in.AtEnd()) return BadData("{} bytes after a coin", in.Remaining());
    if (!MoneyRange(coin.value)) return BadData("impossible amount {}", coin.value);
    return coin;
}

CoinKey::CoinKey(const OutPoint& outpoint)
{
    bytes[0] = kPrefix;
    std::memcpy(bytes + 1, outpoint.txid.data(), 32);
    size = static_cast<uint8_t>(PutVarInt(bytes + 33, outpoint.vout) - bytes);
}

bool ParseCoinKey(ByteSpan key, OutPoint& outpoint)
{
    if (key.size() < 34 || key.size() > CoinKey::kMaxSize) return false;
    if (key[0] != CoinKey::kPrefix) return false;
    Reader in(key.subspan(1));
    outpoint.txid = in.Hash();
    const uint64_t vout = in.VarInt();
    outpoint.vout = static_cast<uint32_t>(vout);
    return in.AtEnd() && vout < OutPoint::kNullIndex;
}

} // namespace ibd

// See coin_stats.h.
#include "script/coin_stats.h"

namespace ibd {

void WriteHashedCoin(Writer& out, const OutPoint& outpoint, uint32_t height, bool coinbase,
                     Amount value, ByteSpan script)
{
    out.Hash(outpoint.txid);
    out.U32(outpoint.vout);
    out.U32(height << 1 | (coinbase ? 1 : 0));
    out.I64(value);
    out.VarBytes(script);
}

void WriteHashedCoin(Writer& out, const OutPoint& outpoint, const Coin& coin)
{
    WriteHashedCoin(out, outpoint, coin.height, coin.coinbase, coin.value, coin.script);
}

uint64_t BogoSize(ByteSpan script) { return 32 + 4 + 4 + 8 + 2 + script.size(); }

} // namespace ibd

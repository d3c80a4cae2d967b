// See undo.h.
#include "storage/undo.h"

namespace ibd {

Hash32 UndoChecksum(const BlockHash& prev_hash, ByteSpan data)
{
    return Sha256Of(Sha256().Write(prev_hash.Span()).Write(data).Finalize());
}

void AppendSpentCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase)
{
    Writer w(out);
    w.VarInt(uint64_t{height} * 2 + coinbase);
    // Old nodes kept the transaction's version here; readers still expect a number.
    if (height > 0) w.U8(0);
    AppendCompressedOutput(out, value, script);
}

bool ReadSpentCoin(Reader& in, Coin& coin)
{
    ReadCoinOrigin(in, coin);
    if (coin.height > 0) in.VarInt();
    return in.Ok() && ReadCompressedOutput(in, coin.value, coin.script);
}

Bytes BlockUndo::Encode() const
{
    Bytes out;
    Writer w(out);
    w.CompactSize(txs.size());
    for (const TxUndo& tx : txs) {
        w.CompactSize(tx.spent.size());
        for (const Coin& c : tx.spent) {
            AppendSpentCoin(out, c.value, c.script, c.height, c.coinbase);
        }
    }
    return out;
}

Result<BlockUndo> BlockUndo::Decode(ByteSpan bytes)
{
    // The smallest coin takes three bytes, the smallest transaction one: counts beyond what the
    // bytes can hold are refused before memory is taken for them.
    Reader in(bytes);
    BlockUndo undo;
    const uint64_t tx_count = in.CompactSize();
    if (!in.Ok() || tx_count > in.Remaining()) return BadData("undo data: bad transaction count");
    undo.txs.resize(tx_count);
    for (TxUndo& tx : undo.txs) {
        const uint64_t coins = in.CompactSize();
        if (!in.Ok() || coins > in.Remaining() / 3) {
            return BadData("undo data: bad coin count at byte {}", in.Position());
        }
        tx.spent.resize(coins);
        for (Coin& coin : tx.spent) {
            if (!ReadSpentCoin(in, coin)) {
                return BadData("undo data: malformed coin at byte {}", in.Position());
            }
        }
    }
    if (!in.AtEnd()) return BadData("undo data: {} bytes too many", in.Remaining());
    return undo;
}

} // namespace ibd

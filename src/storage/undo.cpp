// See undo.h.
#include "storage/undo.h"

#include "primitives/block.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace ibd {

namespace {

class SpanSource final : public UndoSource {
public:
    explicit SpanSource(ByteSpan bytes) : m_left(bytes) {}
    Result<ByteSpan> Ahead() override { return m_left; }
    void Pass(size_t count) override { m_left = m_left.subspan(count); }
    uint64_t Left() const override { return m_left.size(); }

private:
    ByteSpan m_left;
};

/** Reads a count of items with at least `size` bytes each and at most `most` of them. An impossible
 *  count is refused before memory is taken for it. */
Result<uint64_t> ReadCount(UndoSource& source, const char* what, uint64_t size, uint64_t most)
{
    IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, source.Ahead());
    Reader in(ahead);
    const uint64_t count = in.CompactSize();
    if (!in.Ok() || count > most || count > (source.Left() - in.Position()) / size) {
        return BadData("undo data: bad count of {}, {} bytes before the end", what, source.Left());
    }
    source.Pass(in.Position());
    return count;
}

} // namespace

Hash32 UndoChecksum(const BlockHash& prev_hash, std::span<const ByteSpan> pieces)
{
    Sha256 hasher;
    hasher.Write(prev_hash.Span());
    for (const ByteSpan piece : pieces) hasher.Write(piece);
    return Sha256Of(hasher.Finalize());
}

uint64_t UndoRecord::Size() const
{
    return std::accumulate(pieces.begin(), pieces.end(), uint64_t{0},
                           [](uint64_t size, ByteSpan piece) { return size + piece.size(); });
}

uint8_t* PutSpentCoin(uint8_t* to, Amount value, ByteSpan script, uint32_t height, bool coinbase)
{
    to = PutVarInt(to, uint64_t{height} * 2 + coinbase);
    // Old versions stored the transaction's version here; readers still expect a number.
    if (height > 0) *to++ = 0;
    return PutCompressedOutput(to, value, script);
}

void AppendSpentCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase)
{
    const size_t at = out.size();
    out.resize(at + kSpentCoinRoom + script.size());
    out.resize(
        static_cast<size_t>(PutSpentCoin(&out[at], value, script, height, coinbase) - out.data()));
}

bool ReadSpentCoinHead(Reader& in, Coin& coin)
{
    ReadCoinOrigin(in, coin);
    if (coin.height > 0) in.VarInt();
    coin.value = static_cast<Amount>(DecompressAmount(in.VarInt()));
    return in.Ok();
}

std::optional<ByteSpan> ViewSpentCoin(Reader& in, Coin& coin)
{
    return ReadSpentCoinHead(in, coin) ? ViewCompressedScript(in, coin.script) : std::nullopt;
}

bool ReadSpentCoin(Reader& in, Coin& coin)
{
    const std::optional<ByteSpan> script = ViewSpentCoin(in, coin);
    if (script && script->data() != coin.script.data()) coin.script.Assign(*script);
    return script.has_value();
}

std::vector<Coin> BlockUndo::TakeCoins()
{
    std::vector<Coin> out;
    for (TxUndo& tx : txs) std::ranges::move(tx.spent, std::back_inserter(out));
    return out;
}

bool BlockUndo::Fits(const BlockView& block) const
{
    const auto block_txs = block.Txs();
    return block_txs.size() == txs.size() + 1 &&
           std::ranges::equal(txs, block_txs.subspan(1), [](const TxUndo& spent, const TxView& tx) {
               return spent.spent.size() == tx.inputs.size();
           });
}

Bytes BlockUndo::Encode() const
{
    // An upper bound; unused memory is never touched. Growing would copy up to 244 MB.
    constexpr size_t kAroundScript = kMaxSpentCoinSize - kMaxScriptSize, kMaxCount = 9;
    size_t most = kMaxCount, coins = 0;
    for (const TxUndo& tx : txs) {
        most += kMaxCount;
        coins += tx.spent.size();
        for (const Coin& c : tx.spent) {
            CHECK(MoneyRange(c.value)); // Decode() would refuse it, and higher counts
            most += kAroundScript + c.script.size();
        }
    }
    CHECK(txs.size() <= kMaxBlockInputs && coins <= kMaxBlockInputs);
    Bytes out;
    out.reserve(most);
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

Result<BlockUndo> BlockUndo::Decode(UndoSource& source)
{
    constexpr size_t kLeastTxSize = 1, kLeastCoinSize = 3;
    BlockUndo undo;
    IBD_ASSIGN_OR_RETURN(const uint64_t txs,
                         ReadCount(source, "transactions", kLeastTxSize, kMaxBlockInputs));
    undo.txs.resize(txs);
    uint64_t most = kMaxBlockInputs;
    for (TxUndo& tx : undo.txs) {
        IBD_ASSIGN_OR_RETURN(const uint64_t coins,
                             ReadCount(source, "coins", kLeastCoinSize, most));
        most -= coins;
        tx.spent.resize(coins);
        for (Coin& coin : tx.spent) {
            IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, source.Ahead());
            Reader in(ahead);
            if (!ReadSpentCoin(in, coin)) {
                return BadData("undo data: malformed coin, {} bytes before the end", source.Left());
            }
            if (!MoneyRange(coin.value)) {
                return BadData("undo data: impossible amount {}, {} bytes before the end",
                               coin.value, source.Left());
            }
            source.Pass(in.Position());
        }
    }
    if (source.Left() > 0) return BadData("undo data: {} bytes too many", source.Left());
    return undo;
}

Result<BlockUndo> BlockUndo::Decode(ByteSpan bytes)
{
    SpanSource source(bytes);
    return Decode(source);
}

} // namespace ibd

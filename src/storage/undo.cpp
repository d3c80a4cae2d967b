// See undo.h.
#include "storage/undo.h"

#include <numeric>
#include <utility>

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

/** Reads counts and coins from the parts of a source. After an error the part of it is not passed.
 */
class UndoParser {
public:
    explicit UndoParser(UndoSource& source) : m_source(source) {}

    /** Reads a count of items with at least `size` bytes each and at most `most` of them. An
     *  impossible count is refused before memory is taken for it. */
    Result<uint64_t> Count(const char* what, uint64_t size, uint64_t most)
    {
        IBD_RETURN_IF_ERROR(LookAhead());
        const uint64_t left = Left();
        const uint64_t count = m_in.CompactSize();
        if (!m_in.Ok() || count > most || count > Left() / size) {
            return BadData("undo data: bad count of {}, {} bytes before the end", what, left);
        }
        return count;
    }

    Result<> Spent(Coin& coin)
    {
        IBD_RETURN_IF_ERROR(LookAhead());
        const size_t start = m_in.Position();
        const auto left = [&] { return m_source.Left() - start; };
        if (!ReadSpentCoin(m_in, coin)) {
            return BadData("undo data: malformed coin, {} bytes before the end", left());
        }
        if (!MoneyRange(coin.value)) {
            return BadData("undo data: impossible amount {}, {} bytes before the end", coin.value,
                           left());
        }
        return {};
    }

    Result<> End()
    {
        m_source.Pass(m_in.Position());
        if (m_source.Left() == 0) return {};
        return BadData("undo data: {} bytes too many", m_source.Left());
    }

private:
    uint64_t Left() const { return m_source.Left() - m_in.Position(); }

    /** Goes on to the next part if the next coin may not be whole in this one. */
    Result<> LookAhead()
    {
        if (!m_is_more || m_in.Remaining() >= kMaxSpentCoinSize) return {};
        m_source.Pass(m_in.Position());
        IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, m_source.Ahead());
        m_in = Reader(ahead);
        m_is_more = ahead.size() < m_source.Left();
        return {};
    }

    UndoSource& m_source;
    Reader m_in{ByteSpan()};
    bool m_is_more = true; //!< the source has more than the part at hand
};

/** Appends the spent coins of a transaction by way of memory that stays in the processor's cache:
 *  to grow a vector for each coin would fill its bytes with zeros first. */
void AppendSpentCoins(Bytes& out, std::span<const Coin> coins)
{
    uint8_t some[4096];
    uint8_t* end = some;
    const auto flush = [&] { Append(out, {some, std::exchange(end, some)}); };
    for (const Coin& c : coins) {
        const size_t room = kSpentCoinRoom + c.script.size();
        if (room > static_cast<size_t>(some + sizeof(some) - end)) flush();
        if (room > sizeof(some)) {
            AppendSpentCoin(out, c.value, c.script, c.height, c.coinbase);
        } else {
            end = PutSpentCoin(end, c.value, c.script, c.height, c.coinbase);
        }
    }
    flush();
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
        AppendSpentCoins(out, tx.spent);
    }
    return out;
}

Result<BlockUndo> BlockUndo::Decode(UndoSource& source)
{
    constexpr size_t kLeastTxSize = 1, kLeastCoinSize = 3;
    BlockUndo undo;
    UndoParser parser(source);
    IBD_ASSIGN_OR_RETURN(const uint64_t txs,
                         parser.Count("transactions", kLeastTxSize, kMaxBlockInputs));
    undo.txs.resize(txs);
    uint64_t most = kMaxBlockInputs;
    for (TxUndo& tx : undo.txs) {
        IBD_ASSIGN_OR_RETURN(const uint64_t coins, parser.Count("coins", kLeastCoinSize, most));
        most -= coins;
        tx.spent.resize(coins);
        for (Coin& coin : tx.spent) IBD_RETURN_IF_ERROR(parser.Spent(coin));
    }
    IBD_RETURN_IF_ERROR(parser.End());
    return undo;
}

Result<BlockUndo> BlockUndo::Decode(ByteSpan bytes)
{
    SpanSource source(bytes);
    return Decode(source);
}

} // namespace ibd

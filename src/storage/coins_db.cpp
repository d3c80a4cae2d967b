// See coins_db.h.
#include "storage/coins_db.h"

namespace ibd {
namespace {

constexpr uint8_t kBestBlock[] = {'B'};
constexpr uint8_t kHeadBlocks[] = {'H'};
constexpr uint8_t kOldCoins[] = {'c'}; // records per transaction, before Core 0.15
constexpr uint8_t kFirstCoin[] = {CoinKey::kPrefix};
constexpr uint8_t kBehindCoins[] = {CoinKey::kPrefix + 1};

/** Refuses databases of versions before 0.15, which Core could once upgrade. */
Result<> RefuseOldFormat(const KvStore& kv)
{
    KvIterator it = kv.NewIterator();
    it.Seek(kOldCoins);
    IBD_RETURN_IF_ERROR(it.Status());
    if (it.Valid() && it.Key()[0] == kOldCoins[0]) {
        return BadData("database {}: written by a version before 0.15; restart with "
                       "-reindex-chainstate",
                       kv.Directory().string());
    }
    return {};
}

} // namespace

Result<std::unique_ptr<CoinsDb>> CoinsDb::Open(Env& env, Logger& log, const CoinsDbOptions& options)
{
    KvOptions kv_options;
    kv_options.directory = options.directory;
    kv_options.cache_bytes = options.cache_bytes;
    kv_options.obfuscate = options.obfuscate;
    kv_options.wipe = options.wipe;
    kv_options.compact = options.compact;
    kv_options.before_io = options.before_io;
    IBD_ASSIGN_OR_RETURN(auto kv, KvStore::Open(env, log, std::move(kv_options)));
    IBD_RETURN_IF_ERROR(RefuseOldFormat(*kv));
    return std::unique_ptr<CoinsDb>(new CoinsDb(std::move(kv), options.batch_bytes));
}

Found<Coin> CoinsDb::Get(const OutPoint& outpoint) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(CoinKey(outpoint).Span()));
    if (!value) return std::nullopt;
    auto coin = DecodeCoin(*value);
    if (!coin) {
        return BadData("database {}: coin {}:{}: {}", Directory().string(), outpoint.txid.ToHex(),
                       outpoint.vout, coin.Message());
    }
    return std::move(coin).Value();
}

Result<bool> CoinsDb::Has(const OutPoint& outpoint) const
{
    return m_kv->Exists(CoinKey(outpoint).Span());
}

Result<BlockHash> CoinsDb::BestBlock() const
{
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(kBestBlock));
    if (!value) return BlockHash();
    if (value->size() != 32) {
        return BadData("database {}: malformed best block record", Directory().string());
    }
    return BlockHash::FromBytes(value->data());
}

Result<std::vector<BlockHash>> CoinsDb::HeadBlocks() const
{
    std::vector<BlockHash> heads;
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(kHeadBlocks));
    if (!value) return heads;
    Reader in(*value);
    if (in.CompactSize() != 2) in.Fail();
    heads = {in.Hash(), in.Hash()};
    if (!in.AtEnd()) {
        return BadData("database {}: malformed head blocks record", Directory().string());
    }
    return heads;
}

Result<CoinsWriter> CoinsDb::StartWrite(const BlockHash& new_best)
{
    CHECK(!new_best.IsNull());
    IBD_ASSIGN_OR_RETURN(BlockHash old_best, BestBlock());
    if (old_best.IsNull()) {
        IBD_ASSIGN_OR_RETURN(const auto heads, HeadBlocks());
        if (!heads.empty() && heads[0] != new_best) {
            return BadData("database {}: a write towards block {} was interrupted; restart with "
                           "-reindex-chainstate",
                           Directory().string(), heads[0].ToHex());
        }
        if (!heads.empty()) old_best = heads[1];
    }
    return CoinsWriter(*m_kv, m_batch_bytes, new_best, old_best);
}

Result<> CoinsDb::Write(const std::function<bool(CoinChange&)>& next, const BlockHash& new_best)
{
    IBD_ASSIGN_OR_RETURN(CoinsWriter writer, StartWrite(new_best));
    CoinChange change;
    while (next(change)) {
        if (change.coin) {
            writer.Put(*change.outpoint, *change.coin);
        } else {
            writer.Erase(*change.outpoint);
        }
        IBD_RETURN_IF_ERROR(writer.Status());
    }
    return writer.Commit();
}

uint64_t CoinsDb::EstimateSize() const { return m_kv->EstimateSize(kFirstCoin, kBehindCoins); }

CoinsCursor CoinsDb::Cursor() const { return CoinsCursor(m_kv->NewIterator(), Directory()); }

// CoinsWriter.

CoinsWriter::CoinsWriter(KvStore& kv, size_t batch_bytes, const BlockHash& new_best,
                         const BlockHash& old_best)
    : m_kv(kv), m_batch_bytes(batch_bytes), m_new_best(new_best), m_batch(kv)
{
    // The first batch marks the database as between the two blocks.
    m_batch.Erase(kBestBlock);
    Writer w(m_value);
    w.CompactSize(2);
    w.Hash(new_best);
    w.Hash(old_best);
    m_batch.Put(kHeadBlocks, m_value);
}

void CoinsWriter::Put(const OutPoint& outpoint, const Coin& coin)
{
    CHECK(outpoint.vout < OutPoint::kNullIndex && MoneyRange(coin.value)); // or no read takes it
    m_value.clear();
    AppendCoin(m_value, coin);
    PutRaw(outpoint, m_value);
}

void CoinsWriter::PutRaw(const OutPoint& outpoint, ByteSpan value)
{
    m_batch.Put(CoinKey(outpoint).Span(), value);
    WriteBatchIfFull();
}

void CoinsWriter::Erase(const OutPoint& outpoint)
{
    m_batch.Erase(CoinKey(outpoint).Span());
    WriteBatchIfFull();
}

void CoinsWriter::WriteBatchIfFull()
{
    if (m_batch.ApproximateSize() <= m_batch_bytes) return;
    if (m_status.Ok()) m_status = m_kv.Write(m_batch);
    m_batch.Clear();
}

Result<> CoinsWriter::Commit()
{
    IBD_RETURN_IF_ERROR(m_status);
    m_batch.Erase(kHeadBlocks);
    m_batch.Put(kBestBlock, m_new_best.Span());
    m_status = m_kv.Write(m_batch);
    m_batch.Clear();
    return m_status;
}

// CoinsCursor.

CoinsCursor::CoinsCursor(KvIterator iterator, Path directory)
    : m_iterator(std::move(iterator)), m_directory(std::move(directory))
{
    m_iterator.Seek(kBestBlock);
    const bool found =
        m_iterator.Valid() && m_iterator.Key().size() == 1 && m_iterator.Key()[0] == kBestBlock[0];
    if (found && m_iterator.Value().size() == 32) {
        m_best = BlockHash::FromBytes(m_iterator.Value().data());
    }
    m_iterator.Seek(kFirstCoin);
    Settle();
}

void CoinsCursor::Seek(const OutPoint& outpoint)
{
    m_iterator.Seek(CoinKey(outpoint).Span());
    Settle();
}

void CoinsCursor::Next()
{
    CHECK(m_valid);
    m_iterator.Next();
    Settle();
}

/** Reads the key at the iterator, or notes the reason why there is none. */
void CoinsCursor::Settle()
{
    m_valid = false;
    m_status = m_iterator.Status();
    if (!m_status.Ok() || !m_iterator.Valid()) return;
    const ByteSpan key = m_iterator.Key();
    if (key.empty() || key[0] != CoinKey::kPrefix) return;
    m_valid = ParseCoinKey(key, m_outpoint);
    if (!m_valid) {
        m_status = BadData("database {}: malformed coin key", m_directory.string());
    }
}

Result<Coin> CoinsCursor::Value() const
{
    CHECK(m_valid);
    auto coin = DecodeCoin(RawValue());
    if (!coin) {
        return BadData("database {}: coin {}:{}: {}", m_directory.string(), m_outpoint.txid.ToHex(),
                       m_outpoint.vout, coin.Message());
    }
    return coin;
}

} // namespace ibd

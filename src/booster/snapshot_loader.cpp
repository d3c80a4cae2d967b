// See snapshot_loader.h.
#include "booster/snapshot_loader.h"

#include "storage/data_dir.h"
#include "util/strings.h"
#include "validation/snapshot_folder.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint64_t kLookEvery = 4096;     //!< coins between two checks for a stop of the node
constexpr uint64_t kLogEvery = 1'000'000; //!< coins
/** Memory of a database that is filled through LevelDB. */
constexpr size_t kDatabaseMemory = 32 << 20;
/** The chainstate is larger than the snapshot: it has a key for each coin and a filter; a snapshot
 *  has one txid for all coins of a transaction. */
constexpr uint64_t kRoomNumerator = 5, kRoomDenominator = 4;

/** Core's words. */
Error Explain(const SnapshotReader& reader, const Error& error)
{
    const uint64_t read = reader.Count();
    switch (reader.Fault()) {
    case SnapshotFault::kCount:
        return BadData("Mismatch in coins count in snapshot metadata and actual snapshot data");
    case SnapshotFault::kHeight:
        return BadData("Bad snapshot data after deserializing {} coins", read);
    case SnapshotFault::kValue:
        return BadData("Bad snapshot data after deserializing {} coins - bad tx out value", read);
    case SnapshotFault::kLeftOver:
        return BadData("Bad snapshot - coins left over after deserializing {} coins", read);
    case SnapshotFault::kNone: return error; // the disk
    default:
        return BadData("Bad snapshot format or truncated snapshot after deserializing {} coins",
                       read);
    }
}

Error Interrupted() { return BadData("Aborting after an interrupt was requested"); }

bool ComesBefore(const CoinKey& a, const CoinKey& b)
{
    return std::ranges::lexicographical_compare(a.Span(), b.Span());
}

} // namespace

Found<Uint256> HashCoins(const CoinsDb& coins, const std::atomic<bool>& interrupt)
{
    CoinsStatsBuilder stats(CoinsHashKind::kSerialized3);
    uint64_t count = 0;
    CoinsCursor cursor = coins.Cursor();
    for (; cursor.Valid(); cursor.Next()) {
        if (++count % kLookEvery == 0 && interrupt) return std::nullopt;
        IBD_ASSIGN_OR_RETURN(Coin coin, cursor.Value());
        stats.Add(cursor.Key(), std::move(coin));
    }
    IBD_RETURN_IF_ERROR(cursor.Status());
    return stats.Finish().hash;
}

SnapshotLoader::~SnapshotLoader()
{
    if (!m_begun) return;
    m_builder.reset();
    if (const Result<> removed = m_work.Remove(m_env); !removed) {
        m_log.Warning("[snapshot] '{}' could not be removed, the next start removes it: {}",
                      m_work.Get().string(), removed.Message());
    }
}

Result<> SnapshotLoader::Load(const Path& file, const AssumeutxoData& data)
{
    m_data = &data;
    IBD_ASSIGN_OR_RETURN(const auto reader, SnapshotReader::Open(m_env, file));
    reader->Restrict(static_cast<uint32_t>(data.height));
    m_log.Info("[snapshot] loading {} coins from snapshot {}", reader->Header().coins,
               data.block_hash.ToHex());
    IBD_RETURN_IF_ERROR(CheckRoom(file));
    m_begun = true;
    IBD_ASSIGN_OR_RETURN(const bool ordered, WriteTables(*reader));
    if (!ordered) {
        m_log.Info("[snapshot] the coins are not in the order of the database, which takes longer");
        reader->GoTo({});
        m_builder.reset();
        IBD_RETURN_IF_ERROR(WriteDatabase(*reader));
    }
    m_coins = reader->Count();
    m_log.Info("[snapshot] loaded {} coins from snapshot {}", m_coins, data.block_hash.ToHex());
    return {};
}

Result<> SnapshotLoader::CheckRoom(const Path& file) const
{
    IBD_ASSIGN_OR_RETURN(const auto opened, m_env.OpenRead(file));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, opened->Size());
    IBD_ASSIGN_OR_RETURN(const uint64_t free, m_env.SpaceAvailable(m_folder.parent_path()));
    const uint64_t needed = size / kRoomDenominator * kRoomNumerator + kMinDiskSpace;
    if (free >= needed) return {};
    return SystemError("disk space is too low: {} has {} free, the coins take about {}",
                       m_folder.parent_path().string(), FormatBytes(free), FormatBytes(needed));
}

Result<bool> SnapshotLoader::Next(SnapshotReader& reader, OutPoint& outpoint, Coin& coin) const
{
    const Result<bool> more = reader.Next(outpoint, coin);
    if (!more) return Explain(reader, more.GetError());
    if (*more && reader.Count() % kLookEvery == 0 && m_interrupt) return Interrupted();
    if (*more && reader.Count() % kLogEvery == 0) {
        m_log.Info("[snapshot] {} coins loaded ({:.2f}%)", reader.Count(),
                   100.0 * static_cast<double>(reader.Count()) /
                       static_cast<double>(reader.Header().coins));
    }
    return *more;
}

Result<bool> SnapshotLoader::WriteTables(SnapshotReader& reader)
{
    IBD_ASSIGN_OR_RETURN(m_builder, ChainstateBuilder::Create(m_env, {.chainstate = m_folder}));
    const auto writer = m_builder->NewWriter();
    CoinsStatsBuilder stats(CoinsHashKind::kSerialized3);
    std::optional<CoinKey> last;
    OutPoint outpoint;
    Coin coin;
    Bytes value;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, Next(reader, outpoint, coin));
        if (!more) break;
        const CoinKey key(outpoint);
        if (last && !ComesBefore(*last, key)) return false;
        last = key;
        value.clear();
        AppendCoin(value, coin);
        IBD_RETURN_IF_ERROR(writer->Add(key.Span(), value));
        stats.Add(outpoint, std::move(coin));
    }
    IBD_ASSIGN_OR_RETURN(m_tables, writer->Finish());
    IBD_RETURN_IF_ERROR(CheckHash(stats.Finish().hash));
    return true;
}

Result<> SnapshotLoader::CheckHash(const Uint256& hash) const
{
    if (hash == m_data->hash_serialized) return {};
    return BadData("Bad snapshot content hash: expected {}, got {}",
                   m_data->hash_serialized.ToHex(), hash.ToHex());
}

Result<> SnapshotLoader::WriteDatabase(SnapshotReader& reader)
{
    IBD_RETURN_IF_ERROR(m_work.RemoveNew(m_env));
    IBD_ASSIGN_OR_RETURN(const auto coins, CoinsDb::Open(m_env, m_log,
                                                         {.directory = m_work.Batch(),
                                                          .cache_bytes = kDatabaseMemory,
                                                          .batch_bytes = kDatabaseMemory / 4,
                                                          .wipe = true}));
    IBD_ASSIGN_OR_RETURN(CoinsWriter writer, coins->StartWrite(m_data->block_hash));
    OutPoint outpoint;
    Coin coin;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, Next(reader, outpoint, coin));
        if (!more) break;
        writer.Put(outpoint, coin);
        IBD_RETURN_IF_ERROR(writer.Status());
    }
    IBD_RETURN_IF_ERROR(writer.Commit());
    IBD_ASSIGN_OR_RETURN(const std::optional<Uint256> hash, HashCoins(*coins, m_interrupt));
    return hash ? CheckHash(*hash) : Interrupted();
}

/** Opening moves the database's log into a synced table, so that no write is pending afterwards. */
Result<> SnapshotLoader::CompleteDatabase()
{
    {
        IBD_ASSIGN_OR_RETURN(const auto coins,
                             CoinsDb::Open(m_env, m_log, {.directory = m_work.Batch()}));
    }
    IBD_RETURN_IF_ERROR(WriteSnapshotBase(m_env, m_work.Batch(), m_data->block_hash));
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_work.Batch()));
    IBD_RETURN_IF_ERROR(m_env.Rename(m_work.Batch(), m_work.New()));
    return m_env.SyncDirectory(m_work.Get());
}

// The file with the block's hash is written before the file that makes the folder a database: so a
// complete folder after a crash is always the chainstate of a snapshot.
Result<> SnapshotLoader::Publish()
{
    if (m_builder) {
        IBD_RETURN_IF_ERROR(WriteSnapshotBase(m_env, m_builder->Directory(), m_data->block_hash));
        IBD_RETURN_IF_ERROR(m_builder->Complete(std::move(m_tables), m_data->block_hash));
    } else {
        IBD_RETURN_IF_ERROR(CompleteDatabase());
    }
    IBD_RETURN_IF_ERROR(ReplaceDb(m_env, m_folder));
    m_begun = false;
    return {};
}

} // namespace ibd

// See table_db.h.
#include "storage/table_db.h"

#include "storage/crc32c.h"
#include "storage/kv_store.h"
#include "storage/table_coding.h"

#include <algorithm>

namespace ibd {
namespace {

constexpr uint64_t kManifestNumber = 1;
constexpr std::string_view kComparator = "leveldb.BytewiseComparator";
constexpr int kLastLevel = 6;

// Fields of a manifest record.
constexpr uint64_t kComparatorTag = 1, kLogNumberTag = 2, kNextFileTag = 3, kLastSequenceTag = 4;
constexpr uint64_t kNewFileTag = 7, kPrevLogTag = 9;

/** Appends one record in LevelDB's log format: pieces that never cross a multiple of 32 KiB, each
 *  with checksum, length and first/last flags. */
void AppendLogRecord(Bytes& log, ByteSpan record)
{
    constexpr size_t kBlock = 32768, kHeader = 7;
    bool first = true;
    do {
        size_t room = kBlock - log.size() % kBlock;
        if (room < kHeader) {
            log.resize(log.size() + room);
            room = kBlock;
        }
        const size_t n = std::min(record.size(), room - kHeader);
        const bool last = n == record.size();
        const uint8_t kind = first ? (last ? 1 : 2) : (last ? 4 : 3);
        AppendLE32(log, MaskCrc(Crc32c(record.first(n), Crc32c(ByteSpan(&kind, 1)))));
        log.push_back(static_cast<uint8_t>(n));
        log.push_back(static_cast<uint8_t>(n >> 8));
        log.push_back(kind);
        Append(log, record.first(n));
        record = record.subspan(n);
        first = false;
    } while (!record.empty());
}

/** The level whose limit (10 MB at level 1, ten times as much at each further one) holds these
 *  bytes with room to grow, so that LevelDB starts no compaction. At least level 2: a running node
 *  can then place new tables above it. */
int LevelFor(uint64_t bytes)
{
    int level = 2;
    for (uint64_t limit = 100 << 20; bytes > limit / 2 && level < kLastLevel; limit *= 10) ++level;
    return level;
}

void AppendInternalKey(Bytes& out, ByteSpan key)
{
    Bytes internal(key.begin(), key.end());
    AppendLE64(internal, kTableTrailer);
    AppendLeb128String(out, internal);
}

} // namespace

Result<std::unique_ptr<TableDbBuilder>> TableDbBuilder::Create(Env& env, Path directory, XorKey key,
                                                               uint64_t max_file_bytes)
{
    IBD_RETURN_IF_ERROR(RemoveDbFolder(env, directory));
    IBD_RETURN_IF_ERROR(env.CreateDirectories(directory));
    return std::unique_ptr<TableDbBuilder>(
        new TableDbBuilder(env, std::move(directory), key, max_file_bytes));
}

std::unique_ptr<TableWriter> TableDbBuilder::NewWriter(const XorKey& key)
{
    TableOptions options{m_directory, key, m_max_file_bytes};
    return std::make_unique<TableWriter>(m_env, std::move(options), m_next_number);
}

Result<> TableDbBuilder::WriteManifest(std::span<const TableFile> tables)
{
    uint64_t bytes = 0;
    for (const TableFile& table : tables) bytes += table.size;
    const auto level = static_cast<uint64_t>(LevelFor(bytes));

    Bytes edit;
    AppendLeb128(edit, kComparatorTag);
    AppendLeb128String(edit, AsBytes(kComparator));
    for (const auto& [tag, number] : {std::pair{kLogNumberTag, uint64_t{0}},
                                      {kPrevLogTag, uint64_t{0}},
                                      {kNextFileTag, m_next_number.load()},
                                      {kLastSequenceTag, kTableSequence}}) {
        AppendLeb128(edit, tag);
        AppendLeb128(edit, number);
    }
    for (const TableFile& table : tables) {
        AppendLeb128(edit, kNewFileTag);
        AppendLeb128(edit, level);
        AppendLeb128(edit, table.number);
        AppendLeb128(edit, table.size);
        AppendInternalKey(edit, table.smallest);
        AppendInternalKey(edit, table.largest);
    }
    Bytes log;
    AppendLogRecord(log, edit);
    const std::string name = fmt::format("MANIFEST-{:06}", kManifestNumber);
    IBD_RETURN_IF_ERROR(WriteFileAtomically(m_env, m_directory / name, log));
    // Written last, because it makes the directory a database.
    return WriteFileAtomically(m_env, m_directory / "CURRENT", AsBytes(name + "\n"));
}

Result<> TableDbBuilder::Complete(std::vector<TableFile> tables)
{
    std::sort(tables.begin(), tables.end(),
              [](const TableFile& a, const TableFile& b) { return a.smallest < b.smallest; });
    for (size_t i = 1; i < tables.size(); ++i) CHECK(tables[i - 1].largest < tables[i].smallest);
    // The tables' directory entries must be durable before the manifest lists them.
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
    IBD_RETURN_IF_ERROR(WriteManifest(tables));
    return m_env.SyncDirectory(m_directory.parent_path());
}

} // namespace ibd

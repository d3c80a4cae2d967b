// See chainstate_builder.h.
#include "storage/chainstate_builder.h"

#include "storage/coins_db.h"
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

Result<> RemoveIfThere(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(directory));
    return is_there ? env.RemoveAll(directory) : Result<>();
}

} // namespace

ChainstateBuilder::ChainstateBuilder(Env& env, ChainstateBuilderOptions options)
    : m_env(env), m_options(std::move(options)), m_directory(WorkFolder(m_options.chainstate).New())
{
}

Result<std::unique_ptr<ChainstateBuilder>>
ChainstateBuilder::Create(Env& env, ChainstateBuilderOptions options)
{
    std::unique_ptr<ChainstateBuilder> builder(new ChainstateBuilder(env, std::move(options)));
    IBD_RETURN_IF_ERROR(WorkFolder(builder->m_options.chainstate).Make(env));
    IBD_RETURN_IF_ERROR(RemoveIfThere(env, builder->m_directory));
    IBD_RETURN_IF_ERROR(env.CreateDirectories(builder->m_directory));
    if (builder->m_options.obfuscate) {
        std::array<uint8_t, XorKey::kSize> key;
        env.RandomBytes(key);
        builder->m_key = XorKey(key);
    }
    return builder;
}

std::unique_ptr<TableWriter> ChainstateBuilder::NewWriter()
{
    TableOptions options{m_directory, m_key, m_options.max_file_bytes};
    return std::make_unique<TableWriter>(m_env, std::move(options), m_next_number);
}

/** Writes the table of the records before all coins. The key's own record is not obfuscated. */
Result<std::vector<TableFile>> ChainstateBuilder::WriteHead(const BlockHash& best_block)
{
    TableWriter head(m_env, {m_directory, XorKey(), m_options.max_file_bytes}, m_next_number);
    if (!m_key.IsZero()) {
        Bytes record = {XorKey::kSize};
        Append(record, m_key.Span());
        IBD_RETURN_IF_ERROR(head.Add(ObfuscationRecordKey(), record));
    }
    Bytes value(best_block.data(), best_block.data() + 32);
    m_key.Apply(value);
    const uint8_t best_block_key[] = {'B'};
    IBD_RETURN_IF_ERROR(head.Add(best_block_key, value));
    return head.Finish();
}

Result<> ChainstateBuilder::WriteManifest(std::span<const TableFile> tables)
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

Result<> ChainstateBuilder::Complete(std::vector<TableFile> tables, const BlockHash& best_block)
{
    IBD_ASSIGN_OR_RETURN(std::vector<TableFile> head, WriteHead(best_block));
    tables.insert(tables.end(), std::make_move_iterator(head.begin()),
                  std::make_move_iterator(head.end()));
    std::sort(tables.begin(), tables.end(),
              [](const TableFile& a, const TableFile& b) { return a.smallest < b.smallest; });
    for (size_t i = 1; i < tables.size(); ++i) CHECK(tables[i - 1].largest < tables[i].smallest);
    // The tables' directory entries must be durable before the manifest lists them.
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
    IBD_RETURN_IF_ERROR(WriteManifest(tables));
    return m_env.SyncDirectory(m_directory.parent_path());
}

Result<> ChainstateBuilder::Publish(std::vector<TableFile> tables, const BlockHash& best_block)
{
    IBD_RETURN_IF_ERROR(Complete(std::move(tables), best_block));
    return ReplaceChainstate(m_env, m_options.chainstate);
}

WorkFolder::WorkFolder(const Path& chainstate)
    : m_folder(Path(chainstate) += ".ibdbooster",
               {.name = "made-by-the-ibd-booster",
                .text = "The next start of the node finishes or removes this folder.\n",
                .user = "the booster"})
{
}

Result<> WorkFolder::Remove(Env& env) const
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(Get()));
    if (!is_there) return {};
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(Marker()));
    if (is_marked) {
        for (const Path& part : {New(), Old(), Batch()}) {
            IBD_RETURN_IF_ERROR(RemoveIfThere(env, part));
        }
    }
    return m_folder.RemoveIfEmpty(env);
}

Result<> ReplaceChainstate(Env& env, const Path& chainstate)
{
    const WorkFolder work(chainstate);
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(chainstate));
    if (is_there) {
        IBD_RETURN_IF_ERROR(RemoveIfThere(env, work.Old()));
        IBD_RETURN_IF_ERROR(env.Rename(chainstate, work.Old()));
    }
    IBD_RETURN_IF_ERROR(env.Rename(work.New(), chainstate));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(work.Get()));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(chainstate.parent_path()));
    return work.Remove(env);
}

Result<> RecoverPublish(Env& env, Logger& log, const Path& chainstate)
{
    const WorkFolder work(chainstate);
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(work.Marker()));
    if (!is_marked) return work.Remove(env);
    // An I/O error must not count as a missing chainstate or copy, because the remains are removed
    // below.
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(chainstate));
    IBD_ASSIGN_OR_RETURN(const bool has_new, env.IsThere(work.New() / "CURRENT"));
    IBD_ASSIGN_OR_RETURN(const bool has_old, env.IsThere(work.Old()));
    if (!is_there && (has_new || has_old)) {
        log.Info("IBD Booster: '{}' was being replaced when the node died; the {} one takes its "
                 "place",
                 chainstate.string(), has_new ? "new" : "old");
        IBD_RETURN_IF_ERROR(env.Rename(has_new ? work.New() : work.Old(), chainstate));
        IBD_RETURN_IF_ERROR(env.SyncDirectory(work.Get()));
        IBD_RETURN_IF_ERROR(env.SyncDirectory(chainstate.parent_path()));
    }
    log.Info("IBD Booster: removing '{}', left by a build that was interrupted",
             work.Get().string());
    return work.Remove(env);
}

Result<ChainstateSummary> LookAtChainstate(Env& env, Logger& log, const Path& chainstate)
{
    ChainstateSummary summary;
    IBD_ASSIGN_OR_RETURN(summary.exists, env.IsThere(chainstate / "CURRENT"));
    if (!summary.exists) return summary;
    CoinsDbOptions options;
    options.directory = chainstate;
    IBD_ASSIGN_OR_RETURN(const auto coins, CoinsDb::Open(env, log, options));
    IBD_ASSIGN_OR_RETURN(const std::vector<BlockHash> heads, coins->HeadBlocks());
    summary.between = !heads.empty();
    IBD_ASSIGN_OR_RETURN(summary.best, coins->BestBlock());
    return summary;
}

} // namespace ibd

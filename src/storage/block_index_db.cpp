// See block_index_db.h.
#include "storage/block_index_db.h"

namespace ibd {
namespace {

constexpr uint64_t kRecordVersion = 259900; // version that writers put first; readers ignore it
constexpr uint8_t kBlockPrefix = 'b', kFilePrefix = 'f', kFlagPrefix = 'F';
constexpr uint8_t kLastFileKey[] = {'l'};
constexpr uint8_t kReindexKey[] = {'R'};
constexpr uint8_t kOn[] = {'1'}, kOff[] = {'0'};

Bytes FileKey(int32_t n)
{
    Bytes key;
    Writer w(key);
    w.U8(kFilePrefix);
    w.U32(static_cast<uint32_t>(n));
    return key;
}

Bytes BlockKey(const BlockHash& hash)
{
    Bytes key;
    Writer w(key);
    w.U8(kBlockPrefix);
    w.Hash(hash);
    return key;
}

Bytes FlagKey(std::string_view name)
{
    Bytes key;
    Writer w(key);
    w.U8(kFlagPrefix);
    w.VarBytes(AsBytes(name));
    return key;
}

/** VARINTs of 31-bit values: a larger one makes the record invalid. */
uint32_t SmallVarInt(Reader& in, uint64_t max = 0xffffffff)
{
    const uint64_t v = in.VarInt();
    if (v > max) in.Fail();
    return static_cast<uint32_t>(v);
}

constexpr uint64_t kMaxInt = 0x7fffffff;
constexpr uint32_t kMaxFileNumber = 1'000'000; //!< this many files have 122 TiB of blocks

} // namespace

Bytes BlockIndexRecord::Encode() const
{
    CHECK(height >= 0); // Decode() would refuse it
    CHECK((status & (kHaveData | kHaveUndo)) == 0 || file >= 0);
    Bytes out;
    Writer w(out);
    w.VarInt(kRecordVersion);
    w.VarInt(static_cast<uint32_t>(height));
    w.VarInt(status);
    w.VarInt(tx_count);
    if (status & (kHaveData | kHaveUndo)) w.VarInt(static_cast<uint32_t>(file));
    if (status & kHaveData) w.VarInt(data_pos);
    if (status & kHaveUndo) w.VarInt(undo_pos);
    w.Raw(header.ToBytes());
    return out;
}

Result<BlockIndexRecord> BlockIndexRecord::Decode(ByteSpan value)
{
    Reader in(value);
    BlockIndexRecord r;
    in.VarInt();
    r.height = static_cast<int32_t>(SmallVarInt(in, kMaxInt));
    r.status = SmallVarInt(in);
    r.tx_count = SmallVarInt(in);
    if (r.status & (kHaveData | kHaveUndo)) r.file = static_cast<int32_t>(SmallVarInt(in, kMaxInt));
    if (r.status & kHaveData) r.data_pos = SmallVarInt(in);
    if (r.status & kHaveUndo) r.undo_pos = SmallVarInt(in);
    const ByteSpan header = in.Span(BlockHeader::kSize);
    if (!in.AtEnd()) return BadData("malformed block record at byte {}", in.Position());
    r.header = BlockHeader::FromBytes(header.data());
    return r;
}

Result<std::unique_ptr<BlockIndexDb>> BlockIndexDb::Open(Env& env, Logger& log,
                                                         const BlockIndexDbOptions& options)
{
    KvOptions kv_options;
    kv_options.directory = options.directory;
    kv_options.cache_bytes = options.cache_bytes;
    kv_options.wipe = options.wipe;
    kv_options.compact = options.compact;
    kv_options.before_io = options.before_io;
    IBD_ASSIGN_OR_RETURN(auto kv, KvStore::Open(env, log, std::move(kv_options)));
    return std::unique_ptr<BlockIndexDb>(new BlockIndexDb(std::move(kv)));
}

Result<> BlockIndexDb::LoadBlocks(
    const std::function<Result<>(const BlockHash&, const BlockIndexRecord&)>& visit) const
{
    KvIterator it = m_kv->NewIterator();
    const uint8_t first[] = {kBlockPrefix};
    for (it.Seek(first); it.Valid(); it.Next()) {
        const ByteSpan key = it.Key();
        if (key.empty() || key[0] != kBlockPrefix) break;
        if (key.size() != 33) {
            return BadData("database {}: malformed block key", m_kv->Directory().string());
        }
        const BlockHash hash = BlockHash::FromBytes(key.data() + 1);
        const auto record = BlockIndexRecord::Decode(it.Value());
        if (!record) {
            return BadData("database {}: block {}: {}", m_kv->Directory().string(), hash.ToHex(),
                           record.Message());
        }
        IBD_RETURN_IF_ERROR(visit(hash, *record));
    }
    return it.Status();
}

Found<BlockFileInfo> BlockIndexDb::ReadFile(int32_t n) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(FileKey(n)));
    if (!value) return std::nullopt;
    const auto info = BlockFileInfo::Decode(*value);
    if (!info) {
        return BadData("database {}: file {}: {}", m_kv->Directory().string(), n, info.Message());
    }
    return *info;
}

Found<int32_t> BlockIndexDb::LastFile() const
{
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(kLastFileKey));
    if (!value) return std::optional<int32_t>();
    Reader in(*value);
    const uint32_t n = in.U32();
    if (!in.AtEnd() || n > kMaxFileNumber) {
        return BadData("database {}: malformed last file record", m_kv->Directory().string());
    }
    return std::optional<int32_t>(static_cast<int32_t>(n));
}

Result<std::vector<BlockFileInfo>> BlockIndexDb::LoadFiles() const
{
    std::vector<BlockFileInfo> files;
    IBD_ASSIGN_OR_RETURN(const auto last, LastFile());
    // Includes records beyond the last one: a crash may have happened between their writes.
    for (int32_t n = 0;; ++n) {
        IBD_ASSIGN_OR_RETURN(const auto info, ReadFile(n));
        if (!info && n > last.value_or(-1)) break;
        files.push_back(info.value_or(BlockFileInfo{}));
    }
    return files;
}

Result<> BlockIndexDb::Write(const BlockIndexUpdate& update)
{
    CHECK(static_cast<uint32_t>(update.last_file) <= kMaxFileNumber); // LastFile() would refuse it
    KvBatch batch(*m_kv);
    for (const auto& [n, info] : update.files) batch.Put(FileKey(n), info.Encode());
    Bytes last;
    Writer(last).U32(static_cast<uint32_t>(update.last_file));
    batch.Put(kLastFileKey, last);
    for (const auto& [hash, record] : update.blocks) batch.Put(BlockKey(hash), record.Encode());
    return m_kv->Write(batch, /*sync=*/true);
}

Result<bool> BlockIndexDb::Reindexing() const { return m_kv->Exists(kReindexKey); }

Result<> BlockIndexDb::SetReindexing(bool on)
{
    KvBatch batch(*m_kv);
    if (on) {
        batch.Put(kReindexKey, kOn);
    } else {
        batch.Erase(kReindexKey);
    }
    return m_kv->Write(batch, /*sync=*/true);
}

Found<bool> BlockIndexDb::Flag(std::string_view name) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, m_kv->Get(FlagKey(name)));
    if (!value) return std::nullopt;
    return value->size() == 1 && (*value)[0] == kOn[0];
}

Result<> BlockIndexDb::SetFlag(std::string_view name, bool on)
{
    KvBatch batch(*m_kv);
    batch.Put(FlagKey(name), on ? kOn : kOff);
    return m_kv->Write(batch);
}

} // namespace ibd

// See table_writer.h.
#include "storage/table_writer.h"

#include "storage/crc32c.h"
#include "storage/table_coding.h"

namespace ibd {
namespace {

constexpr size_t kDrainSize = 256 << 10; //!< bytes collected before a write
constexpr size_t kHandlesSize = 40;      //!< of the footer
constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;
constexpr std::string_view kFilterName = "filter.leveldb.BuiltinBloomFilter2";

void SetInternalKey(Bytes& to, ByteSpan user_key, uint64_t trailer)
{
    to.assign(user_key.begin(), user_key.end());
    AppendLE64(to, trailer);
}

/** The shortest key that is not below `last` and below `next`; empty if `last` itself is the
 *  shortest. Without `next`, only not below `last`. */
Bytes ShortKeyBetween(ByteSpan last, ByteSpan next)
{
    size_t i = 0;
    if (next.empty()) {
        while (i < last.size() && last[i] == 0xff) ++i;
        if (i >= last.size()) return {};
    } else {
        const size_t limit = std::min(last.size(), next.size());
        while (i < limit && last[i] == next[i]) ++i;
        if (i >= limit || last[i] == 0xff || last[i] + 1 >= next[i]) return {};
    }
    if (i + 1 >= last.size()) return {};
    Bytes key(last.begin(), last.begin() + static_cast<ptrdiff_t>(i) + 1);
    ++key[i];
    return key;
}

void AppendHandle(Bytes& out, uint64_t offset, uint64_t size)
{
    AppendLeb128(out, offset);
    AppendLeb128(out, size);
}

} // namespace

std::string TableFileName(uint64_t number) { return fmt::format("{:06}.ldb", number); }

TableWriter::TableWriter(Env& env, TableOptions options, std::atomic<uint64_t>& next_number)
    : m_env(env), m_options(std::move(options)), m_next_number(next_number)
{
}

Result<> TableWriter::Add(ByteSpan key, ByteSpan value)
{
    CHECK(m_last_key.empty() || std::lexicographical_compare(m_last_key.begin(), m_last_key.end(),
                                                             key.begin(), key.end()));
    if (m_file && m_offset + m_data.Size() >= m_options.max_file_bytes) {
        IBD_RETURN_IF_ERROR(CloseTable());
    }
    if (!m_file) {
        IBD_RETURN_IF_ERROR(OpenTable());
        m_table.smallest.assign(key.begin(), key.end());
    }
    if (m_unindexed) AddIndexEntry(key);
    m_filter.AddKey(key);
    SetInternalKey(m_internal_key, key, kTableTrailer);
    m_data.Add(m_internal_key, value, m_options.key);
    m_last_key.assign(key.begin(), key.end());
    ++m_table.records;
    if (m_data.Size() >= kBlockSize) FlushBlock();
    return Drain(kDrainSize);
}

Result<> TableWriter::OpenTable()
{
    m_table = TableFile{};
    m_table.number = m_next_number.fetch_add(1);
    m_offset = 0;
    m_index.Reset();
    m_filter.Reset();
    m_filter.StartBlock(0);
    IBD_ASSIGN_OR_RETURN(
        m_file, m_env.OpenWrite(m_options.directory / TableFileName(m_table.number), true));
    return {};
}

/** Appends a block with its trailer: kind (not compressed) and checksum. */
TableWriter::Handle TableWriter::AppendBlock(ByteSpan contents)
{
    const Handle handle{m_offset, contents.size()};
    const uint8_t kind = 0;
    Append(m_out, contents);
    m_out.push_back(kind);
    AppendLE32(m_out, MaskCrc(Crc32c(ByteSpan(&kind, 1), Crc32c(contents))));
    m_offset += contents.size() + 5;
    return handle;
}

void TableWriter::FlushBlock()
{
    m_unindexed = AppendBlock(m_data.Finish());
    m_data.Reset();
    m_filter.StartBlock(m_offset);
}

void TableWriter::AddIndexEntry(ByteSpan next_key)
{
    const Bytes shorter = ShortKeyBetween(m_last_key, next_key);
    if (shorter.empty()) {
        SetInternalKey(m_internal_key, m_last_key, kTableTrailer);
    } else {
        SetInternalKey(m_internal_key, shorter, kSeekTrailer);
    }
    Bytes handle;
    AppendHandle(handle, m_unindexed->offset, m_unindexed->size);
    m_index.Add(m_internal_key, handle);
    m_unindexed.reset();
}

/** Writes the collected bytes if they are at least `keep_below`. */
Result<> TableWriter::Drain(size_t keep_below)
{
    if (m_out.size() < keep_below) return {};
    IBD_RETURN_IF_ERROR(m_file->WriteAt(m_offset - m_out.size(), m_out));
    m_out.clear();
    return {};
}

Result<> TableWriter::CloseTable()
{
    if (!m_data.Empty()) FlushBlock();
    if (m_unindexed) AddIndexEntry({});
    const Handle filter = AppendBlock(m_filter.Finish());
    TableBlock meta(16);
    Bytes value;
    AppendHandle(value, filter.offset, filter.size);
    meta.Add(AsBytes(kFilterName), value);
    const Handle meta_at = AppendBlock(meta.Finish());
    const Handle index_at = AppendBlock(m_index.Finish());

    Bytes footer;
    AppendHandle(footer, meta_at.offset, meta_at.size);
    AppendHandle(footer, index_at.offset, index_at.size);
    footer.resize(kHandlesSize);
    AppendLE64(footer, kTableMagic);
    Append(m_out, footer);
    m_offset += footer.size();

    IBD_RETURN_IF_ERROR(Drain(0));
    IBD_RETURN_IF_ERROR(m_file->Sync());
    m_file.reset();
    m_table.size = m_offset;
    m_table.largest = m_last_key;
    m_done.push_back(std::move(m_table));
    return {};
}

Result<std::vector<TableFile>> TableWriter::Finish()
{
    if (m_file) IBD_RETURN_IF_ERROR(CloseTable());
    return std::move(m_done);
}

} // namespace ibd

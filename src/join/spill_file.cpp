// See spill_file.h.
#include "join/spill_file.h"

#include "crypto/sha256.h"
#include "swiftsync/page_checksum.h"

#include <algorithm>
#include <numeric>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'i', 'b', 'd', 's', 'p', 'i', 'l', 1};
constexpr size_t kHeaderSize = 48;      // magic, number, partitions, join id
constexpr size_t kPageHeadBytes = 8;    // partition, length of the records
constexpr size_t kPageHeaderBytes = 12; // and their checksum
constexpr size_t kIndexEntrySize = 16;
constexpr size_t kTrailerSize = 32;
constexpr size_t kWorthWriting = 512 << 10;
constexpr size_t kMostGathered = 1 << 20;
constexpr uint64_t kSyncStretch = 8 << 20; // bytes whose writeback is started together

Bytes Header(uint32_t number, const SpillOwner& owner)
{
    Bytes header;
    Writer writer(header);
    writer.Raw(kMagic);
    writer.U32(number);
    writer.U32(owner.partitions);
    writer.Hash(owner.join_id);
    CHECK(header.size() == kHeaderSize);
    return header;
}

/** The digest of header, index and trailer, without the digest itself. */
ShortDigest Digest(ByteSpan header, ByteSpan index, ByteSpan trailer)
{
    return Shorten(Sha256().Write(header).Write(index).Write(trailer).Finalize());
}

struct IndexEntry {
    uint32_t partition;
    uint32_t length;
    uint64_t offset;

    explicit IndexEntry(const uint8_t* p)
        : partition(ReadLE32(p)), length(ReadLE32(p + 4)), offset(ReadLE64(p + 8))
    {
    }
};

Error Damaged(const Path& path, uint64_t offset, std::string_view what)
{
    return BadData("spill {}, offset {}: {}", path.string(), offset, what);
}

/** Fills `out`; bad data if the file is too short. */
Result<> ReadExactly(const ReadableFile& file, const Path& path, uint64_t offset,
                     MutableByteSpan out)
{
    IBD_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(offset, out));
    if (got != out.size()) return Damaged(path, offset + got, "the file is cut off");
    return {};
}

} // namespace

Path SpillPath(const Path& directory, uint32_t number)
{
    return directory / fmt::format("spill{:06}.dat", number);
}

SpillWriter::SpillWriter(std::unique_ptr<WritableFile> file, uint32_t number,
                         const SpillOwner& owner, SpillUse use, uint64_t old_size)
    : m_number(number), m_partitions(owner.partitions), m_header(Header(number, owner)),
      m_use(use), m_old_size(old_size), m_gathered(m_header), m_file(std::move(file))
{
    m_gathered.reserve(kMostGathered);
    m_leaving.reserve(kMostGathered);
}

Result<std::unique_ptr<SpillWriter>> SpillWriter::Create(Env& env, const Path& directory,
                                                         uint32_t number, const SpillOwner& owner,
                                                         SpillUse use)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(SpillPath(directory, number), false));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    return std::unique_ptr<SpillWriter>(new SpillWriter(std::move(file), number, owner, use, size));
}

bool SpillWriter::Add(uint32_t partition, ByteSpan records)
{
    // TakeIndex() would refuse the page.
    CHECK(partition < m_partitions && !records.empty() && records.size() <= kMaxPageBytes);
    const Lock lock(m_mutex);
    MakeRoom(kPageHeaderBytes + records.size());
    if (m_status) Put(partition, records);
    return m_status.Ok();
}

/** Makes space for `size` bytes, unless there was an error. */
void SpillWriter::MakeRoom(size_t size)
{
    while (m_status && m_gathered.size() + size > kMostGathered) Advance();
}

/** Writes the gathered pages, or waits while another thread writes. */
void SpillWriter::Advance()
{
    if (!m_writing) return WriteOut();
    while (m_writing) m_written.wait(m_mutex);
}

/** Releases the lock while it writes; no other thread may be writing. */
void SpillWriter::WriteOut()
{
    m_writing = true;
    m_leaving.swap(m_gathered);
    const uint64_t offset = std::exchange(m_gathered_at, m_gathered_at + m_leaving.size());
    m_mutex.unlock();
    const Result<> written = WriteAt(offset, m_leaving);
    m_leaving.clear();
    m_mutex.lock();
    if (m_status) m_status = written;
    m_writing = false;
    m_written.notify_all();
}

/** Starts writeback of kept spills now, so that the final sync has little left to do. */
Result<> SpillWriter::WriteAt(uint64_t offset, ByteSpan data)
{
    IBD_RETURN_IF_ERROR(m_file->WriteAt(offset, data));
    const uint64_t end = offset + data.size();
    if (m_use == SpillUse::kPassing || end - m_sync_started < kSyncStretch) return {};
    const uint64_t begin = std::exchange(m_sync_started, end);
    return m_file->StartSync(begin, end - begin);
}

void SpillWriter::Put(uint32_t partition, ByteSpan records)
{
    uint8_t head[kPageHeadBytes];
    uint8_t checksum[4];
    WriteLE32(head, partition);
    WriteLE32(head + 4, static_cast<uint32_t>(records.size()));
    WriteLE32(checksum, PageChecksum(Size(), head, records));
    m_pages.push_back({partition, static_cast<uint32_t>(records.size()), Size()});
    Append(m_gathered, head);
    Append(m_gathered, checksum);
    Append(m_gathered, records);
}

void SpillWriter::WriteGathered()
{
    const Lock lock(m_mutex);
    if (m_status && !m_writing && m_gathered.size() >= kWorthWriting) WriteOut();
}

size_t SpillWriter::Pages() const
{
    const Lock lock(m_mutex);
    return m_pages.size();
}

Result<> SpillWriter::Status() const
{
    const Lock lock(m_mutex);
    return m_status;
}

Result<WrittenSpill> SpillWriter::Finish()
{
    const Lock lock(m_mutex);
    while (m_status && (m_writing || !m_gathered.empty())) Advance();
    IBD_RETURN_IF_ERROR(m_status);
    m_status = SystemError("the spill is closed");
    return Complete();
}

Result<WrittenSpill> SpillWriter::Complete()
{
    std::stable_sort(m_pages.begin(), m_pages.end(),
                     [](const Page& a, const Page& b) { return a.partition < b.partition; });
    const uint64_t index_at = m_gathered_at;
    Bytes index;
    index.reserve(m_pages.size() * kIndexEntrySize + kTrailerSize);
    Writer entries(index);
    for (const Page& page : m_pages) {
        entries.U32(page.partition);
        entries.U32(page.length);
        entries.U64(page.offset);
    }
    Bytes trailer;
    Writer writer(trailer);
    writer.U64(index_at);
    writer.U64(m_pages.size());
    writer.U64(index_at + index.size() + kTrailerSize);
    const ShortDigest checksum = Digest(m_header, index, trailer);
    writer.Raw(checksum);
    CHECK(trailer.size() == kTrailerSize);
    Append(index, trailer);
    IBD_RETURN_IF_ERROR(WriteAt(index_at, index));
    const uint64_t size = index_at + index.size();
    if (size < m_old_size) IBD_RETURN_IF_ERROR(m_file->Truncate(size));
    return WrittenSpill{{m_number, size, checksum}, std::move(m_file)};
}

Result<SpillReader> SpillReader::Open(Env& env, const Path& directory,
                                      std::span<const SpillInfo> spills, const SpillOwner& owner)
{
    SpillReader reader;
    reader.m_env = &env;
    reader.m_owner = owner;
    reader.m_bytes.resize(owner.partitions);
    for (const SpillInfo& info : spills) {
        IBD_ASSIGN_OR_RETURN(File file, reader.OpenOne(directory, info));
        reader.m_files.push_back(std::move(file));
    }
    return reader;
}

Result<SpillReader::File> SpillReader::OpenOne(const Path& directory, const SpillInfo& expected)
{
    File file;
    file.path = SpillPath(directory, expected.number);
    IBD_ASSIGN_OR_RETURN(const bool there, m_env->IsThere(file.path));
    if (!there) return Damaged(file.path, 0, "the file is missing");
    IBD_ASSIGN_OR_RETURN(const auto in, m_env->OpenRead(file.path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, in->Size());
    if (size != expected.size || size < kHeaderSize + kTrailerSize) {
        return Damaged(file.path, size,
                       fmt::format("the file should have {} bytes", expected.size));
    }
    ibd::Bytes header(kHeaderSize);
    ibd::Bytes trailer(kTrailerSize);
    const uint64_t trailer_at = size - kTrailerSize;
    IBD_RETURN_IF_ERROR(ReadExactly(*in, file.path, 0, header));
    IBD_RETURN_IF_ERROR(ReadExactly(*in, file.path, trailer_at, trailer));
    file.index_at = ReadLE64(trailer.data());
    if (file.index_at < kHeaderSize || file.index_at > trailer_at) {
        return Damaged(file.path, trailer_at, "the trailer is damaged");
    }
    ibd::Bytes index(trailer_at - file.index_at);
    IBD_RETURN_IF_ERROR(ReadExactly(*in, file.path, file.index_at, index));
    const ByteSpan fields = ByteSpan(trailer).first(kTrailerSize - sizeof(ShortDigest));
    if (header != Header(expected.number, m_owner) ||
        Digest(header, index, fields) != expected.checksum ||
        !std::equal(expected.checksum.begin(), expected.checksum.end(),
                    trailer.begin() + kTrailerSize - sizeof(ShortDigest)) ||
        ReadLE64(trailer.data() + 8) * kIndexEntrySize != index.size()) {
        return Damaged(file.path, trailer_at, "the checksum is wrong or belongs to another spill");
    }
    IBD_RETURN_IF_ERROR(TakeIndex(file, index));
    return file;
}

Result<> SpillReader::TakeIndex(File& file, ByteSpan index)
{
    file.starts.assign(size_t{m_owner.partitions} + 1, 0);
    for (size_t at = 0; at < index.size(); at += kIndexEntrySize) {
        const IndexEntry entry(index.data() + at);
        if (entry.partition >= m_owner.partitions || entry.length == 0 ||
            entry.length > SpillWriter::kMaxPageBytes) {
            return Damaged(file.path, file.index_at + at, "an impossible page");
        }
        ++file.starts[entry.partition + 1];
        m_bytes[entry.partition] += entry.length;
    }
    std::partial_sum(file.starts.begin(), file.starts.end(), file.starts.begin());
    return {};
}

uint64_t SpillReader::TotalBytes() const
{
    return std::accumulate(m_bytes.begin(), m_bytes.end(), uint64_t{0});
}

Result<> SpillReader::Read(uint32_t partition, ibd::Bytes& buffer,
                           const std::function<void(ByteSpan records)>& take) const
{
    for (const File& file : m_files) {
        if (file.starts[partition] == file.starts[partition + 1]) continue;
        IBD_RETURN_IF_ERROR(ReadFrom(file, partition, buffer, take));
    }
    return {};
}

Result<> SpillReader::ReadFrom(const File& file, uint32_t partition, ibd::Bytes& buffer,
                               const std::function<void(ByteSpan)>& take) const
{
    IBD_ASSIGN_OR_RETURN(const auto in, m_env->OpenRead(file.path));
    const uint32_t first = file.starts[partition];
    ibd::Bytes index((file.starts[partition + 1] - first) * kIndexEntrySize);
    IBD_RETURN_IF_ERROR(
        ReadExactly(*in, file.path, file.index_at + first * kIndexEntrySize, index));
    for (size_t at = 0; at < index.size(); at += kIndexEntrySize) {
        const IndexEntry page(index.data() + at);
        if (page.partition != partition || page.length > SpillWriter::kMaxPageBytes) {
            return Damaged(file.path, file.index_at, "the index has changed");
        }
        buffer.resize(kPageHeaderBytes + page.length);
        IBD_RETURN_IF_ERROR(ReadExactly(*in, file.path, page.offset, buffer));
        const ByteSpan head = ByteSpan(buffer).first(kPageHeadBytes);
        const ByteSpan records = ByteSpan(buffer).subspan(kPageHeaderBytes);
        if (PageChecksum(page.offset, head, records) != ReadLE32(buffer.data() + kPageHeadBytes) ||
            ReadLE32(buffer.data()) != partition || ReadLE32(buffer.data() + 4) != page.length) {
            return Damaged(file.path, page.offset, "the checksum of a page is wrong");
        }
        take(records);
    }
    return {};
}

} // namespace ibd

// See run_file.h.
#include "swiftsync/run_file.h"

#include "crypto/sha256.h"
#include "swiftsync/page_checksum.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kRunMagic = {'i', 'b', 'd', 'r', 'u', 'n', 0, 2};
constexpr size_t kRunHeaderSize = 48;   // magic, number, 0, hints id
constexpr size_t kPageHeaderBytes = 12; // payload length, records, checksum
constexpr size_t kIndexEntrySize = 24;
constexpr size_t kTrailerSize = 64;
constexpr size_t kCoinbaseEntrySize = 36;

Bytes RunHeader(uint32_t number, const Uint256& hints_id)
{
    Bytes header;
    Writer writer(header);
    writer.Raw(kRunMagic);
    writer.U32(number);
    writer.U32(0);
    writer.Hash(hints_id);
    CHECK(header.size() == kRunHeaderSize);
    return header;
}

/** False: the records of the page are not whole, not in order, or not `expected` many. */
bool PageIsSound(ByteSpan payload, uint32_t expected)
{
    const uint8_t* previous = nullptr;
    uint32_t count = 0;
    for (size_t at = 0; at < payload.size(); ++count) {
        const uint8_t* here = payload.data() + at;
        if (!CoinRecord::Fits(here, payload.size() - at)) return false;
        if (previous && Compare(CoinRecord(previous), CoinRecord(here)) > 0) return false;
        previous = here;
        at += CoinRecord(here).Size();
    }
    return count == expected && count > 0;
}

} // namespace

ShortDigest Shorten(const Hash32& digest)
{
    ShortDigest out;
    std::copy_n(digest.begin(), out.size(), out.begin());
    return out;
}

Path RunPath(const Path& directory, uint32_t number)
{
    return directory / fmt::format("run{:06}.dat", number);
}

RunWriter::RunWriter(std::unique_ptr<WritableFile> file, uint32_t number, Bytes header)
    : m_out(std::move(file)), m_number(number), m_header(std::move(header))
{
    m_payload.reserve(kMaxRunPageBytes);
}

Result<RunWriter> RunWriter::Create(Env& env, const Path& directory, uint32_t number,
                                    const Uint256& hints_id)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(RunPath(directory, number), true));
    RunWriter writer(std::move(file), number, RunHeader(number, hints_id));
    IBD_RETURN_IF_ERROR(writer.m_out.Add(writer.m_header));
    return writer;
}

Result<> RunWriter::Add(const CoinRecord& record)
{
    if (m_payload.size() + record.Size() > kRunPageBytes) IBD_RETURN_IF_ERROR(ClosePage());
    if (m_payload.empty()) m_first_prefix = record.Prefix();
    Append(m_payload, record.Whole());
    ++m_page_records;
    return {};
}

Result<> RunWriter::ClosePage()
{
    if (m_payload.empty()) return {};
    CHECK(m_payload.size() <= kMaxRunPageBytes); // Open() would refuse it
    uint8_t lengths[8];
    WriteLE32(lengths, static_cast<uint32_t>(m_payload.size()));
    WriteLE32(lengths + 4, m_page_records);
    Writer index(m_index);
    index.U64(m_first_prefix);
    index.U64(m_out.Size());
    index.U32(static_cast<uint32_t>(kPageHeaderBytes + m_payload.size()));
    index.U32(m_page_records);
    uint8_t checksum[4];
    WriteLE32(checksum, PageChecksum(m_out.Size(), lengths, m_payload));
    IBD_RETURN_IF_ERROR(m_out.Add(lengths));
    IBD_RETURN_IF_ERROR(m_out.Add(checksum));
    IBD_RETURN_IF_ERROR(m_out.Add(m_payload));
    m_records += m_page_records;
    m_payload.clear();
    m_page_records = 0;
    return {};
}

Result<WrittenRun> RunWriter::Finish(std::span<const CoinbaseId> coinbases)
{
    IBD_RETURN_IF_ERROR(ClosePage());
    const uint64_t coinbases_at = m_out.Size();
    Bytes ids;
    Writer id_writer(ids);
    for (const CoinbaseId& id : coinbases) {
        id_writer.U32(id.height);
        id_writer.Hash(id.txid);
    }
    IBD_RETURN_IF_ERROR(m_out.Add(ids));
    const uint64_t index_at = m_out.Size();
    IBD_RETURN_IF_ERROR(m_out.Add(m_index));
    Bytes trailer;
    Writer writer(trailer);
    writer.U64(m_records);
    writer.U64(coinbases_at);
    writer.U64(coinbases.size());
    writer.Raw(Shorten(Sha256Of(ids)));
    writer.U64(index_at);
    writer.U64(m_index.size() / kIndexEntrySize);
    writer.U64(index_at + m_index.size() + kTrailerSize);
    const ShortDigest checksum =
        Shorten(Sha256().Write(m_header).Write(m_index).Write(trailer).Finalize());
    writer.Raw(checksum);
    CHECK(trailer.size() == kTrailerSize);
    IBD_RETURN_IF_ERROR(m_out.Add(trailer));
    IBD_RETURN_IF_ERROR(m_out.Flush());
    return WrittenRun{{m_number, m_records, m_out.Size(), checksum}, m_out.Release()};
}

Result<WrittenRun> WriteRun(Env& env, const Path& directory, uint32_t number,
                            const Uint256& hints_id, CoinBuffer& coins,
                            std::span<const CoinbaseId> coinbases)
{
    IBD_ASSIGN_OR_RETURN(RunWriter writer, RunWriter::Create(env, directory, number, hints_id));
    constexpr size_t kAhead = 8; // records are in the order of their blocks, far apart in memory
    const auto sorted = coins.Sort();
    for (size_t i = 0; i < sorted.size(); ++i) {
        if (i + kAhead < sorted.size()) coins.RecordAt(sorted[i + kAhead]).Prefetch();
        IBD_RETURN_IF_ERROR(writer.Add(coins.RecordAt(sorted[i])));
    }
    return writer.Finish(coinbases);
}

/** Owns the file only if the handle has opened it. */
class RunReader::Handle {
public:
    explicit Handle(const ReadableFile& kept) : m_file(&kept) {}
    explicit Handle(std::unique_ptr<ReadableFile> own) : m_own(std::move(own)), m_file(m_own.get())
    {
    }
    const ReadableFile* operator->() const { return m_file; }

private:
    std::unique_ptr<ReadableFile> m_own;
    const ReadableFile* m_file;
};

Result<RunReader::Handle> RunReader::File() const
{
    if (m_file) return Handle(*m_file);
    IBD_ASSIGN_OR_RETURN(auto file, m_env->OpenRead(m_path));
    return Handle(std::move(file));
}

Error RunReader::Damaged(uint64_t offset, std::string_view what) const
{
    return BadData("run {}, offset {}: {}", m_path.string(), offset, what);
}

Result<Bytes> RunReader::ReadExactly(uint64_t offset, size_t size) const
{
    Bytes out(size);
    IBD_ASSIGN_OR_RETURN(const Handle file, File());
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(offset, out));
    if (got != size) return Damaged(offset, "the file is cut off");
    return out;
}

Result<RunReader> RunReader::Open(Env& env, const Path& directory, const RunInfo& expected,
                                  const Uint256& hints_id)
{
    RunReader run;
    run.m_env = &env;
    run.m_path = RunPath(directory, expected.number);
    run.m_info = expected;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(run.m_path));
    if (!there) return run.Damaged(0, "the file is missing");
    IBD_ASSIGN_OR_RETURN(run.m_file, env.OpenRead(run.m_path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, run.m_file->Size());
    if (size != expected.size || size < kRunHeaderSize + kTrailerSize) {
        return run.Damaged(size, fmt::format("the file should have {} bytes", expected.size));
    }
    const uint64_t trailer_at = size - kTrailerSize;
    IBD_ASSIGN_OR_RETURN(const Bytes trailer, run.ReadExactly(trailer_at, kTrailerSize));
    const uint8_t* t = trailer.data();
    const uint64_t index_at = ReadLE64(t + 32);
    const uint64_t pages = ReadLE64(t + 40);
    run.m_coinbases_at = ReadLE64(t + 8);
    run.m_coinbases = ReadLE64(t + 16);
    std::copy_n(t + 24, 8, run.m_coinbases_checksum.begin());
    if (index_at > trailer_at || (trailer_at - index_at) / kIndexEntrySize != pages ||
        run.m_coinbases_at > index_at ||
        (index_at - run.m_coinbases_at) / kCoinbaseEntrySize != run.m_coinbases) {
        return run.Damaged(trailer_at, "the trailer is damaged");
    }
    IBD_ASSIGN_OR_RETURN(const Bytes index, run.ReadExactly(index_at, trailer_at - index_at));
    IBD_ASSIGN_OR_RETURN(const Bytes header, run.ReadExactly(0, kRunHeaderSize));
    if (!std::equal(kRunMagic.begin(), kRunMagic.end(), header.begin())) {
        return run.Damaged(0, "not a run of this version");
    }
    const ShortDigest checksum =
        Shorten(Sha256().Write(header).Write(index).Write(ByteSpan(trailer).first(56)).Finalize());
    if (checksum != expected.checksum ||
        !std::equal(checksum.begin(), checksum.end(), trailer.begin() + 56) ||
        header != RunHeader(expected.number, hints_id) || ReadLE64(t) != expected.records) {
        return run.Damaged(trailer_at, "the checksum is wrong or belongs to another run");
    }
    for (size_t i = 0; i < pages; ++i) {
        const uint8_t* p = index.data() + i * kIndexEntrySize;
        run.m_pages.push_back({ReadLE64(p), ReadLE64(p + 8), ReadLE32(p + 16), ReadLE32(p + 20)});
        const uint32_t length = run.m_pages.back().length;
        if (length < kPageHeaderBytes || length > kPageHeaderBytes + kMaxRunPageBytes) {
            return run.Damaged(index_at + i * kIndexEntrySize, "a page has an impossible length");
        }
    }
    return run;
}

Result<ByteSpan> RunReader::ReadPage(size_t index, Bytes& buffer) const
{
    const Page& page = m_pages[index];
    buffer.resize(page.length);
    IBD_ASSIGN_OR_RETURN(const Handle file, File());
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(page.offset, buffer));
    if (got != page.length) return Damaged(page.offset + got, "the file is cut off");
    const ByteSpan lengths = ByteSpan(buffer).first(8);
    const ByteSpan payload = ByteSpan(buffer).subspan(kPageHeaderBytes);
    if (PageChecksum(page.offset, lengths, payload) != ReadLE32(buffer.data() + 8)) {
        return Damaged(page.offset, "the checksum of a page is wrong");
    }
    if (!PageIsSound(payload, page.records)) return Damaged(page.offset, "a page is malformed");
    if (CoinRecord(payload.data()).Prefix() != page.first_prefix) {
        return Damaged(page.offset, "a page of another run");
    }
    return payload;
}

Result<std::vector<CoinbaseId>> RunReader::ReadCoinbases() const
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes,
                         ReadExactly(m_coinbases_at, m_coinbases * kCoinbaseEntrySize));
    if (Shorten(Sha256Of(bytes)) != m_coinbases_checksum) {
        return Damaged(m_coinbases_at, "the checksum of the coinbase ids is wrong");
    }
    std::vector<CoinbaseId> ids(m_coinbases);
    for (size_t i = 0; i < ids.size(); ++i) {
        const uint8_t* p = bytes.data() + i * kCoinbaseEntrySize;
        ids[i] = {ReadLE32(p), Txid::FromBytes(p + 4)};
    }
    return ids;
}

void RunReader::WillNeed(size_t index, uint64_t bytes) const
{
    if (index >= m_pages.size()) return;
    // Only advice: if the file is missing, the read that follows reports it.
    if (const auto file = File()) (*file)->WillNeed(m_pages[index].offset, bytes);
}

Result<std::vector<RunReader>> OpenRuns(Env& env, const Path& directory,
                                        std::span<const RunInfo> runs, const Uint256& hints_id)
{
    const size_t stay_open = std::min<uint64_t>(kMaxOpenRuns, env.OpenFileLimit() / kOpenRunsShare);
    std::vector<RunReader> readers;
    readers.reserve(runs.size());
    for (const RunInfo& info : runs) {
        IBD_ASSIGN_OR_RETURN(RunReader run, RunReader::Open(env, directory, info, hints_id));
        if (readers.size() >= stay_open) run.CloseFile();
        readers.push_back(std::move(run));
    }
    return readers;
}

} // namespace ibd

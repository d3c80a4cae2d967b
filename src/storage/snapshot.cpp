// See snapshot.h.
#include "storage/snapshot.h"

namespace ibd {
namespace {

constexpr uint8_t kFileMagic[] = {'u', 't', 'x', 'o', 0xff};
constexpr size_t kBufferSize = 1 << 20;
constexpr size_t kMaxCoinSize = 16 << 10; //!< index, code, amount and a script of 10,000 bytes
constexpr size_t kMaxTxHead = 32 + 9;     //!< txid and the number of coins

} // namespace

Bytes SnapshotHeader::Encode() const
{
    Bytes out;
    Writer w(out);
    w.Raw(kFileMagic);
    w.U16(kVersion);
    w.Raw(magic);
    w.Hash(base);
    w.U64(coins);
    CHECK(out.size() == kSize);
    return out;
}

SnapshotHeader::Parsed SnapshotHeader::Parse(ByteSpan bytes)
{
    Parsed out;
    Reader in(bytes);
    const ByteSpan file_magic = in.Span(sizeof kFileMagic);
    const bool is_snapshot = std::equal(file_magic.begin(), file_magic.end(),
                                        std::begin(kFileMagic), std::end(kFileMagic));
    out.version = in.Ok() && is_snapshot ? in.U16() : 0;
    if (in.Ok() && !is_snapshot) {
        out.fault = SnapshotFault::kMagic;
    } else if (in.Ok() && out.version != kVersion) {
        out.fault = SnapshotFault::kVersion;
    } else {
        const ByteSpan magic = in.Span(out.header.magic.size());
        std::copy(magic.begin(), magic.end(), out.header.magic.begin());
        out.has_network = in.Ok();
        out.header.base = in.Hash();
        out.header.coins = in.U64();
        if (!in.Ok()) out.fault = SnapshotFault::kFormat;
    }
    return out;
}

Result<SnapshotHeader> SnapshotHeader::Decode(ByteSpan bytes, const Path& path)
{
    const Parsed parsed = Parse(bytes);
    switch (parsed.fault) {
    case SnapshotFault::kNone: return parsed.header;
    case SnapshotFault::kMagic:
        return BadData("{}: not a UTXO snapshot (or of a format older than 2)", path.string());
    case SnapshotFault::kVersion:
        return BadData("{}: snapshot version {}, but only {} is supported", path.string(),
                       parsed.version, kVersion);
    default: return BadData("{}: ends within the header", path.string());
    }
}

// SnapshotReader.

SnapshotReader::SnapshotReader(std::unique_ptr<ReadableFile> file, Path path, uint64_t size)
    : m_file(std::move(file)), m_path(std::move(path)), m_size(size), m_buffer(kBufferSize)
{
}

Result<std::unique_ptr<SnapshotReader>> SnapshotReader::Open(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    std::unique_ptr<SnapshotReader> reader(new SnapshotReader(std::move(file), path, size));
    IBD_RETURN_IF_ERROR(reader->Fill(SnapshotHeader::kSize));
    const size_t got = std::min(reader->Window().size(), SnapshotHeader::kSize);
    IBD_ASSIGN_OR_RETURN(reader->m_header,
                         SnapshotHeader::Decode(reader->Window().first(got), path));
    reader->m_pos = SnapshotHeader::kSize;
    return reader;
}

Error SnapshotReader::Bad(SnapshotFault fault, std::string_view what)
{
    m_fault = fault;
    return BadData("{}: {} at byte {}, after {} of {} coins", m_path.string(), what, Offset(),
                   m_read, m_header.coins);
}

/** Makes `wanted` bytes available unless the file ends earlier. */
Result<> SnapshotReader::Fill(size_t wanted)
{
    if (Window().size() >= wanted || m_window_start + m_filled >= m_size) return {};
    const size_t rest = m_filled - m_pos;
    std::memmove(m_buffer.data(), m_buffer.data() + m_pos, rest);
    m_window_start += m_pos;
    m_pos = 0;
    m_filled = rest;
    IBD_ASSIGN_OR_RETURN(const size_t got, m_file->ReadAt(m_window_start + rest,
                                                          MutableByteSpan(m_buffer).subspan(rest)));
    m_filled += got;
    return {};
}

void SnapshotReader::GoTo(const Place& place)
{
    m_window_start = place.offset;
    m_filled = m_pos = 0;
    m_read = place.coins;
    m_left_in_tx = place.left_in_tx;
    m_txid = place.txid;
}

/** Moves to the next transaction with coins; like Core, skips those without. */
Result<> SnapshotReader::OpenTx()
{
    while (m_left_in_tx == 0) {
        IBD_RETURN_IF_ERROR(Fill(kMaxTxHead));
        Reader in(Window());
        m_txid = in.Hash();
        m_left_in_tx = in.CompactSize();
        if (!in.Ok()) return Bad(SnapshotFault::kFormat, "truncated or malformed transaction");
        if (m_left_in_tx > m_header.coins - m_read) {
            return Bad(SnapshotFault::kCount, "wrong number of coins of a transaction");
        }
        m_pos += in.Position();
    }
    return {};
}

Result<bool> SnapshotReader::Next(OutPoint& outpoint, Coin& coin)
{
    if (m_read == m_header.coins) {
        IBD_RETURN_IF_ERROR(Fill(1));
        if (!Window().empty()) return Bad(SnapshotFault::kLeftOver, "bytes left over");
        return false;
    }
    IBD_RETURN_IF_ERROR(OpenTx());
    IBD_RETURN_IF_ERROR(Fill(kMaxCoinSize));
    Reader in(Window());
    const uint64_t vout = in.CompactSize(/*range_check=*/false);
    if (vout > m_max_index) return Bad(SnapshotFault::kFormat, "output index out of range");
    if (!ReadCoin(in, coin)) return Bad(SnapshotFault::kFormat, "truncated or malformed coin");
    if (coin.height > m_max_height) return Bad(SnapshotFault::kHeight, "coin of a later block");
    if (!MoneyRange(coin.value)) return Bad(SnapshotFault::kValue, "amount out of range");
    outpoint = {m_txid, static_cast<uint32_t>(vout)};
    m_pos += in.Position();
    --m_left_in_tx;
    ++m_read;
    return true;
}

// SnapshotWriter.

SnapshotWriter::SnapshotWriter(std::unique_ptr<WritableFile> file, uint64_t offset,
                               SnapshotHeader header)
    : m_out(std::move(file), offset), m_header(header)
{
}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(Env& env, const Path& path,
                                                               const std::array<uint8_t, 4>& magic,
                                                               const BlockHash& base)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, /*truncate=*/true));
    SnapshotHeader header;
    header.magic = magic;
    header.base = base;
    return std::unique_ptr<SnapshotWriter>(
        new SnapshotWriter(std::move(file), SnapshotHeader::kSize, header));
}

Result<std::unique_ptr<SnapshotWriter>>
SnapshotWriter::CreateOnPipe(std::unique_ptr<WritableFile> pipe, const SnapshotHeader& header)
{
    SnapshotHeader so_far = header;
    so_far.coins = 0;
    std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(std::move(pipe), 0, so_far));
    writer->m_announced = header.coins;
    IBD_RETURN_IF_ERROR(writer->m_out.Add(header.Encode()));
    return writer;
}

Result<> SnapshotWriter::Add(const OutPoint& outpoint, const Coin& coin)
{
    // Next() would refuse others.
    CHECK(outpoint.vout < OutPoint::kNullIndex && MoneyRange(coin.value));
    if (m_tx_coins > 0 && outpoint.txid != m_txid) IBD_RETURN_IF_ERROR(CloseTx());
    m_txid = outpoint.txid;
    ++m_tx_coins;
    ++m_header.coins;
    Writer w(m_tx);
    w.CompactSize(outpoint.vout);
    AppendCoin(m_tx, coin);
    return {};
}

/** The number of a transaction's coins precedes them, so they wait in m_tx. */
Result<> SnapshotWriter::CloseTx()
{
    Bytes head;
    Writer w(head);
    w.Hash(m_txid);
    w.CompactSize(m_tx_coins);
    IBD_RETURN_IF_ERROR(m_out.Add(head));
    IBD_RETURN_IF_ERROR(m_out.Add(m_tx));
    m_tx.clear();
    m_tx_coins = 0;
    return {};
}

Result<SnapshotHeader> SnapshotWriter::Finish()
{
    if (m_tx_coins > 0) IBD_RETURN_IF_ERROR(CloseTx());
    IBD_RETURN_IF_ERROR(m_out.Flush());
    CHECK(!m_announced || *m_announced == m_header.coins);
    if (m_announced) return m_header;
    IBD_RETURN_IF_ERROR(m_out.File().WriteAt(0, m_header.Encode()));
    IBD_RETURN_IF_ERROR(m_out.File().Sync());
    return m_header;
}

} // namespace ibd

// See record_hints.h.
#include "hints/record_hints.h"

#include "crypto/sha256.h"
#include "hints/gzip.h"
#include "hints/hints_writer.h"
#include "primitives/serialize.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kFileHeaderSize = 9; //!< magic UTXO, version, terminal height
constexpr size_t kIndexEntrySize = 12;

bool IsIndexed(HintsFormat format)
{
    return format == HintsFormat::kIndexed || format == HintsFormat::kIndexedCompact ||
           format == HintsFormat::kIndexedDeltas || format == HintsFormat::kIndexedRuns;
}

bool SaysOutputs(HintsFormat format)
{
    return format == HintsFormat::kIndexed || format == HintsFormat::kIndexedCompact;
}

const RecordCodec& CodecOf(HintsFormat format)
{
    if (IsIndexed(format)) return IndexedCodec(format);
    if (format == HintsFormat::kBtcd) return BtcdCodec();
    if (format == HintsFormat::kGaps) return GapsCodec();
    return EliasFanoCodec(format);
}

} // namespace

/** Reads the file sequentially and hashes it. */
class RecordHints::Window {
public:
    explicit Window(const HintsFile& file) : m_file(file) {}

    /** The next bytes: at least `size`, or all that are left of the file. */
    Result<ByteSpan> Ahead(size_t size)
    {
        if (m_left.size() < size && m_file.Size() - m_at > m_left.size()) {
            Bytes next(std::min<uint64_t>(size + kChunk, m_file.Size() - m_at));
            IBD_RETURN_IF_ERROR(m_file.Read(m_at, next));
            m_buffer = std::move(next);
            m_left = m_buffer;
        }
        return m_left;
    }
    /** Skips bytes returned by Ahead(). */
    void Pass(size_t size)
    {
        m_digest.Write(m_left.first(size));
        m_left = m_left.subspan(size);
        m_at += size;
    }
    uint64_t At() const { return m_at; }
    Uint256 Digest() { return Uint256(m_digest.Finalize()); }

private:
    static constexpr size_t kChunk = 4 << 20;

    const HintsFile& m_file;
    uint64_t m_at = 0;
    Bytes m_buffer;
    ByteSpan m_left;
    Sha256 m_digest;
};

Error RecordHints::Damaged(uint64_t offset, std::optional<uint32_t> height,
                           std::string_view what) const
{
    const std::string block = height ? fmt::format("block {}: ", *height) : std::string();
    return m_file.Damaged(offset, fmt::format("{}: {}{}", NameOf(m_codec.Format()), block, what));
}

Result<std::unique_ptr<Hints>> RecordHints::Open(HintsFile file, HintsFormat format)
{
    const uint64_t size = file.Size();
    if (format == HintsFormat::kBtcd) {
        IBD_ASSIGN_OR_RETURN(file, UnpackGzip(std::move(file)));
    }
    auto hints = std::unique_ptr<RecordHints>(new RecordHints(std::move(file), CodecOf(format)));
    hints->m_info.path = hints->m_file.GetPath();
    hints->m_info.format = format;
    hints->m_info.counting = CountingOf(format);
    if (SaysOutputs(format)) hints->m_info.outputs = 0;
    hints->m_info.file_size = size;
    IBD_RETURN_IF_ERROR(hints->Scan());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<> RecordHints::Scan()
{
    if (m_file.Size() >> kOffsetBits) return Damaged(0, std::nullopt, "the file is too long");
    Window window(m_file);
    const HintsFormat format = m_codec.Format();
    if (format == HintsFormat::kGaps) {
        IBD_RETURN_IF_ERROR(ScanLines(window));
    } else {
        IBD_RETURN_IF_ERROR(ScanWithHeight(window, format == HintsFormat::kBtcd ? 1 : 0));
    }
    m_info.id = window.Digest();
    m_places.shrink_to_fit();
    m_scanned = {};
    return {};
}

Result<> RecordHints::ScanLines(Window& window)
{
    m_places.push_back({}); // the genesis block has no line
    for (uint32_t height = 1; window.At() < m_file.Size(); ++height) {
        if (height > kMaxHintedHeight) {
            return Damaged(window.At(), height, "more blocks than there can be");
        }
        m_places.push_back({});
        IBD_RETURN_IF_ERROR(TakeRecord(window, {height, false}));
    }
    m_info.terminal_height = static_cast<uint32_t>(m_places.size()) - 1;
    if (m_info.terminal_height == 0) return Damaged(0, std::nullopt, "the file is empty");
    return {};
}

Result<> RecordHints::ScanWithHeight(Window& window, uint8_t version)
{
    IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, window.Ahead(kFileHeaderSize));
    Reader header(ahead.first(std::min(ahead.size(), kFileHeaderSize)));
    const ByteSpan magic = header.Span(4);
    const uint8_t stored_version = header.U8();
    const uint32_t blocks = header.U32();
    if (!header.Ok()) return Damaged(ahead.size(), std::nullopt, "the file is cut off");
    if (AsChars(magic) != "UTXO") return Damaged(0, std::nullopt, "the magic is not UTXO");
    if (stored_version != version) return Damaged(4, std::nullopt, "unknown version");
    if (blocks == 0) return Damaged(5, std::nullopt, "the terminal height is zero");
    // A record takes at least a byte, so a short file cannot claim much memory.
    if (blocks > kMaxHintedHeight || blocks > m_file.Size()) {
        return Damaged(5, std::nullopt, "the terminal height is impossible");
    }
    window.Pass(kFileHeaderSize);
    m_info.terminal_height = blocks;
    m_places.resize(blocks + 1);
    std::vector<IndexEntry> index;
    if (IsIndexed(m_codec.Format())) {
        IBD_ASSIGN_OR_RETURN(index, ReadIndex(window, blocks));
    }
    for (uint32_t height = FirstHeight(m_codec.Format()); height <= blocks; ++height) {
        const IndexEntry entry = index.empty() ? IndexEntry{height, false} : index[height - 1];
        IBD_RETURN_IF_ERROR(TakeRecord(window, entry));
        if (height == 0 && !m_scanned.unspent.empty()) {
            return Damaged(kFileHeaderSize, 0, "marks an output of the genesis block unspent");
        }
    }
    if (window.At() == m_file.Size()) return {};
    return Damaged(window.At(), std::nullopt, "bytes follow the last block");
}

Result<std::vector<RecordHints::IndexEntry>> RecordHints::ReadIndex(Window& window, uint32_t blocks)
{
    // Records are in the order of the index, regardless of their heights; they are scanned in that
    // order.
    std::vector<IndexEntry> out;
    std::vector<bool> seen(blocks + 1);
    std::optional<uint64_t> last;
    const bool runs = m_codec.Format() == HintsFormat::kIndexedRuns;
    for (uint32_t i = 0; i < blocks; ++i) {
        IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, window.Ahead(kIndexEntrySize));
        if (ahead.size() < kIndexEntrySize) {
            return Damaged(m_file.Size(), std::nullopt, "the index is cut off");
        }
        const uint32_t key = ReadLE32(ahead.data());
        const uint64_t position = ReadLE64(ahead.data() + 4);
        const uint32_t height = runs ? key / 2 : key;
        if (height == 0 || height > blocks || seen[height]) {
            return Damaged(window.At(), height, "the index has it wrongly, or twice");
        }
        seen[height] = true;
        const uint64_t first = kFileHeaderSize + uint64_t{blocks} * kIndexEntrySize;
        if (last ? position <= *last || position >= m_file.Size() : position != first) {
            return Damaged(window.At() + 4, height, "the index leaves a gap");
        }
        last = position;
        m_places[height].offset = position;
        out.push_back({height, runs && key % 2 == 1});
        window.Pass(kIndexEntrySize);
    }
    return out;
}

Result<> RecordHints::TakeRecord(Window& window, IndexEntry entry)
{
    IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, window.Ahead(kMaxRecordBytes));
    Place& place = m_places[entry.height];
    if (IsIndexed(m_codec.Format()) && place.offset != window.At()) {
        return Damaged(window.At(), entry.height, "the index has it elsewhere");
    }
    size_t used = 0;
    const ByteSpan record = ahead.first(std::min(ahead.size(), kMaxRecordBytes));
    if (const char* wrong = m_codec.Take(record, entry.kind, used, m_scanned)) {
        return Damaged(window.At(), entry.height, wrong);
    }
    place = {window.At(), entry.kind, used};
    if (m_info.outputs) *m_info.outputs += *m_scanned.outputs;
    m_info.unspent += m_scanned.unspent.size();
    window.Pass(used);
    return {};
}

Result<> RecordHints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    const Place place = m_places[height];
    out.raw.resize(place.length);
    IBD_RETURN_IF_ERROR(m_file.Read(place.offset, out.raw));
    size_t used = 0;
    const char* wrong = m_codec.Take(out.raw, place.kind, used, out);
    if (!wrong && used != out.raw.size()) wrong = "the record is longer than its contents";
    if (wrong) return Damaged(place.offset, height, wrong);
    return {};
}

} // namespace ibd

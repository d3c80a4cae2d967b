// See bitmap.h.
#include "hints/bitmap.h"

#include "crypto/sha256.h"
#include "hints/hints_writer.h"
#include "util/endian.h"
#include "util/file_appender.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ibd {

namespace {

constexpr size_t BitmapBytes(uint32_t outputs) { return (outputs + 7) / 8; }

/** Calls visit(index) for each set bit of the map, ascending. */
template <typename Visitor>
void ForEachBit(ByteSpan map, Visitor visit)
{
    for (size_t at = 0; at < map.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, map.data() + at, std::min<size_t>(8, map.size() - at));
        if constexpr (std::endian::native != std::endian::little) word = ByteSwap(word);
        for (; word; word &= word - 1) {
            visit(static_cast<uint32_t>(8 * at) + static_cast<uint32_t>(std::countr_zero(word)));
        }
    }
}

/** Reads the file sequentially; bytes from Take() are valid until the next call. */
class ByteWindow {
public:
    explicit ByteWindow(const HintsFile& file) : m_file(file) {}

    /** The next `size` bytes; nothing: the file ends earlier. */
    Result<ByteSpan> Take(size_t size)
    {
        if (m_file.Size() - m_at < size) return ByteSpan();
        if (m_left.size() < size) {
            Bytes next(std::min<uint64_t>(kChunk, m_file.Size() - m_at));
            IBD_RETURN_IF_ERROR(m_file.Read(m_at, next));
            m_buffer = std::move(next);
            m_left = m_buffer;
        }
        const ByteSpan out = m_left.first(size);
        m_left = m_left.subspan(size);
        m_at += size;
        return out;
    }

private:
    static constexpr size_t kChunk = 256 << 10;

    const HintsFile& m_file;
    uint64_t m_at = 0; //!< position of the next byte to take
    Bytes m_buffer;
    ByteSpan m_left;
};

class BitmapWriter final : public HintsWriter {
public:
    explicit BitmapWriter(std::unique_ptr<WritableFile> file) : m_out(std::move(file)) {}

    Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                 std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_next_height++);
        IBD_RETURN_IF_ERROR(CheckWritable(height, outputs, unspent));
        if (!outputs) return OutputsNeeded(height);
        if (*outputs == 0 || *outputs > std::numeric_limits<uint16_t>::max()) {
            return BadData("block {} has {} outputs; the bitmap format holds 1 to 65535", height,
                           *outputs);
        }
        Bytes record(2 + (*outputs + 7) / 8);
        WriteLE16(record.data(), static_cast<uint16_t>(*outputs));
        for (const uint32_t index : unspent) {
            record[2 + index / 8] |= static_cast<uint8_t>(1 << index % 8);
        }
        return m_out.Add(record);
    }

    Result<> Finish(const BlockHash&) override
    {
        IBD_RETURN_IF_ERROR(m_out.Add(Bytes(2)));
        IBD_RETURN_IF_ERROR(m_out.Flush());
        return m_out.File().Sync();
    }

private:
    FileAppender m_out;
    uint32_t m_next_height = 0;
};

} // namespace

Result<std::unique_ptr<Hints>> BitmapHints::Open(HintsFile file)
{
    auto hints = std::unique_ptr<BitmapHints>(new BitmapHints(std::move(file)));
    hints->m_info.path = hints->m_file.GetPath();
    hints->m_info.format = HintsFormat::kBitmap;
    hints->m_info.counting = HintsCounting::kAll;
    IBD_RETURN_IF_ERROR(hints->Scan());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<> BitmapHints::AddBlock(uint64_t pos, uint32_t height, ByteSpan map, uint32_t outputs)
{
    if (outputs % 8 && map.back() >> outputs % 8) {
        return Damaged(pos + 1 + map.size(), "padding bits are not zero");
    }
    if (height > kMaxHintedHeight) return Damaged(pos, "more blocks than there can be");
    if (height == 0 && outputs != 1) return Damaged(pos, "the genesis block has one output");
    uint64_t ones = 0;
    ForEachBit(map, [&](uint32_t) { ++ones; });
    if (height == 0 && ones) return Damaged(pos, "marks an output of the genesis block unspent");
    if (height > 0) *m_info.outputs += outputs;
    m_info.unspent += ones;
    m_offsets.push_back(pos + 2);
    m_outputs.push_back(static_cast<uint16_t>(outputs));
    return {};
}

Result<> BitmapHints::Scan()
{
    ByteWindow window(m_file);
    Sha256 digest;
    uint64_t pos = 0;
    uint32_t height = 0;
    m_info.outputs = 0;
    for (;; ++height) {
        IBD_ASSIGN_OR_RETURN(const ByteSpan length, window.Take(2));
        if (length.empty()) return Damaged(pos, "the file is cut off");
        digest.Write(length);
        const uint32_t outputs = ReadLE16(length.data());
        if (outputs == 0) break;
        IBD_ASSIGN_OR_RETURN(const ByteSpan map, window.Take(BitmapBytes(outputs)));
        if (map.empty()) return Damaged(pos, "the file is cut off");
        digest.Write(map);
        IBD_RETURN_IF_ERROR(AddBlock(pos, height, map, outputs));
        pos += 2 + map.size();
    }
    if (pos + 2 != m_file.Size()) return Damaged(pos + 2, "bytes follow the end marker");
    if (height < 2) return Damaged(pos, "the file describes no block above the genesis block");
    m_info.terminal_height = height - 1;
    m_info.file_size = m_file.Size();
    m_info.id = Uint256(digest.Finalize());
    return {};
}

Result<> BitmapHints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    const uint32_t outputs = m_outputs[height];
    out.outputs = outputs;
    out.raw.resize(BitmapBytes(outputs));
    IBD_RETURN_IF_ERROR(m_file.Read(m_offsets[height], out.raw));
    if (outputs % 8 && out.raw.back() >> outputs % 8) {
        return Damaged(m_offsets[height], "padding bits are not zero");
    }
    out.unspent.clear();
    ForEachBit(out.raw, [&](uint32_t index) { out.unspent.push_back(index); });
    return {};
}

Result<std::unique_ptr<HintsWriter>> MakeBitmapWriter(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    return std::unique_ptr<HintsWriter>(new BitmapWriter(std::move(file)));
}

} // namespace ibd

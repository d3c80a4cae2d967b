// See hints_bitmap.h.
#include "swiftsync/hints_bitmap.h"

#include "crypto/sha256.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>

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

} // namespace

Error BitmapHints::Damaged(uint64_t offset, std::string_view what) const
{
    return BadData("hints file {}, offset {}: {}", m_info.path.string(), offset, what);
}

Result<std::unique_ptr<Hints>> BitmapHints::Open(const Path& path, std::unique_ptr<MappedFile> file)
{
    auto hints = std::unique_ptr<BitmapHints>(new BitmapHints(std::move(file)));
    hints->m_info.path = path;
    hints->m_info.counting = HintsCounting::kAll;
    hints->m_data = hints->m_file->Data();
    IBD_RETURN_IF_ERROR(hints->Scan());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<> BitmapHints::Scan()
{
    size_t pos = 0;
    uint32_t height = 0;
    for (;; ++height) {
        if (m_data.size() - pos < 2) return Damaged(pos, "the file is cut off");
        const uint32_t outputs = ReadLE16(m_data.data() + pos);
        if (outputs == 0) break;
        if (height % kStride == 0) m_offsets.push_back(pos);
        const size_t length = BitmapBytes(outputs);
        if (m_data.size() - pos - 2 < length) return Damaged(pos, "the file is cut off");
        const ByteSpan map = m_data.subspan(pos + 2, length);
        if (outputs % 8 && map.back() >> outputs % 8) {
            return Damaged(pos + 1 + length, "padding bits are not zero");
        }
        uint64_t ones = 0;
        ForEachBit(map, [&](uint32_t) { ++ones; });
        if (height == 0 && ones)
            return Damaged(pos, "marks an output of the genesis block unspent");
        if (height > 0) m_info.outputs += outputs;
        m_info.unspent += ones;
        pos += 2 + length;
    }
    if (pos + 2 != m_data.size()) return Damaged(pos + 2, "bytes follow the end marker");
    if (height < 2) return Damaged(pos, "the file describes no block above the genesis block");
    m_info.terminal_height = height - 1;
    m_info.file_size = m_data.size();
    m_info.id = Uint256(Sha256Of(m_data));
    return {};
}

Result<> BitmapHints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    size_t pos = m_offsets[height / kStride];
    for (uint32_t skip = height % kStride; skip > 0; --skip) {
        pos += 2 + BitmapBytes(ReadLE16(m_data.data() + pos));
    }
    out.outputs = ReadLE16(m_data.data() + pos);
    out.unspent.clear();
    ForEachBit(m_data.subspan(pos + 2, BitmapBytes(out.outputs)),
               [&](uint32_t index) { out.unspent.push_back(index); });
    return {};
}

} // namespace ibd

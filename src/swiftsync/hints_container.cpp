// See hints_container.h.
#include "swiftsync/hints_container.h"

#include "crypto/sha256.h"
#include "swiftsync/hints_codec.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

// Offsets of the header's fields.
constexpr size_t kVersionAt = 8;
constexpr size_t kCodingAt = 10;
constexpr size_t kNetworkAt = 12;
constexpr size_t kHeightAt = 16;
constexpr size_t kGroupsAt = 20;
constexpr size_t kHashAt = 24;
constexpr size_t kOutputsAt = 56;
constexpr size_t kUnspentAt = 64;
constexpr size_t kIndexAt = 72;
constexpr size_t kFileSizeAt = 80;
constexpr size_t kReservedAt = 88;
constexpr size_t kChecksumAt = 120;

} // namespace

Error ContainerHints::Damaged(uint64_t offset, std::string_view what) const
{
    return BadData("hints file {}, offset {}: {}", m_info.path.string(), offset, what);
}

Result<std::unique_ptr<Hints>> ContainerHints::Open(const Path& path,
                                                    std::unique_ptr<MappedFile> file)
{
    auto hints = std::unique_ptr<ContainerHints>(new ContainerHints(std::move(file)));
    hints->m_info.path = path;
    hints->m_data = hints->m_file->Data();
    IBD_RETURN_IF_ERROR(hints->ParseHeader());
    IBD_RETURN_IF_ERROR(hints->ParseIndex());
    IBD_RETURN_IF_ERROR(hints->CheckGroups());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<> ContainerHints::ParseHeader()
{
    const uint8_t* p = m_data.data();
    if (m_data.size() < kHintsHeaderSize) return Damaged(m_data.size(), "the file is cut off");
    if (const auto version = ReadLE16(p + kVersionAt); version != kHintsVersion) {
        return Damaged(kVersionAt, fmt::format("version {} is not supported, only {} is", version,
                                               kHintsVersion));
    }
    if (ReadLE16(p + kCodingAt) != kHintsCodingRice) return Damaged(kCodingAt, "unknown coding");
    const uint64_t size = ReadLE64(p + kFileSizeAt);
    if (size != m_data.size()) {
        return Damaged(kFileSizeAt, fmt::format("the file should have {} bytes but has {}", size,
                                                m_data.size()));
    }
    m_groups = ReadLE32(p + kGroupsAt);
    const uint64_t index_at = ReadLE64(p + kIndexAt);
    if (index_at < kHintsHeaderSize || index_at > size ||
        size - index_at != uint64_t{m_groups} * kHintsIndexEntrySize) {
        return Damaged(kIndexAt, "the index does not end the file");
    }
    m_index = m_data.subspan(index_at);
    const Hash32 digest = Sha256().Write(m_data.first(kChecksumAt)).Write(m_index).Finalize();
    if (!std::equal(digest.begin(), digest.begin() + 8, p + kChecksumAt)) {
        return Damaged(kChecksumAt, "the checksum of header and index is wrong");
    }
    const ByteSpan reserved = m_data.subspan(kReservedAt, kChecksumAt - kReservedAt);
    if (std::any_of(reserved.begin(), reserved.end(), [](uint8_t b) { return b != 0; })) {
        return Damaged(kReservedAt, "reserved bytes are not zero");
    }
    m_info.terminal_height = ReadLE32(p + kHeightAt);
    if (m_info.terminal_height == 0) return Damaged(kHeightAt, "the terminal height is zero");
    m_info.terminal_hash = BlockHash::FromBytes(p + kHashAt);
    m_info.network_magic.emplace();
    std::copy_n(p + kNetworkAt, 4, m_info.network_magic->begin());
    m_info.outputs = ReadLE64(p + kOutputsAt);
    m_info.unspent = ReadLE64(p + kUnspentAt);
    m_info.file_size = size;
    m_info.id = Uint256(digest);
    return {};
}

Result<> ContainerHints::ParseIndex()
{
    uint64_t height = 1;
    uint64_t offset = kHintsHeaderSize;
    uint64_t unspent = 0;
    const uint64_t index_at = m_data.size() - m_index.size();
    for (size_t i = 0; i < m_groups; ++i) {
        const Group group = GroupAt(i);
        const uint64_t at = index_at + i * kHintsIndexEntrySize;
        if (group.first_height != height) return Damaged(at, "a group starts at the wrong height");
        if (group.blocks == 0 || group.blocks > kMaxBlocksPerGroup) {
            return Damaged(at + 4, "a group has no blocks or more than 1024");
        }
        if (group.offset != offset || group.length > index_at - offset ||
            group.length < group.blocks * 4) {
            return Damaged(at + 8, "a group lies outside its place");
        }
        height += group.blocks;
        offset += group.length;
        unspent += group.unspent;
    }
    if (height != uint64_t{m_info.terminal_height} + 1) {
        return Damaged(kHeightAt, "the groups do not end at the terminal height");
    }
    if (offset != index_at) return Damaged(offset, "bytes lie between the groups and the index");
    if (unspent != m_info.unspent) {
        return Damaged(kUnspentAt, "the groups' unspent outputs do not sum to the header's count");
    }
    if (m_info.outputs < m_info.unspent)
        return Damaged(kOutputsAt, "fewer outputs than unspent ones");
    return {};
}

ContainerHints::Group ContainerHints::GroupAt(size_t number) const
{
    const uint8_t* p = m_index.data() + number * kHintsIndexEntrySize;
    return {ReadLE32(p),      ReadLE32(p + 4),  ReadLE64(p + 8),
            ReadLE32(p + 16), ReadLE32(p + 20), p + 24};
}

size_t ContainerHints::FindGroup(uint32_t height) const
{
    size_t low = 0;
    size_t high = m_groups; // the answer is in [low, high)
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        (GroupAt(middle).first_height <= height ? low : high) = middle;
    }
    return low;
}

uint32_t ContainerHints::RecordStart(const Group& group, uint32_t i) const
{
    if (i == group.blocks) return group.length;
    return ReadLE32(m_data.data() + group.offset + size_t{i} * 4);
}

ByteSpan ContainerHints::Record(const Group& group, uint32_t i) const
{
    const uint32_t start = RecordStart(group, i);
    return m_data.subspan(group.offset + start, RecordStart(group, i + 1) - start);
}

Result<> ContainerHints::CheckGroups() const
{
    uint64_t outputs = 0;
    for (size_t i = 0; i < m_groups; ++i) IBD_RETURN_IF_ERROR(CheckGroup(GroupAt(i), outputs));
    if (outputs == m_info.outputs) return {};
    return Damaged(kOutputsAt, "the records' outputs do not sum to the header's count");
}

Result<> ContainerHints::CheckGroup(const Group& group, uint64_t& outputs) const
{
    const Hash32 digest = Sha256Of(m_data.subspan(group.offset, group.length));
    if (!std::equal(digest.begin(), digest.begin() + 8, group.checksum)) {
        return Damaged(group.offset, fmt::format("the checksum of the group at height {} is wrong",
                                                 group.first_height));
    }
    uint32_t expected = group.blocks * 4;
    uint64_t unspent = 0;
    for (uint32_t i = 0; i < group.blocks; ++i) {
        const uint32_t start = RecordStart(group, i);
        const uint32_t end = RecordStart(group, i + 1);
        if (start < expected || (i == 0 && start != expected) || end < start ||
            end > group.length) {
            return Damaged(group.offset + i * 4, "a record lies outside its group");
        }
        expected = start;
        HintsRecordCounts counts;
        if (const char* wrong = DecodeHintsCounts(Record(group, i), counts)) {
            return Damaged(group.offset + start, wrong);
        }
        unspent += counts.unspent;
        outputs += counts.outputs;
    }
    if (unspent == group.unspent) return {};
    return Damaged(group.offset, "the records' unspent outputs do not sum to the group's count");
}

Result<> ContainerHints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    const Group group = GroupAt(FindGroup(height));
    const uint32_t i = height - group.first_height;
    if (const char* wrong = DecodeHintsRecord(Record(group, i), out)) {
        return Damaged(group.offset + RecordStart(group, i),
                       fmt::format("hints of block {}: {}", height, wrong));
    }
    return {};
}

} // namespace ibd

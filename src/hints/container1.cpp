// See container1.h.
#include "hints/container1.h"

#include "hints/hints_writer.h"
#include "hints/rice_record.h"
#include "primitives/serialize.h"
#include "util/file_appender.h"

namespace ibd {

namespace {

using namespace container_head;

// Offsets of the header's further fields.
constexpr size_t kOutputsAt = 56;
constexpr size_t kUnspentAt = 64;
constexpr size_t kIndexAt = 72;
constexpr size_t kFileSizeAt = 80;
constexpr size_t kReservedAt = 88;
constexpr size_t kChecksumAt = 120;

/** Bounds memory; real files are far smaller. */
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 37;

class ContainerWriter final : public HintsWriter {
public:
    ContainerWriter(std::unique_ptr<WritableFile> file, std::array<uint8_t, 4> network_magic)
        : m_out(std::move(file)), m_network_magic(network_magic)
    {
    }

    Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                 std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_height + 1);
        if (m_height == 0) IBD_RETURN_IF_ERROR(m_out.Add(Bytes(kHintsHeaderSize)));
        IBD_RETURN_IF_ERROR(CheckWritable(height, outputs, unspent));
        if (!outputs) return OutputsNeeded(height);
        m_height = height;
        m_starts.push_back(static_cast<uint32_t>(m_records.size()));
        EncodeHintsRecord(*outputs, unspent, m_records);
        m_group_unspent += static_cast<uint32_t>(unspent.size());
        m_outputs += *outputs;
        m_unspent += unspent.size();
        const bool full = m_group_unspent >= kCloseGroupAtUnspent;
        return full || m_starts.size() == kMaxBlocksPerGroup ? CloseGroup() : Result<>();
    }

    Result<> Finish(const BlockHash& terminal_hash) override
    {
        CHECK(m_height > 0 && m_height <= kMaxHintedHeight);
        IBD_RETURN_IF_ERROR(CloseGroup());
        CHECK(m_index.size() <= kMaxHintsIndexBytes);
        const uint64_t index_at = m_out.Size();
        IBD_RETURN_IF_ERROR(m_out.Add(m_index));
        IBD_RETURN_IF_ERROR(m_out.Flush());
        IBD_RETURN_IF_ERROR(m_out.File().WriteAt(0, Header(terminal_hash, index_at)));
        return m_out.File().Sync();
    }

private:
    Result<> CloseGroup()
    {
        if (m_starts.empty()) return {};
        const auto blocks = static_cast<uint32_t>(m_starts.size());
        Bytes group;
        Writer writer(group);
        for (const uint32_t start : m_starts) writer.U32(blocks * 4 + start);
        writer.Raw(m_records);
        CHECK(group.size() <= kMaxGroupBytes); // Open() would refuse it, and the following
        const Hash32 digest = Sha256Of(group);
        Writer index(m_index);
        index.U32(m_height + 1 - blocks);
        index.U32(blocks);
        index.U64(m_out.Size());
        index.U32(static_cast<uint32_t>(group.size()));
        index.U32(m_group_unspent);
        index.Raw(ByteSpan(digest).first(8));
        m_starts.clear();
        m_records.clear();
        m_group_unspent = 0;
        return m_out.Add(group);
    }

    Bytes Header(const BlockHash& terminal_hash, uint64_t index_at) const
    {
        Bytes header;
        Writer writer(header);
        writer.Raw(kHintsMagic);
        writer.U16(kHintsVersion);
        writer.U16(kHintsCodingRice);
        writer.Raw(m_network_magic);
        writer.U32(m_height);
        writer.U32(static_cast<uint32_t>(m_index.size() / kHintsIndexEntrySize));
        writer.Hash(terminal_hash);
        writer.U64(m_outputs);
        writer.U64(m_unspent);
        writer.U64(index_at);
        writer.U64(index_at + m_index.size());
        header.resize(kHintsHeaderSize - 8);
        const Hash32 digest = Sha256().Write(header).Write(m_index).Finalize();
        writer.Raw(ByteSpan(digest).first(8));
        return header;
    }

    FileAppender m_out;
    const std::array<uint8_t, 4> m_network_magic;
    uint32_t m_height = 0;
    uint64_t m_outputs = 0;
    uint64_t m_unspent = 0;
    uint32_t m_group_unspent = 0;
    std::vector<uint32_t> m_starts; //!< of the group's records, within m_records
    Bytes m_records;
    Bytes m_index;
};

} // namespace

Result<std::unique_ptr<Hints>> ContainerHints::Open(HintsFile file)
{
    std::unique_ptr<ContainerHints> hints(new ContainerHints(std::move(file)));
    IBD_RETURN_IF_ERROR(hints->CheckAll());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<> ContainerHints::ParseHeader(Opening& opening)
{
    IBD_RETURN_IF_ERROR(ReadHeader(opening, kHintsHeaderSize));
    const uint8_t* p = opening.header.data();
    if (m_file.Size() > kMaxFileBytes) return Damaged(kMaxFileBytes, "the file is too long");
    if (const auto version = ReadLE16(p + kVersionAt); version != kHintsVersion) {
        return Damaged(kVersionAt,
                       fmt::format("version {} is not supported, only 1 and 2 are", version));
    }
    IBD_RETURN_IF_ERROR(ParseHead(p, kHintsCodingRice));
    const uint64_t size = ReadLE64(p + kFileSizeAt);
    if (size != m_file.Size()) {
        return Damaged(kFileSizeAt, fmt::format("the file should have {} bytes but has {}", size,
                                                m_file.Size()));
    }
    m_info.outputs = ReadLE64(p + kOutputsAt);
    m_info.unspent = ReadLE64(p + kUnspentAt);
    return {};
}

Result<> ContainerHints::ReadIndex(Opening& opening)
{
    const uint8_t* p = opening.header.data();
    const uint64_t length = uint64_t{ReadLE32(p + kGroupsAt)} * kHintsIndexEntrySize;
    opening.index_at = ReadLE64(p + kIndexAt);
    if (opening.index_at < kHintsHeaderSize || opening.index_at > m_file.Size() ||
        m_file.Size() - opening.index_at != length) {
        return Damaged(kIndexAt, "the index does not end the file");
    }
    if (length > kMaxHintsIndexBytes) return Damaged(kGroupsAt, "the index is too long");
    opening.index.resize(length);
    IBD_RETURN_IF_ERROR(m_file.Read(opening.index_at, opening.index));
    const ByteSpan head = ByteSpan(opening.header).first(kChecksumAt);
    const Hash32 digest = Sha256().Write(head).Write(opening.index).Finalize();
    if (!SameChecksum(digest, p + kChecksumAt)) {
        return Damaged(kChecksumAt, "the checksum of header and index is wrong");
    }
    if (std::any_of(p + kReservedAt, p + kChecksumAt, [](uint8_t b) { return b != 0; })) {
        return Damaged(kReservedAt, "reserved bytes are not zero");
    }
    m_info.id = Uint256(digest);
    return {};
}

Result<> ContainerHints::CheckIndex(const Opening& opening)
{
    IBD_RETURN_IF_ERROR(CheckTerminalHeight());
    uint64_t height = 1;
    uint64_t offset = kHintsHeaderSize;
    uint64_t unspent = 0;
    for (size_t i = 0; i * kHintsIndexEntrySize < opening.index.size(); ++i) {
        const Group group = GroupAt(opening, i);
        const uint64_t at = opening.index_at + i * kHintsIndexEntrySize;
        if (group.first_height != height) return Damaged(at, "a group starts at the wrong height");
        if (group.blocks == 0 || group.blocks > kMaxBlocksPerGroup) {
            return Damaged(at + 4, "a group has no blocks or more than 1024");
        }
        if (group.offset != offset || group.length > opening.index_at - offset ||
            group.length < group.blocks * 4) {
            return Damaged(at + 8, "a group lies outside its place");
        }
        if (group.length > kMaxGroupBytes) return Damaged(at + 16, "a group is too long");
        height += group.blocks;
        offset += group.length;
        unspent += group.unspent;
    }
    IBD_RETURN_IF_ERROR(CheckGroupsEnd(height, offset, opening.index_at));
    if (unspent != m_info.unspent) {
        return Damaged(kUnspentAt, "the groups' unspent outputs do not sum to the header's count");
    }
    if (*m_info.outputs < m_info.unspent) {
        return Damaged(kOutputsAt, "fewer outputs than unspent ones");
    }
    return {};
}

ContainerHints::Group ContainerHints::GroupAt(const Opening& opening, size_t number)
{
    const uint8_t* p = opening.index.data() + number * kHintsIndexEntrySize;
    return {ReadLE32(p),      ReadLE32(p + 4),  ReadLE64(p + 8),
            ReadLE32(p + 16), ReadLE32(p + 20), p + 24};
}

Result<> ContainerHints::CheckGroups(Opening& opening)
{
    m_records.reserve(m_info.terminal_height);
    for (size_t i = 0; i * kHintsIndexEntrySize < opening.index.size(); ++i) {
        IBD_RETURN_IF_ERROR(CheckGroup(GroupAt(opening, i), opening));
    }
    if (opening.outputs == m_info.outputs) return {};
    return Damaged(kOutputsAt, "the records' outputs do not sum to the header's count");
}

Result<> ContainerHints::CheckGroup(const Group& group, Opening& opening)
{
    IBD_RETURN_IF_ERROR(ReadGroup(group, group.checksum, opening.group));
    return CheckRecords(group, opening);
}

Result<> ContainerHints::CheckRecords(const Group& group, Opening& opening)
{
    const ByteSpan bytes = opening.group;
    uint32_t expected = group.blocks * 4;
    uint64_t unspent = 0;
    for (uint32_t i = 0; i < group.blocks; ++i) {
        const uint32_t start = ReadLE32(bytes.data() + size_t{i} * 4);
        const uint32_t end =
            i + 1 == group.blocks ? group.length : ReadLE32(bytes.data() + size_t{i} * 4 + 4);
        if (start < expected || (i == 0 && start != expected) || end < start ||
            end > group.length) {
            return Damaged(group.offset + i * 4, "a record lies outside its group");
        }
        expected = start;
        HintsRecordCounts counts;
        if (const char* wrong = DecodeHintsCounts(bytes.subspan(start, end - start), counts)) {
            return Damaged(group.offset + start, wrong);
        }
        m_records.push_back({group.offset + start, end - start});
        unspent += counts.unspent;
        opening.outputs += counts.outputs;
    }
    if (unspent == group.unspent) return {};
    return Damaged(group.offset, "the records' unspent outputs do not sum to the group's count");
}

Result<> ContainerHints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    const Place place = m_records[height - 1];
    out.raw.resize(place.length);
    IBD_RETURN_IF_ERROR(m_file.Read(place.offset, out.raw));
    if (const char* wrong = DecodeHintsRecord(out.raw, out)) {
        return Damaged(place.offset, fmt::format("hints of block {}: {}", height, wrong));
    }
    return {};
}

Result<std::unique_ptr<HintsWriter>> MakeContainerWriter(Env& env, const Path& path,
                                                         std::array<uint8_t, 4> network_magic)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    return std::unique_ptr<HintsWriter>(new ContainerWriter(std::move(file), network_magic));
}

} // namespace ibd

// See container2.h.
#include "hints/container2.h"

#include "primitives/serialize.h"

namespace ibd {

namespace {

using namespace container_head;

// Offsets of the header's further fields.
constexpr size_t kUnspentAt = 56;
constexpr size_t kIndexAt = 64;
constexpr size_t kBodyEndAt = 72;
constexpr size_t kTablesSizeAt = 80;
constexpr size_t kReservedAt = 84;
constexpr size_t kChecksumAt = 88;

constexpr size_t kSectionHeadSize = 12; //!< tag and length

/** A container without its groups, which read as zeros. */
class HeadOnly final : public ReadableFile {
public:
    HeadOnly(Bytes head, uint64_t index_at, uint64_t size)
        : m_head(std::move(head)), m_index_at(index_at), m_size(size)
    {
    }

    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        const uint64_t index_size = m_size - m_index_at;
        const uint64_t before = m_head.size() - index_size;
        std::fill(out.begin(), out.end(), uint8_t{0});
        for (size_t i = 0; i < out.size(); ++i) {
            const uint64_t at = offset + i;
            if (at >= m_size) return i;
            if (at < before) out[i] = m_head[at];
            if (at >= m_index_at) out[i] = m_head[before + (at - m_index_at)];
        }
        return out.size();
    }
    Result<uint64_t> Size() const override { return m_size; }
    void WillNeed(uint64_t, uint64_t) const override {}
    void DontNeed(uint64_t, uint64_t) const override {}

private:
    const Bytes m_head;
    const uint64_t m_index_at;
    const uint64_t m_size;
};

uint64_t MemoryOf(const GroupHints& group)
{
    return 4 * (group.ends.capacity() + group.unspent.capacity());
}

} // namespace

DecodedGroups::Group DecodedGroups::Find(size_t number)
{
    const Lock lock(m_mutex);
    for (auto it = m_groups.begin(); it != m_groups.end(); ++it) {
        if (it->first != number) continue;
        m_groups.splice(m_groups.begin(), m_groups, it);
        return it->second;
    }
    return nullptr;
}

void DecodedGroups::Keep(size_t number, Group group)
{
    const Lock lock(m_mutex);
    for (const auto& kept : m_groups) {
        if (kept.first == number) return; // another worker has decoded it
    }
    m_bytes += MemoryOf(*group);
    m_groups.emplace_front(number, std::move(group));
    while (m_bytes > kDecodedGroupBytes && m_groups.size() > 1) {
        m_bytes -= MemoryOf(*m_groups.back().second);
        m_groups.pop_back();
    }
}

Result<std::unique_ptr<Hints>> Container2Hints::Open(HintsFile file)
{
    std::unique_ptr<Container2Hints> hints(new Container2Hints(std::move(file)));
    IBD_RETURN_IF_ERROR(hints->CheckAll());
    return std::unique_ptr<Hints>(std::move(hints));
}

Result<std::unique_ptr<Container2Hints>> Container2Hints::OpenHead(const Path& name, Bytes head)
{
    const auto refuse = [&](uint64_t offset, std::string_view what) {
        return HintsFile(name, nullptr, 0).Damaged(offset, what);
    };
    if (head.size() < kContainer2HeaderSize) return refuse(head.size(), "the file is cut off");
    if (!std::equal(kHintsMagic.begin(), kHintsMagic.end(), head.begin()) ||
        ReadLE16(head.data() + kVersionAt) != kHintsVersion2) {
        return refuse(0, "not a container of version 2");
    }
    const uint64_t index_at = ReadLE64(head.data() + kIndexAt);
    const uint64_t end = ReadLE64(head.data() + kBodyEndAt);
    const uint64_t before = kContainer2HeaderSize + ReadLE32(head.data() + kTablesSizeAt);
    if (index_at > end || index_at < before || head.size() < before ||
        head.size() - before != end - index_at) {
        return refuse(kIndexAt, "the index is not where it must be");
    }
    auto file = std::make_unique<HeadOnly>(std::move(head), index_at, end);
    auto hints = std::unique_ptr<Container2Hints>(
        new Container2Hints(HintsFile(name, std::move(file), end)));
    Opening opening;
    IBD_RETURN_IF_ERROR(hints->CheckHead(opening));
    return hints;
}

Result<Bytes> Container2Hints::Head() const
{
    Bytes head(HeadSize());
    const size_t before = FirstGroupAt();
    IBD_RETURN_IF_ERROR(m_file.Read(0, MutableByteSpan(head).first(before)));
    IBD_RETURN_IF_ERROR(m_file.Read(IndexAt(), MutableByteSpan(head).subspan(before)));
    return head;
}

Result<Bytes> Container2Hints::GroupBytes(size_t first, size_t count) const
{
    CHECK(count > 0 && count <= m_groups.size() && first <= m_groups.size() - count);
    const Group& last = m_groups[first + count - 1];
    const uint64_t offset = m_groups[first].offset;
    Bytes bytes(last.offset + last.length - offset);
    IBD_RETURN_IF_ERROR(m_file.Read(offset, bytes));
    return bytes;
}

Result<> Container2Hints::ParseHeader(Opening& opening)
{
    IBD_RETURN_IF_ERROR(ReadHeader(opening, kContainer2HeaderSize));
    const uint8_t* p = opening.header.data();
    IBD_RETURN_IF_ERROR(ParseHead(p, kHintsCodingGaps));
    m_info.unspent = ReadLE64(p + kUnspentAt);
    return {};
}

Result<> Container2Hints::ReadIndex(Opening& opening)
{
    const uint8_t* p = opening.header.data();
    const uint64_t index_size = uint64_t{ReadLE32(p + kGroupsAt)} * kContainer2EntrySize;
    const uint64_t end = ReadLE64(p + kBodyEndAt);
    const uint32_t tables_size = ReadLE32(p + kTablesSizeAt);
    opening.index_at = ReadLE64(p + kIndexAt);
    if (end > m_file.Size()) {
        return Damaged(kBodyEndAt,
                       fmt::format("the file should have {} bytes but has {}", end, m_file.Size()));
    }
    if (tables_size > GapModel::kMaxBytes) return Damaged(kTablesSizeAt, "the tables are too long");
    if (opening.index_at < kContainer2HeaderSize + tables_size || opening.index_at > end ||
        end - opening.index_at != index_size || index_size > kMaxHintsIndexBytes) {
        return Damaged(kIndexAt, "the index is not where it must be");
    }
    m_body_end = end;
    opening.tables.resize(tables_size);
    opening.index.resize(index_size);
    IBD_RETURN_IF_ERROR(m_file.Read(kContainer2HeaderSize, opening.tables));
    IBD_RETURN_IF_ERROR(m_file.Read(opening.index_at, opening.index));
    const Hash32 digest = Sha256()
                              .Write(ByteSpan(opening.header).first(kChecksumAt))
                              .Write(opening.tables)
                              .Write(opening.index)
                              .Finalize();
    if (!SameChecksum(digest, p + kChecksumAt)) {
        return Damaged(kChecksumAt, "the checksum of header, tables and index is wrong");
    }
    if (ReadLE32(p + kReservedAt)) return Damaged(kReservedAt, "reserved bytes are not zero");
    m_info.id = Uint256(digest);
    GapModel model;
    if (const char* wrong = GapModel::Decode(opening.tables, model)) {
        return Damaged(kContainer2HeaderSize, wrong);
    }
    m_decoder = std::make_unique<GapDecoder>(model);
    return CheckSections(end);
}

Result<> Container2Hints::CheckSections(uint64_t offset)
{
    while (offset < m_file.Size()) {
        std::array<uint8_t, kSectionHeadSize> head;
        const uint64_t left = m_file.Size() - offset;
        if (left < head.size() + kHintsChecksumSize) return Damaged(offset, "a section is cut off");
        IBD_RETURN_IF_ERROR(m_file.Read(offset, head));
        const uint64_t length = ReadLE64(head.data() + 4);
        if (length > left - head.size() - kHintsChecksumSize) {
            return Damaged(offset + 4, "a section is cut off");
        }
        Sha256 digest;
        digest.Write(head);
        Bytes piece;
        for (uint64_t at = 0; at < length; at += piece.size()) {
            piece.resize(std::min<uint64_t>(length - at, 1 << 20));
            IBD_RETURN_IF_ERROR(m_file.Read(offset + head.size() + at, piece));
            digest.Write(piece);
        }
        std::array<uint8_t, kHintsChecksumSize> stored;
        IBD_RETURN_IF_ERROR(m_file.Read(offset + head.size() + length, stored));
        if (!SameChecksum(digest.Finalize(), stored.data())) {
            return Damaged(offset, "the checksum of a section is wrong");
        }
        offset += head.size() + length + kHintsChecksumSize;
    }
    return {};
}

Result<> Container2Hints::CheckIndex(const Opening& opening)
{
    IBD_RETURN_IF_ERROR(CheckTerminalHeight());
    uint64_t height = 1;
    uint64_t offset = kContainer2HeaderSize + opening.tables.size();
    uint64_t unspent = 0;
    m_groups.reserve(opening.index.size() / kContainer2EntrySize);
    for (size_t pos = 0; pos < opening.index.size(); pos += kContainer2EntrySize) {
        Reader entry(ByteSpan(opening.index).subspan(pos, kContainer2EntrySize));
        const uint32_t blocks = entry.U16();
        Group group{static_cast<uint32_t>(height), blocks, offset, entry.U32(), entry.U32(), {}};
        const ByteSpan checksum = entry.Span(kHintsChecksumSize);
        std::copy(checksum.begin(), checksum.end(), group.checksum.begin());
        const uint64_t at = opening.index_at + pos;
        if (blocks == 0 || blocks > kMaxBlocksPerGroup) {
            return Damaged(at, "a group has no blocks or more than 1024");
        }
        if (group.length > opening.index_at - offset || group.length > kMaxGroup2Bytes) {
            return Damaged(at + 2, "a group is too long");
        }
        if (group.unspent > kMaxGroupUnspent) {
            return Damaged(at + 6, "a group has too many unspent outputs");
        }
        m_groups.push_back(group);
        height += blocks;
        offset += group.length;
        unspent += group.unspent;
    }
    IBD_RETURN_IF_ERROR(CheckGroupsEnd(height, offset, opening.index_at));
    if (unspent == m_info.unspent) return {};
    return Damaged(kUnspentAt, "the groups' unspent outputs do not sum to the header's count");
}

Result<> Container2Hints::CheckGroups(Opening& opening)
{
    for (const Group& group : m_groups) {
        IBD_RETURN_IF_ERROR(ReadGroup(group, group.checksum.data(), opening.group));
    }
    return {};
}

Result<DecodedGroups::Group> Container2Hints::Decoded(size_t number) const
{
    if (auto kept = m_decoded.Find(number)) return kept;
    const Group& group = m_groups[number];
    Bytes bytes(group.length);
    IBD_RETURN_IF_ERROR(m_file.Read(group.offset, bytes));
    auto decoded = std::make_shared<GroupHints>();
    if (const char* wrong =
            m_decoder->Decode(bytes, group.blocks, group.unspent, kMaxHintedOutputs, *decoded)) {
        return Damaged(group.offset,
                       fmt::format("the group of blocks {} to {}: {}", group.first_height,
                                   group.first_height + group.blocks - 1, wrong));
    }
    m_decoded.Keep(number, decoded);
    return DecodedGroups::Group(std::move(decoded));
}

Result<> Container2Hints::Read(uint32_t height, BlockHints& out) const
{
    CHECK(height >= 1 && height <= m_info.terminal_height);
    const auto after =
        std::upper_bound(m_groups.begin(), m_groups.end(), height,
                         [](uint32_t h, const Group& g) { return h < g.first_height; });
    const auto number = static_cast<size_t>(after - m_groups.begin()) - 1;
    IBD_ASSIGN_OR_RETURN(const DecodedGroups::Group group, Decoded(number));
    const auto block = group->Block(height - m_groups[number].first_height);
    out.outputs.reset();
    out.unspent.assign(block.begin(), block.end());
    return {};
}

} // namespace ibd

// See hints_writer.h.
#include "swiftsync/hints_writer.h"

#include "crypto/sha256.h"
#include "primitives/serialize.h"
#include "swiftsync/hints_codec.h"
#include "swiftsync/hints_container.h"
#include "util/file_appender.h"

#include <limits>

namespace ibd {

namespace {

class ContainerWriter final : public HintsWriter {
public:
    ContainerWriter(std::unique_ptr<WritableFile> file, std::array<uint8_t, 4> network_magic)
        : m_out(std::move(file)), m_network_magic(network_magic)
    {
    }

    Result<> Add(uint32_t height, uint32_t outputs, std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_height + 1);
        if (m_height == 0) IBD_RETURN_IF_ERROR(m_out.Add(Bytes(kHintsHeaderSize)));
        if (outputs > kMaxHintedOutputs) {
            return BadData("block {} has {} outputs, more than hints can hold", height, outputs);
        }
        m_height = height;
        m_starts.push_back(static_cast<uint32_t>(m_records.size()));
        EncodeHintsRecord(outputs, unspent, m_records);
        m_group_unspent += static_cast<uint32_t>(unspent.size());
        m_outputs += outputs;
        m_unspent += unspent.size();
        const bool full = m_group_unspent >= kCloseGroupAtUnspent;
        return full || m_starts.size() == kMaxBlocksPerGroup ? CloseGroup() : Result<>();
    }

    Result<> Finish(const BlockHash& terminal_hash) override
    {
        CHECK(m_height > 0);
        IBD_RETURN_IF_ERROR(CloseGroup());
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

class BitmapWriter final : public HintsWriter {
public:
    explicit BitmapWriter(std::unique_ptr<WritableFile> file) : m_out(std::move(file)) {}

    Result<> Add(uint32_t height, uint32_t outputs, std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_next_height++);
        if (outputs == 0 || outputs > std::numeric_limits<uint16_t>::max()) {
            return BadData("block {} has {} outputs; the bitmap format holds 1 to 65535", height,
                           outputs);
        }
        Bytes record(2 + (outputs + 7) / 8);
        WriteLE16(record.data(), static_cast<uint16_t>(outputs));
        for (const uint32_t index : unspent) {
            CHECK(index < outputs);
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

Result<std::unique_ptr<HintsWriter>> MakeContainerWriter(Env& env, const Path& path,
                                                         std::array<uint8_t, 4> network_magic)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    return std::unique_ptr<HintsWriter>(new ContainerWriter(std::move(file), network_magic));
}

Result<std::unique_ptr<HintsWriter>> MakeBitmapWriter(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    return std::unique_ptr<HintsWriter>(new BitmapWriter(std::move(file)));
}

} // namespace ibd

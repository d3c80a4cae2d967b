// Writer of version 2 of the container. The tables precede the groups but depend on all of them, so
// the numbers to be coded wait in a second file (about a byte for each unspent output) until the
// last block is added. Memory: one group.
#include "hints/container2.h"
#include "hints/gaps.h"
#include "hints/hints_writer.h"
#include "hints/leb128.h"
#include "primitives/serialize.h"
#include "util/file_appender.h"

namespace ibd {

namespace {

/** Holds the groups to be coded: for each block its count and its runs of zeros, LEB128. */
class WaitingGroups {
public:
    WaitingGroups(Env& env, Path path, std::unique_ptr<WritableFile> file)
        : m_env(env), m_path(std::move(path)), m_out(std::move(file))
    {
    }
    ~WaitingGroups() { (void)m_env.Remove(m_path); }

    Result<> Add(const GroupHints& group)
    {
        m_bytes.clear();
        for (size_t i = 0; i < group.ends.size(); ++i) {
            const auto block = group.Block(i);
            PutLeb128(static_cast<uint32_t>(block.size()), m_bytes);
            ForEachGap(block, [&](uint32_t gap) { PutLeb128(gap, m_bytes); });
        }
        m_groups.push_back(
            {static_cast<uint32_t>(group.ends.size()), static_cast<uint32_t>(m_bytes.size())});
        return m_out.Add(m_bytes);
    }

    /** Passes all groups to `visit(group)` in order. */
    template <typename Visitor>
    Result<> ForEach(Visitor visit)
    {
        IBD_RETURN_IF_ERROR(m_out.Flush());
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(m_path));
        GroupHints group;
        uint64_t offset = 0;
        for (const Waiting& w : m_groups) {
            m_bytes.resize(w.length);
            IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(offset, m_bytes));
            if (got != m_bytes.size() || !Parse(w.blocks, group)) {
                return SystemError("{} was changed while in use", m_path.string());
            }
            offset += w.length;
            IBD_RETURN_IF_ERROR(visit(group));
        }
        return {};
    }

private:
    struct Waiting {
        uint32_t blocks;
        uint32_t length;
    };

    bool Parse(uint32_t blocks, GroupHints& group) const
    {
        group.Clear();
        size_t pos = 0;
        for (uint32_t b = 0; b < blocks; ++b) {
            uint32_t count = 0;
            if (!TakeLeb128(m_bytes, pos, count) || count > kMaxHintedOutputs) return false;
            uint32_t next = 0;
            for (uint32_t i = 0; i < count; ++i) {
                uint32_t gap = 0;
                if (!TakeLeb128(m_bytes, pos, gap) || gap > kMaxHintedOutputs - next) return false;
                group.unspent.push_back(next + gap);
                next += gap + 1;
            }
            group.ends.push_back(static_cast<uint32_t>(group.unspent.size()));
        }
        return pos == m_bytes.size();
    }

    Env& m_env;
    const Path m_path;
    FileAppender m_out;
    std::vector<Waiting> m_groups;
    Bytes m_bytes;
};

class Container2Writer final : public HintsWriter {
public:
    Container2Writer(std::unique_ptr<WritableFile> file, std::unique_ptr<WaitingGroups> waiting,
                     std::array<uint8_t, 4> network_magic)
        : m_out(std::move(file)), m_waiting(std::move(waiting)), m_network_magic(network_magic),
          m_counts(std::make_unique<GapCounts>())
    {
    }

    Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                 std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_height + 1);
        IBD_RETURN_IF_ERROR(CheckWritable(height, outputs, unspent));
        m_height = height;
        m_unspent += unspent.size();
        m_group.Add(unspent);
        const bool full = m_group.unspent.size() >= kCloseGroupAtUnspent;
        return full || m_group.ends.size() == kMaxBlocksPerGroup ? CloseGroup() : Result<>();
    }

    Result<> Finish(const BlockHash& terminal_hash) override
    {
        CHECK(m_height > 0 && m_height <= kMaxHintedHeight); // Open() would refuse it
        IBD_RETURN_IF_ERROR(CloseGroup());
        const GapModel model = GapModel::For(*m_counts);
        const Bytes tables = model.Encode();
        IBD_RETURN_IF_ERROR(m_out.Add(Bytes(kContainer2HeaderSize)));
        IBD_RETURN_IF_ERROR(m_out.Add(tables));
        Bytes index;
        Writer entries(index);
        IBD_RETURN_IF_ERROR(m_waiting->ForEach([&](const GroupHints& group) -> Result<> {
            const Bytes bytes = EncodeGroup(group, model);
            entries.U16(static_cast<uint16_t>(group.ends.size()));
            entries.U32(static_cast<uint32_t>(bytes.size()));
            entries.U32(static_cast<uint32_t>(group.unspent.size()));
            entries.Raw(ByteSpan(Sha256Of(bytes)).first(8));
            return m_out.Add(bytes);
        }));
        m_waiting.reset();
        CHECK(index.size() <= kMaxHintsIndexBytes); // likewise
        const Bytes header = Header(terminal_hash, tables, index);
        IBD_RETURN_IF_ERROR(m_out.Add(index));
        IBD_RETURN_IF_ERROR(m_out.Flush());
        IBD_RETURN_IF_ERROR(m_out.File().WriteAt(0, header));
        return m_out.File().Sync();
    }

private:
    Result<> CloseGroup()
    {
        if (m_group.ends.empty()) return {};
        CountGaps(m_group, *m_counts);
        const Result<> added = m_waiting->Add(m_group);
        m_group.Clear();
        return added;
    }

    Bytes Header(const BlockHash& terminal_hash, ByteSpan tables, ByteSpan index) const
    {
        Bytes header;
        Writer writer(header);
        writer.Raw(kHintsMagic);
        writer.U16(kHintsVersion2);
        writer.U16(kHintsCodingGaps);
        writer.Raw(m_network_magic);
        writer.U32(m_height);
        writer.U32(static_cast<uint32_t>(index.size() / kContainer2EntrySize));
        writer.Hash(terminal_hash);
        writer.U64(m_unspent);
        writer.U64(m_out.Size());
        writer.U64(m_out.Size() + index.size());
        writer.U32(static_cast<uint32_t>(tables.size()));
        writer.U32(0);
        const Hash32 digest = Sha256().Write(header).Write(tables).Write(index).Finalize();
        writer.Raw(ByteSpan(digest).first(8));
        return header;
    }

    FileAppender m_out;
    std::unique_ptr<WaitingGroups> m_waiting;
    const std::array<uint8_t, 4> m_network_magic;
    std::unique_ptr<GapCounts> m_counts;
    GroupHints m_group;
    uint32_t m_height = 0;
    uint64_t m_unspent = 0;
};

} // namespace

Result<std::unique_ptr<HintsWriter>> MakeContainer2Writer(Env& env, const Path& path,
                                                          std::array<uint8_t, 4> network_magic)
{
    const Path beside = path.string() + ".gaps";
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    IBD_ASSIGN_OR_RETURN(auto gaps, env.OpenWrite(beside, true));
    auto waiting = std::make_unique<WaitingGroups>(env, beside, std::move(gaps));
    return std::unique_ptr<HintsWriter>(
        new Container2Writer(std::move(file), std::move(waiting), network_magic));
}

} // namespace ibd

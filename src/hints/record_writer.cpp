// Writers of the formats with consecutive records (record_codec.h).
#include "hints/gzip.h"
#include "hints/hints_writer.h"
#include "hints/record_codec.h"
#include "primitives/serialize.h"
#include "util/file_appender.h"

namespace ibd {

namespace {

Bytes FileHeader(uint8_t version, uint32_t terminal_height)
{
    Bytes out;
    Writer writer(out);
    writer.Raw(AsBytes("UTXO"));
    writer.U8(version);
    writer.U32(terminal_height);
    return out;
}

/** Writes the header, then records; packed if the format is. */
class RecordWriter : public HintsWriter {
public:
    RecordWriter(std::unique_ptr<WritableFile> file, const RecordCodec& codec,
                 const HintsTarget& target)
        : m_out(std::move(file)), m_target(target), m_codec(codec),
          m_next_height(FirstHeight(target.format))
    {
    }

    Result<> Start()
    {
        switch (m_target.format) {
        case HintsFormat::kGaps: return {};
        case HintsFormat::kBtcd: return Put(FileHeader(1, m_target.terminal_height));
        default: return Put(FileHeader(0, m_target.terminal_height));
        }
    }

    Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                 std::span<const uint32_t> unspent) override
    {
        CHECK(height == m_next_height++);
        IBD_RETURN_IF_ERROR(CheckWritable(height, outputs, unspent));
        if (m_target.format == HintsFormat::kIndexed && !outputs) return OutputsNeeded(height);
        m_record.clear();
        m_codec.Put(outputs, unspent, m_record);
        return Put(m_record);
    }

    Result<> Finish(const BlockHash&) override
    {
        CHECK(m_target.format == HintsFormat::kGaps ||
              m_next_height == m_target.terminal_height + 1);
        m_last = true;
        IBD_RETURN_IF_ERROR(Put({}));
        IBD_RETURN_IF_ERROR(m_out.Flush());
        return m_out.File().Sync();
    }

protected:
    Result<> Put(ByteSpan bytes)
    {
        if (m_target.format != HintsFormat::kBtcd) return m_out.Add(bytes);
        m_packed.clear();
        m_packer.Add(bytes, m_last, m_packed);
        return m_out.Add(m_packed);
    }

    FileAppender m_out;
    const HintsTarget m_target;

private:
    const RecordCodec& m_codec;
    uint32_t m_next_height;
    bool m_last = false;
    Bytes m_record;
    Bytes m_packed;
    GzipPacker m_packer;
};

/** Leaves space for the index, writes the records after it, and the index last. */
class IndexedWriter final : public RecordWriter {
public:
    using RecordWriter::RecordWriter;

    Result<> StartIndexed()
    {
        IBD_RETURN_IF_ERROR(Start());
        m_index_at = m_out.Size();
        return m_out.Add(Bytes(size_t{kEntrySize} * m_target.terminal_height));
    }

    Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                 std::span<const uint32_t> unspent) override
    {
        Writer entry(m_index);
        entry.U32(height);
        entry.U64(m_out.Size());
        return RecordWriter::Add(height, outputs, unspent);
    }

    Result<> Finish(const BlockHash& terminal_hash) override
    {
        IBD_RETURN_IF_ERROR(m_out.Flush());
        IBD_RETURN_IF_ERROR(m_out.File().WriteAt(m_index_at, m_index));
        return RecordWriter::Finish(terminal_hash);
    }

private:
    static constexpr uint32_t kEntrySize = 12;

    uint64_t m_index_at = 0;
    Bytes m_index; //!< 12 bytes a block
};

Result<std::unique_ptr<HintsWriter>> MakeIndexedWriter(std::unique_ptr<WritableFile> file,
                                                       const HintsTarget& target)
{
    auto writer =
        std::make_unique<IndexedWriter>(std::move(file), IndexedCodec(target.format), target);
    IBD_RETURN_IF_ERROR(writer->StartIndexed());
    return std::unique_ptr<HintsWriter>(std::move(writer));
}

} // namespace

Result<std::unique_ptr<HintsWriter>> StartHintsFile(Env& env, const Path& path,
                                                    const HintsTarget& target)
{
    const RecordCodec* codec = nullptr;
    switch (target.format) {
    case HintsFormat::kContainer: return MakeContainer2Writer(env, path, target.network_magic);
    case HintsFormat::kContainer1: return MakeContainerWriter(env, path, target.network_magic);
    case HintsFormat::kBitmap: return MakeBitmapWriter(env, path);
    case HintsFormat::kIndexed: break;
    case HintsFormat::kBip456:
    case HintsFormat::kBip456Core:
    case HintsFormat::kBip456Crate: codec = &EliasFanoCodec(target.format); break;
    case HintsFormat::kBtcd: codec = &BtcdCodec(); break;
    case HintsFormat::kGaps: codec = &GapsCodec(); break;
    default: return BadData("hints of format {} are not written", NameOf(target.format));
    }
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
    if (!codec) return MakeIndexedWriter(std::move(file), target);
    auto writer = std::make_unique<RecordWriter>(std::move(file), *codec, target);
    IBD_RETURN_IF_ERROR(writer->Start());
    return std::unique_ptr<HintsWriter>(std::move(writer));
}

} // namespace ibd

// See checkpoint_log.h.
#include "swiftsync/checkpoint_log.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'i', 'b', 'd', 'c', 'h', 'l', 0, 1};

/** Covers all earlier entries, so that an entry is valid only after its predecessors. */
ShortDigest EntryDigest(const ShortDigest& before, ByteSpan entry)
{
    return Shorten(Sha256().Write(before).Write(entry).Finalize());
}

/** Encodes the length, then the fields. */
Bytes Encode(const CheckpointEntry& entry)
{
    Bytes out(4);
    Writer writer(out);
    writer.Raw(entry.sum);
    WriteTotals(writer, entry.totals);
    writer.U8(entry.run.has_value());
    if (entry.run) WriteRunInfo(writer, *entry.run);
    for (const uint32_t height : entry.heights) writer.U32(height);
    WriteLE32(out.data(), static_cast<uint32_t>(out.size() - 4));
    return out;
}

std::optional<CheckpointEntry> Decode(ByteSpan body, size_t sum_size)
{
    CheckpointEntry entry;
    Reader reader(body);
    const ByteSpan sum = reader.Span(sum_size);
    entry.totals = ReadTotals(reader);
    const uint8_t runs = reader.U8();
    if (runs == 1) entry.run = ReadRunInfo(reader);
    if (!reader.Ok() || runs > 1 || reader.Remaining() % 4 != 0) return std::nullopt;
    entry.sum.assign(sum.begin(), sum.end());
    entry.heights.resize(reader.Remaining() / 4);
    for (uint32_t& height : entry.heights) height = reader.U32();
    return entry;
}

} // namespace

bool Apply(const CheckpointEntry& entry, Checkpoint& state)
{
    HeightSet folded = state.folded;
    for (const uint32_t height : entry.heights) {
        if (height > state.terminal_height || !folded.Insert(height)) return false;
    }
    state.folded = std::move(folded);
    state.sum = entry.sum;
    state.totals = entry.totals;
    if (entry.run) state.runs.push_back(*entry.run);
    return true;
}

Path CheckpointLogPath(const Path& directory) { return directory / "checkpoint.log"; }

/** A crash between the two files leaves a log that matches no checkpoint. */
Result<> CheckpointLog::Begin(const Checkpoint& state)
{
    m_file.reset();
    const Bytes bytes = state.Encode();
    IBD_RETURN_IF_ERROR(WriteFileAtomically(m_env, CheckpointPath(m_directory), bytes));
    IBD_ASSIGN_OR_RETURN(auto file, m_env.OpenWrite(CheckpointLogPath(m_directory), true));
    m_last = CheckpointDigest(bytes);
    Bytes header(kMagic.begin(), kMagic.end());
    Append(header, m_last);
    IBD_RETURN_IF_ERROR(file->WriteAt(0, header));
    // The contents are synced with the first entry.
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
    m_size = header.size();
    m_limit = std::max<uint64_t>(kLeastLimit, bytes.size());
    m_file = std::move(file);
    return {};
}

Result<> CheckpointLog::Save(const Checkpoint& state, const CheckpointEntry& added)
{
    if (!m_file) return Begin(state);
    Bytes entry = Encode(added);
    if (m_size + entry.size() > m_limit) return Begin(state);
    m_last = EntryDigest(m_last, entry);
    Append(entry, m_last);
    IBD_RETURN_IF_ERROR(m_file->WriteAt(m_size, entry));
    IBD_RETURN_IF_ERROR(m_file->Sync());
    m_size += entry.size();
    return {};
}

Result<> ReplayLog(Env& env, const Path& directory, ByteSpan checkpoint, Checkpoint& state)
{
    const Path path = CheckpointLogPath(directory);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return {};
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
    ShortDigest last = CheckpointDigest(checkpoint);
    Reader reader(bytes);
    const ByteSpan magic = reader.Span(kMagic.size());
    const ByteSpan base = reader.Span(last.size());
    if (!reader.Ok() || !std::equal(kMagic.begin(), kMagic.end(), magic.begin()) ||
        !std::equal(last.begin(), last.end(), base.begin())) {
        return {};
    }
    while (reader.Remaining() >= 4) {
        const size_t begin = reader.Position();
        const ByteSpan body = reader.Span(reader.U32());
        const ByteSpan whole = reader.Since(begin);
        const ByteSpan digest = reader.Span(last.size());
        if (!reader.Ok()) return {};
        last = EntryDigest(last, whole);
        if (!std::equal(last.begin(), last.end(), digest.begin())) return {};
        const auto entry = Decode(body, state.sum.size());
        if (!entry || !Apply(*entry, state)) return {};
    }
    return {};
}

} // namespace ibd

// See block_files.h.
#include "sim/block_files.h"

#include "util/endian.h"

namespace ibd::sim {

namespace {

constexpr size_t kRecordHeader = 8;           //!< magic and length
constexpr size_t kBufferSize = 4 << 20;       //!< bytes
constexpr uint64_t kPreallocation = 16 << 20; //!< bytes

} // namespace

Result<BlockFiles> BlockFiles::Create(Env& env, const Path& blocks, std::array<uint8_t, 4> magic,
                                      const BlockFileOptions& options)
{
    IBD_RETURN_IF_ERROR(env.CreateDirectories(blocks));
    if (env.Exists(blocks / "blk00000.dat")) {
        return BadData("{} has block files already", blocks.string());
    }
    BlockFiles out(env, blocks, magic, options);
    if (options.obfuscate) {
        const Bytes key = out.m_rng.RandomBytes(out.m_key.size());
        std::memcpy(out.m_key.data(), key.data(), key.size());
        IBD_RETURN_IF_ERROR(WriteFileAtomically(env, blocks / "xor.dat", key));
    }
    return out;
}

void BlockFiles::Put(ByteSpan bytes)
{
    size_t at = m_flushed + m_buffer.size();
    const size_t start = m_buffer.size();
    Append(m_buffer, bytes);
    if (!m_options.obfuscate) return;
    for (size_t i = start; i < m_buffer.size(); ++i, ++at) m_buffer[i] ^= m_key[at % m_key.size()];
}

Result<> BlockFiles::OpenNext()
{
    const Path path = m_blocks / fmt::format("blk{:05}.dat", m_next_file++);
    IBD_ASSIGN_OR_RETURN(m_file, m_env->OpenWrite(path, true));
    m_flushed = 0;
    return {};
}

Result<> BlockFiles::Flush()
{
    if (!m_file) return {};
    IBD_RETURN_IF_ERROR(m_file->WriteAt(m_flushed, m_buffer));
    m_flushed += m_buffer.size();
    m_buffer.clear();
    return {};
}

Result<> BlockFiles::CloseFile()
{
    IBD_RETURN_IF_ERROR(Flush());
    if (m_file) IBD_RETURN_IF_ERROR(m_file->Sync());
    m_file.reset();
    return {};
}

Result<> BlockFiles::Add(ByteSpan block)
{
    const uint64_t size = m_flushed + m_buffer.size();
    if (m_file && size + block.size() + kRecordHeader >= m_options.max_file_size) {
        IBD_RETURN_IF_ERROR(CloseFile());
    }
    if (!m_file) IBD_RETURN_IF_ERROR(OpenNext());
    uint8_t length[4];
    WriteLE32(length, static_cast<uint32_t>(block.size()));
    Put(m_magic);
    Put(length);
    Put(block);
    m_total += kRecordHeader + block.size();
    return m_buffer.size() >= kBufferSize ? Flush() : Result<>();
}

Result<> BlockFiles::AddShuffled(Bytes block)
{
    if (m_options.shuffle_window == 0) return Add(block);
    m_held.push_back(std::move(block));
    if (m_held.size() <= m_options.shuffle_window) return {};
    std::swap(m_held[m_rng.Below(m_held.size())], m_held.back());
    const Bytes chosen = std::move(m_held.back());
    m_held.pop_back();
    return Add(chosen);
}

Result<> BlockFiles::Finish()
{
    m_options.shuffle_window = 0;
    Bytes last;
    while (!m_held.empty()) {
        std::swap(m_held[m_rng.Below(m_held.size())], m_held.back());
        last = std::move(m_held.back());
        m_held.pop_back();
        IBD_RETURN_IF_ERROR(Add(last));
    }
    if (m_options.torn_tail) {
        // A record that promises more than there is.
        uint8_t length[4];
        WriteLE32(length, 1'000'000);
        Put(m_magic);
        Put(length);
        Put(m_rng.RandomBytes(777));
    }
    IBD_RETURN_IF_ERROR(Flush());
    if (m_options.preallocate && m_file) {
        const uint64_t end = (m_flushed / kPreallocation + 1) * kPreallocation;
        // Zeros as the file system gives them: not obfuscated.
        m_buffer.assign(end - m_flushed, 0);
    }
    return CloseFile();
}

} // namespace ibd::sim

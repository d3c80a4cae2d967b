// See hints_file.h.
#include "hints/hints_file.h"

#include <algorithm>

namespace ibd {

namespace {

class MemoryFile final : public ReadableFile {
public:
    explicit MemoryFile(Bytes bytes) : m_bytes(std::move(bytes)) {}
    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        if (offset >= m_bytes.size()) return size_t{0};
        const size_t n = std::min<uint64_t>(out.size(), m_bytes.size() - offset);
        std::copy_n(m_bytes.begin() + static_cast<ptrdiff_t>(offset), n, out.begin());
        return n;
    }
    Result<uint64_t> Size() const override { return m_bytes.size(); }
    void WillNeed(uint64_t, uint64_t) const override {}
    void DontNeed(uint64_t, uint64_t) const override {}

private:
    const Bytes m_bytes;
};

} // namespace

HintsFile HintsFile::InMemory(const Path& path, Bytes bytes)
{
    const uint64_t size = bytes.size();
    return {path, std::make_unique<MemoryFile>(std::move(bytes)), size};
}

Result<HintsFile> HintsFile::Open(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenMapped(path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    return HintsFile(path, std::move(file), size);
}

Result<> HintsFile::Read(uint64_t offset, MutableByteSpan out) const
{
    CHECK(offset <= m_size && out.size() <= m_size - offset);
    IBD_ASSIGN_OR_RETURN(const size_t got, m_file->ReadAt(offset, out));
    if (got == out.size()) return {};
    return SystemError("hints file {} was cut short while in use: it had {} bytes, now {}",
                       m_path.string(), m_size, offset + got);
}

Error HintsFile::Damaged(uint64_t offset, std::string_view what) const
{
    return BadData("hints file {}, offset {}: {}", m_path.string(), offset, what);
}

} // namespace ibd

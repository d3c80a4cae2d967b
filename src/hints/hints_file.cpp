// See hints_file.h.
#include "hints/hints_file.h"

namespace ibd {

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

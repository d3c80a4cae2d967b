// See bounded_file.h.
#include "util/bounded_file.h"

namespace ibd {

Result<Bytes> ReadBoundedFile(Env& env, const Path& path, uint64_t most)
{
    IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (size > most) return BadData("it has {} bytes, the most are {}", size, most);
    Bytes data(size);
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, data));
    data.resize(got);
    return data;
}

} // namespace ibd

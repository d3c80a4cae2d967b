// Helpers over any Env; see env.h.
#include "util/env.h"

namespace ibd {

Result<std::unique_ptr<WritableFile>> Env::CreateFile(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const bool taken, IsThere(path));
    if (taken) return SystemError("cannot create '{}': File exists", path.string());
    return OpenWrite(path, /*truncate=*/true);
}

Result<Bytes> ReadWholeFile(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    Bytes data(size);
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, data));
    if (got != size) {
        return SystemError("'{}' shrank while it was read: {} of {} bytes", path.string(), got,
                           size);
    }
    return data;
}

Result<> WriteFileAtomically(Env& env, const Path& path, ByteSpan data)
{
    Path beside = path;
    beside += ".new";
    {
        IBD_ASSIGN_OR_RETURN(const auto file, env.OpenWrite(beside, /*truncate=*/true));
        IBD_RETURN_IF_ERROR(file->WriteAt(0, data));
        IBD_RETURN_IF_ERROR(file->Sync());
    }
    IBD_RETURN_IF_ERROR(env.Rename(beside, path));
    return env.SyncDirectory(path.has_parent_path() ? path.parent_path() : Path("."));
}

} // namespace ibd

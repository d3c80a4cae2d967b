// Helpers over any Env; see env.h.
#include "util/env.h"

#include <algorithm>

namespace ibd {

Result<std::unique_ptr<WritableFile>> Env::CreateFile(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const bool taken, IsThere(path));
    if (taken) return SystemError("cannot create '{}': File exists", path.string());
    return OpenWrite(path, /*truncate=*/true);
}

namespace {

/** A stream over a regular file, read from its start to its end. */
class FileStream final : public InputStream {
public:
    explicit FileStream(std::unique_ptr<ReadableFile> file) : m_file(std::move(file)) {}
    Result<size_t> Read(MutableByteSpan out) override
    {
        IBD_ASSIGN_OR_RETURN(const size_t got, m_file->ReadAt(m_at, out));
        m_at += got;
        return got;
    }

private:
    const std::unique_ptr<ReadableFile> m_file;
    uint64_t m_at = 0;
};

} // namespace

std::string_view NameOf(FileKind kind)
{
    switch (kind) {
    case FileKind::kNothing: return "nothing";
    case FileKind::kDeadLink: return "a link to nothing";
    case FileKind::kRegular: return "a regular file";
    case FileKind::kFolder: return "a folder";
    case FileKind::kNamedPipe:
    case FileKind::kPipe: return "a pipe";
    case FileKind::kOther: return "a device or socket";
    }
    return "";
}

// NOLINTBEGIN(performance-unnecessary-value-param): a real system keeps the function
Result<std::unique_ptr<InputStream>> Env::OpenStream(const Path& path, StopWaiting)
{
    IBD_ASSIGN_OR_RETURN(auto file, OpenRead(path));
    return std::make_unique<FileStream>(std::move(file));
}

Result<std::unique_ptr<WritableFile>> Env::OpenPipe(const Path& path, StopWaiting)
{
    return SystemError("cannot write to '{}': this system has no pipes", path.string());
}
// NOLINTEND(performance-unnecessary-value-param)

Result<FileKind> Env::KindOf(const Path& path)
{
    using std::filesystem::file_type;
    std::error_code code;
    const file_type type = std::filesystem::status(path, code).type();
    switch (type) {
    case file_type::regular: return FileKind::kRegular;
    case file_type::directory: return FileKind::kFolder;
    case file_type::fifo: return FileKind::kNamedPipe;
    case file_type::none: break;
    case file_type::not_found: {
        const bool link = std::filesystem::is_symlink(std::filesystem::symlink_status(path, code));
        return link ? FileKind::kDeadLink : FileKind::kNothing;
    }
    default: return FileKind::kOther;
    }
    return SystemError("cannot look at '{}': {}", path.string(), code.message());
}

Path FolderOf(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

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

Result<Bytes> ReadWholeStream(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(path));
    const int64_t end = env.MonotonicMicros() + kPipePatienceSeconds * 1'000'000;
    Bytes data;
    // The command that writes the pipe may ask its user for a password first.
    const auto stop = [&] {
        return kind == FileKind::kNamedPipe && data.empty() && env.MonotonicMicros() > end;
    };
    IBD_ASSIGN_OR_RETURN(const auto stream, env.OpenStream(path, stop));
    Bytes piece(64 << 10);
    for (size_t got = piece.size(); got == piece.size();) {
        if (data.size() > kMaxTextFile) {
            return BadData("'{}' has more than {} bytes", path.string(), kMaxTextFile);
        }
        IBD_ASSIGN_OR_RETURN(got, stream->Read(piece));
        Append(data, ByteSpan(piece).first(got));
    }
    return data;
}

Result<> WriteFileAtomically(Env& env, const Path& name, ByteSpan data)
{
    // A dangling link is replaced itself, so that the file exists afterwards.
    const Path path = env.Exists(name) ? env.FollowLink(name) : name;
    Path beside = path;
    beside += ".new";
    IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(beside, /*truncate=*/true));
    Result<> written = file->WriteAt(0, data);
    if (written) written = file->Sync();
    file.reset();
    if (written) written = env.Rename(beside, path);
    if (!written) {
        (void)env.Remove(beside); // a part, perhaps on a full disk
        return written;
    }
    return env.SyncDirectory(FolderOf(path));
}

} // namespace ibd

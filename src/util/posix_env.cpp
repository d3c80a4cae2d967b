// The machine behind Env: POSIX files, clocks and the kernel's random numbers.
#include "util/env.h"
#include "util/mapped_file.h"
#include "util/posix_file.h"
#include "util/posix_io.h"
#include "util/posix_pipe.h"
#include "util/strings.h"
#include "util/uncached_posix.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace ibd {

namespace {

Result<uint64_t> SizeOf(const Descriptor& fd, const Path& path)
{
    struct stat info;
    if (::fstat(fd.Get(), &info) != 0) return OsError("get the size of", path, errno);
    if (S_ISDIR(info.st_mode)) return OsError("use as a file", path, EISDIR);
    if (S_ISREG(info.st_mode)) return static_cast<uint64_t>(info.st_size);
    return SystemError("cannot use '{}': it is no regular file", path.string());
}

/** Non-blocking, since opening a pipe would wait for its other end. */
Result<Descriptor> OpenRegular(const Path& path, int flags, const char* action)
{
    IBD_ASSIGN_OR_RETURN(Descriptor fd, Open(path, flags | O_NONBLOCK, action));
    IBD_RETURN_IF_ERROR(SizeOf(fd, path));
    return fd;
}

class PosixReadableFile final : public ReadableFile, public UncachedReads {
public:
    PosixReadableFile(Descriptor fd, Path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        const auto read = [this](uint8_t* p, size_t n, off_t at) {
            return ::pread(m_fd.Get(), p, n, at);
        };
        const IoOutcome r = ReadFully(read, out, offset);
        if (r.error != 0) return OsError("read", m_path, r.error);
        return r.done;
    }
    Result<uint64_t> Size() const override { return SizeOf(m_fd, m_path); }
    void WillNeed(uint64_t offset, uint64_t length) const override
    {
        // Linux reads no more for one call than its read-ahead, 128 KiB by default.
        constexpr uint64_t kMostAtOnce = 128 << 10;
        for (uint64_t at = 0; at < length; at += kMostAtOnce) {
            Advise(offset + at, std::min(kMostAtOnce, length - at), POSIX_FADV_WILLNEED);
        }
    }
    void DontNeed(uint64_t offset, uint64_t length) const override
    {
        Advise(offset, length, POSIX_FADV_DONTNEED);
    }
    bool IsCached(uint64_t offset, uint64_t length) const override
    {
        return ibd::IsCached(m_fd, offset, length);
    }
    Result<std::unique_ptr<UncachedFile>> OpenUncached() const override
    {
        return ibd::OpenUncached(m_fd, m_path);
    }

private:
    // A file system may refuse advice, which is harmless.
    void Advise(uint64_t offset, uint64_t length, int advice) const
    {
        (void)::posix_fadvise(m_fd.Get(), static_cast<off_t>(offset), static_cast<off_t>(length),
                              advice);
    }

    Descriptor m_fd;
    Path m_path;
};

class PosixWritableFile final : public WritableFile {
public:
    PosixWritableFile(Descriptor fd, Path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

    Result<> WriteAt(uint64_t offset, ByteSpan data) override
    {
        const auto write = [this](const uint8_t* p, size_t n, off_t at) {
            return ::pwrite(m_fd.Get(), p, n, at);
        };
        const IoOutcome r = WriteFully(write, data, offset);
        if (r.error != 0) return OsError("write to", m_path, r.error);
        return {};
    }
    Result<uint64_t> Size() const override { return SizeOf(m_fd, m_path); }
    Result<> Truncate(uint64_t size) override
    {
        if (::ftruncate(m_fd.Get(), static_cast<off_t>(size)) != 0) {
            return OsError("set the size of", m_path, errno);
        }
        return {};
    }
    Result<> Allocate(uint64_t size) override
    {
        int code;
        do {
            code = ::posix_fallocate(m_fd.Get(), 0, static_cast<off_t>(size));
        } while (code == EINTR);
        if (code != 0) return OsError("reserve space for", m_path, code);
        return {};
    }
    Result<> Sync() override
    {
        if (::fdatasync(m_fd.Get()) != 0) return OsError("sync", m_path, errno);
        return {};
    }
    Result<> StartSync(uint64_t offset, uint64_t length) override
    {
        const int code = ::sync_file_range(m_fd.Get(), static_cast<off_t>(offset),
                                           static_cast<off_t>(length), SYNC_FILE_RANGE_WRITE);
        // Without support, Sync() does all the work.
        if (code != 0 && errno != ENOSYS) return OsError("begin to sync", m_path, errno);
        return {};
    }
    void DontNeed(uint64_t offset, uint64_t length) override
    {
        (void)::posix_fadvise(m_fd.Get(), static_cast<off_t>(offset), static_cast<off_t>(length),
                              POSIX_FADV_DONTNEED);
    }

private:
    Descriptor m_fd;
    Path m_path;
};

class PosixFileLock final : public FileLock {
public:
    explicit PosixFileLock(Descriptor fd) : m_fd(std::move(fd)) {}

private:
    Descriptor m_fd;
};

class PosixEnv final : public Env {
public:
    explicit PosixEnv(const std::atomic<int64_t>* mock_time) : m_mock_time(mock_time) {}

    Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& path) override
    {
        IBD_ASSIGN_OR_RETURN(Descriptor fd, OpenRegular(path, O_RDONLY, "open for reading"));
        return std::unique_ptr<ReadableFile>(
            std::make_unique<PosixReadableFile>(std::move(fd), path));
    }

    Result<std::unique_ptr<ReadableFile>> OpenMapped(const Path& path) override
    {
        IBD_ASSIGN_OR_RETURN(Descriptor fd, OpenRegular(path, O_RDONLY, "open for reading"));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(fd, path));
        const int number = fd.Get();
        auto file = std::make_unique<PosixReadableFile>(std::move(fd), path);
        return MapForReading(std::move(file), number, size);
    }

    Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& path, bool truncate) override
    {
        const int flags = O_RDWR | O_CREAT | (truncate ? O_TRUNC : 0);
        IBD_ASSIGN_OR_RETURN(Descriptor fd, OpenRegular(path, flags, "open for writing"));
        return std::unique_ptr<WritableFile>(
            std::make_unique<PosixWritableFile>(std::move(fd), path));
    }

    Result<std::unique_ptr<WritableFile>> CreateFile(const Path& path) override
    {
        IBD_ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDWR | O_CREAT | O_EXCL, "create"));
        return std::unique_ptr<WritableFile>(
            std::make_unique<PosixWritableFile>(std::move(fd), path));
    }

    Result<std::unique_ptr<InputStream>> OpenStream(const Path& path, StopWaiting stop) override
    {
        return OpenInputStream(path, std::move(stop));
    }
    Result<std::unique_ptr<WritableFile>> OpenPipe(const Path& path, StopWaiting stop) override
    {
        return OpenNamedPipe(path, std::move(stop));
    }

    Result<std::unique_ptr<FileLock>> Lock(const Path& path) override;

    bool Exists(const Path& path) override
    {
        std::error_code code;
        return std::filesystem::exists(path, code);
    }

    Result<bool> IsThere(const Path& path) override
    {
        struct stat info;
        if (::stat(path.c_str(), &info) == 0) return true;
        if (errno == ENOENT || errno == ENOTDIR) return false;
        return OsError("look for", path, errno);
    }

    Result<FileKind> KindOf(const Path& path) override
    {
        constexpr auto kPipeFileSystem = 0x50495045; // PIPEFS_MAGIC: anonymous pipes
        IBD_ASSIGN_OR_RETURN(const FileKind kind, Env::KindOf(path));
        struct statfs info;
        const bool nameless = kind == FileKind::kNamedPipe && ::statfs(path.c_str(), &info) == 0 &&
                              info.f_type == kPipeFileSystem;
        return nameless ? FileKind::kPipe : kind;
    }

    Result<std::vector<std::string>> List(const Path& directory) override
    {
        std::vector<std::string> names;
        std::error_code code;
        std::filesystem::directory_iterator it(directory, code);
        for (; !code && it != std::filesystem::directory_iterator(); it.increment(code)) {
            names.push_back(it->path().filename().string());
        }
        if (code) return OsError("list", directory, code.value());
        return names;
    }

    Result<> CreateDirectories(const Path& directory) override
    {
        std::error_code code;
        std::filesystem::create_directories(directory, code);
        if (code) return OsError("create directory", directory, code.value());
        return {};
    }

    Result<> Remove(const Path& path) override
    {
        std::error_code code;
        const bool removed = std::filesystem::remove(path, code);
        if (code) return OsError("remove", path, code.value());
        if (!removed) return OsError("remove", path, ENOENT);
        return {};
    }

    Result<> RemoveAll(const Path& directory) override
    {
        std::error_code code;
        std::filesystem::remove_all(directory, code);
        if (code) return OsError("remove", directory, code.value());
        return {};
    }

    Result<> Rename(const Path& from, const Path& to) override
    {
        if (::rename(from.c_str(), to.c_str()) == 0) return {};
        return SystemError("cannot rename '{}' to '{}': {}", from.string(), to.string(),
                           std::generic_category().message(errno));
    }

    Result<> SyncDirectory(const Path& directory) override
    {
        IBD_ASSIGN_OR_RETURN(const Descriptor fd,
                             Open(directory, O_RDONLY | O_DIRECTORY, "open directory"));
        // Some file systems cannot sync directories and return EINVAL.
        if (::fsync(fd.Get()) != 0 && errno != EINVAL) {
            return OsError("sync directory", directory, errno);
        }
        return {};
    }

    Path FollowLink(const Path& path) override
    {
        constexpr int kMaxLinks = 40; // the kernel's limit
        Path here = path;
        std::error_code code;
        for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(here, code); ++i) {
            here =
                (here.parent_path() / std::filesystem::read_symlink(here, code)).lexically_normal();
        }
        return here;
    }

    bool SameFileSystem(const Path& a, const Path& b) override
    {
        struct stat first;
        struct stat second;
        return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
               first.st_dev == second.st_dev;
    }

    // The device alone does not tell: a bind mount has that of the folder it shows, and folders of
    // one mount may differ in it (subvolumes of btrfs).
    bool SameMount(const Path& a, const Path& b) override
    {
        if (!SameFileSystem(a, b)) return false;
        const auto first = MountOf(a);
        const auto second = MountOf(b);
        return !first || !second || *first == *second;
    }

    Result<uint64_t> SpaceAvailable(const Path& path) override
    {
        struct statvfs info;
        if (::statvfs(path.c_str(), &info) != 0) {
            return OsError("get the free space of", path, errno);
        }
        return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
    }

    uint64_t OpenFileLimit(uint64_t wanted) override
    {
        struct rlimit limit;
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return Env::OpenFileLimit();
        struct rlimit raised = limit;
        raised.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
        if (raised.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            return raised.rlim_cur;
        }
        return limit.rlim_cur;
    }

    int64_t UnixTime() override
    {
        const int64_t mocked = m_mock_time == nullptr ? 0 : m_mock_time->load();
        return mocked != 0 ? mocked : static_cast<int64_t>(::time(nullptr));
    }
    int64_t UnixMicros() override { return ReadClock(CLOCK_REALTIME); }
    int64_t MonotonicMicros() override { return ReadClock(CLOCK_MONOTONIC); }

    uint64_t ResidentBytes() override
    {
        std::FILE* const file = std::fopen("/proc/self/statm", "re");
        if (!file) return 0;
        char line[128] = {}; // the whole size and the resident one, in pages, and more
        const bool read = std::fgets(line, sizeof line, file) != nullptr;
        std::fclose(file);
        const auto words = Split(line, ' ');
        const auto pages =
            read && words.size() > 1 ? ParseInteger<uint64_t>(words[1]) : std::nullopt;
        return pages.value_or(0) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    }

    void RandomBytes(MutableByteSpan out) override
    {
        size_t done = 0;
        while (done < out.size()) {
            const ssize_t n = ::getrandom(out.data() + done, out.size() - done, 0);
            if (n < 0 && errno == EINTR) continue;
            CHECK(n > 0);
            done += static_cast<size_t>(n);
        }
    }

private:
    /** The kernel's number of the mount; nothing: it does not say (before Linux 5.8, sandboxes). */
    static std::optional<uint64_t> MountOf(const Path& path)
    {
        struct statx info;
        if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &info) != 0) return std::nullopt;
        if ((info.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
        return info.stx_mnt_id;
    }
    static int64_t ReadClock(clockid_t id)
    {
        struct timespec now;
        CHECK(::clock_gettime(id, &now) == 0);
        return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
    }

    const std::atomic<int64_t>* m_mock_time;
};

// Core takes a POSIX record lock, and so locks of an open file description exclude it. Unlike
// Core's they also exclude a second holder in the same process. flock() would not do beside them:
// NFS takes both for the same kind of lock.
Result<std::unique_ptr<FileLock>> PosixEnv::Lock(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDWR | O_CREAT, "open lock file"));
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    int result = ::fcntl(fd.Get(), F_OFD_SETLK, &whole);
    // Unknown to some sandboxes.
    if (result != 0 && errno == EINVAL) result = ::fcntl(fd.Get(), F_SETLK, &whole);
    if (result != 0 && (errno == EAGAIN || errno == EACCES)) return std::unique_ptr<FileLock>();
    if (result != 0) return OsError("lock", path, errno);
    return std::make_unique<PosixFileLock>(std::move(fd));
}

} // namespace

std::unique_ptr<Env> MakePosixEnv(const std::atomic<int64_t>* mock_time)
{
    return std::make_unique<PosixEnv>(mock_time);
}

} // namespace ibd

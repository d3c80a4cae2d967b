// See uncached_posix.h.
#include "util/uncached_posix.h"

#include <algorithm>

#include <sys/mman.h>
#include <sys/stat.h>

namespace ibd {

namespace {

constexpr uint64_t kSamples = 8;
constexpr uint64_t kPage = 4096; //!< on systems with larger pages, a part of a page

class PosixUncachedFile final : public UncachedFile {
public:
    PosixUncachedFile(Descriptor fd, Path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

    Result<size_t> ReadOnce(uint64_t offset, MutableByteSpan out) const override
    {
        ssize_t got;
        do {
            got = ::pread(m_fd.Get(), out.data(), out.size(), static_cast<off_t>(offset));
        } while (got < 0 && errno == EINTR);
        if (got < 0) return OsError("read around the cache", m_path, errno);
        return static_cast<size_t>(got);
    }

private:
    const Descriptor m_fd;
    const Path m_path;
};

/** A mapped part of a file, only for mincore(): its memory is never accessed. */
class Mapping {
public:
    Mapping(int fd, uint64_t offset, size_t length)
        : m_length(length), m_start(::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd,
                                           static_cast<off_t>(offset)))
    {
    }
    ~Mapping()
    {
        if (m_start != MAP_FAILED) ::munmap(m_start, m_length);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /** Whether the page at `at` is in the cache; true if the system does not say. */
    bool Has(size_t at) const
    {
        if (m_start == MAP_FAILED) return true;
        unsigned char there = 1;
        if (::mincore(static_cast<char*>(m_start) + at, 1, &there) != 0) return true;
        return (there & 1) != 0;
    }

private:
    const size_t m_length;
    void* const m_start;
};

} // namespace

bool IsCached(const Descriptor& fd, uint64_t offset, uint64_t length)
{
    const auto page = static_cast<uint64_t>(std::max<long>(::sysconf(_SC_PAGESIZE), kPage));
    const uint64_t begin = offset - offset % page;
    const uint64_t pages = (offset + std::max<uint64_t>(length, 1) - begin + page - 1) / page;
    const Mapping mapping(fd.Get(), begin, pages * page);
    const uint64_t samples = std::min(kSamples, pages);
    uint64_t cached = 0;
    for (uint64_t i = 0; i < samples; ++i) {
        cached += mapping.Has(i * pages / samples * page);
    }
    return cached * 2 > samples;
}

Result<std::unique_ptr<UncachedFile>> OpenUncached(const Descriptor& fd, const Path& path)
{
    const char* const action = "open for reads around the cache";
    IBD_ASSIGN_OR_RETURN(Descriptor direct, Open(path, O_RDONLY | O_NONBLOCK | O_DIRECT, action));
    struct stat before, now;
    if (::fstat(fd.Get(), &before) != 0 || ::fstat(direct.Get(), &now) != 0) {
        return OsError(action, path, errno);
    }
    if (before.st_dev != now.st_dev || before.st_ino != now.st_ino) {
        return SystemError("'{}' was replaced while it was open", path.string());
    }
    return std::unique_ptr<UncachedFile>(
        std::make_unique<PosixUncachedFile>(std::move(direct), path));
}

} // namespace ibd

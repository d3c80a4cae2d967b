// See posix_pipe.h.
#include "util/posix_pipe.h"
#include "util/posix_file.h"

#include <poll.h>
#include <sys/stat.h>

namespace ibd {

namespace {

constexpr int kAskMillis = 100; //!< interval of asking `stop`

enum class Wait { kReady, kStopped };

/** Waits until data can be read or written, or the other end is closed. */
Result<Wait> WaitFor(const Descriptor& fd, const Path& path, short events, const StopWaiting& stop)
{
    for (;;) {
        pollfd one = {fd.Get(), events, 0};
        const int ready = ::poll(&one, 1, kAskMillis);
        if (ready < 0 && errno != EINTR) return OsError("wait for", path, errno);
        if (ready > 0) return Wait::kReady;
        if (stop && stop()) return Wait::kStopped;
    }
}

class PosixStream final : public InputStream {
public:
    PosixStream(Descriptor fd, Path path, StopWaiting stop)
        : m_fd(std::move(fd)), m_path(std::move(path)), m_stop(std::move(stop))
    {
    }

    Result<size_t> Read(MutableByteSpan out) override
    {
        // A device may return bytes forever without a wait.
        if (m_stop && m_stop()) return Stopped();
        size_t done = 0;
        while (done < out.size()) {
            const ssize_t n = ::read(m_fd.Get(), out.data() + done, out.size() - done);
            // A named pipe before its first writer also reads as at its end.
            const bool waits = (n < 0 && errno == EAGAIN) || (n == 0 && !m_begun);
            if (n < 0 && errno != EAGAIN && errno != EINTR) return OsError("read", m_path, errno);
            if (n > 0) done += static_cast<size_t>(n);
            m_begun = m_begun || n > 0;
            if (waits) IBD_RETURN_IF_ERROR(AwaitMore());
            if (n == 0 && !waits) break;
        }
        return done;
    }

private:
    Result<> AwaitMore()
    {
        IBD_ASSIGN_OR_RETURN(const Wait end, WaitFor(m_fd, m_path, POLLIN, m_stop));
        if (end == Wait::kReady) m_begun = true; // or a writer came and left
        return end == Wait::kReady ? Result<>() : Stopped();
    }
    Error Stopped() const
    {
        return SystemError("cannot read '{}': the wait for its writer was ended", m_path.string());
    }

    const Descriptor m_fd;
    const Path m_path;
    const StopWaiting m_stop;
    bool m_begun = false; //!< there was a writer
};

class PosixPipe final : public WritableFile {
public:
    PosixPipe(Descriptor fd, Path path, StopWaiting stop)
        : m_fd(std::move(fd)), m_path(std::move(path)), m_stop(std::move(stop))
    {
    }

    Result<> WriteAt(uint64_t offset, ByteSpan data) override
    {
        CHECK(offset == m_size);
        while (!data.empty()) {
            const ssize_t n = ::write(m_fd.Get(), data.data(), data.size());
            if (n < 0 && errno != EAGAIN && errno != EINTR) {
                return OsError("write to", m_path, errno);
            }
            if (n > 0) data = data.subspan(static_cast<size_t>(n));
            if (n > 0) m_size += static_cast<uint64_t>(n);
            if (n > 0) continue;
            IBD_ASSIGN_OR_RETURN(const Wait end, WaitFor(m_fd, m_path, POLLOUT, m_stop));
            if (end == Wait::kStopped) return Stopped();
        }
        return {};
    }
    Result<uint64_t> Size() const override { return m_size; }
    Result<> Truncate(uint64_t) override { return OsError("set the size of", m_path, ESPIPE); }
    Result<> Allocate(uint64_t) override { return {}; }
    Result<> Sync() override { return {}; } // data in the pipe belongs to its reader

private:
    Error Stopped() const
    {
        return SystemError("cannot write to '{}': the wait for its reader was ended",
                           m_path.string());
    }

    const Descriptor m_fd;
    const Path m_path;
    const StopWaiting m_stop;
    uint64_t m_size = 0;
};

} // namespace

Result<std::unique_ptr<InputStream>> OpenInputStream(const Path& path, StopWaiting stop)
{
    IBD_ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDONLY | O_NONBLOCK, "open for reading"));
    struct stat info;
    if (::fstat(fd.Get(), &info) != 0) return OsError("look at", path, errno);
    if (S_ISDIR(info.st_mode)) return OsError("use as a file", path, EISDIR);
    return std::make_unique<PosixStream>(std::move(fd), path, std::move(stop));
}

Result<std::unique_ptr<WritableFile>> OpenNamedPipe(const Path& path, StopWaiting stop)
{
    for (;;) {
        const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0) return std::make_unique<PosixPipe>(Descriptor(fd), path, std::move(stop));
        const int code = errno;
        const bool no_reader = code == ENXIO;
        if (code != EINTR && (!no_reader || (stop && stop()))) {
            return OsError("open for writing", path, code);
        }
        ::poll(nullptr, 0, kAskMillis);
    }
}

} // namespace ibd

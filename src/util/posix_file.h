// Shared by the files behind Env: a descriptor that closes itself, and errors that name the path.
// Used by posix_env.cpp and posix_pipe.cpp.
#pragma once

#include "util/env.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace ibd {

/** "cannot <action> '<path>': <reason>". */
inline Error OsError(const char* action, const Path& path, int code)
{
    return SystemError("cannot {} '{}': {}", action, path.string(),
                       std::generic_category().message(code));
}

/** Owns a file descriptor. */
class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    Descriptor(Descriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int Get() const { return m_fd; }

private:
    int m_fd;
};

inline Result<Descriptor> Open(const Path& path, int flags, const char* action)
{
    int fd;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return OsError(action, path, errno);
    return Descriptor(fd);
}

} // namespace ibd

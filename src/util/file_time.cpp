// See file_time.h.
#include "util/file_time.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace ibd {

Result<int64_t> ModifiedTime(const Path& path)
{
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) {
        return SystemError("cannot get the time of {}: {}", path.string(), std::strerror(errno));
    }
    return static_cast<int64_t>(info.st_mtime);
}

} // namespace ibd

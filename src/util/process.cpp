// See process.h.
#include "util/process.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

namespace ibd {

void PrepareProcess(BrokenPipe broken_pipe)
{
    (void)std::signal(SIGPIPE, broken_pipe == BrokenPipe::kEndsProcess ? SIG_DFL : SIG_IGN);
    (void)std::signal(SIGCHLD, SIG_DFL);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number is `fd`. Without /dev/null it stays closed.
        (void)!::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    }
}

void MergeFreedMemoryAtOnce()
{
#ifdef M_MXFAST
    (void)::mallopt(M_MXFAST, 0);
#endif
}

pid_t StartShell(const std::string& line)
{
    posix_spawnattr_t attributes;
    if (::posix_spawnattr_init(&attributes) != 0) return -1;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    (void)::posix_spawnattr_setsigmask(&attributes, &none);
    (void)::posix_spawnattr_setsigdefault(&attributes, &all);
    (void)::posix_spawnattr_setflags(&attributes,
                                     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string shell = "sh", option = "-c", command = line;
    char* const arguments[] = {shell.data(), option.data(), command.data(), nullptr};
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, "/bin/sh", nullptr, &attributes, arguments, environ);
    (void)::posix_spawnattr_destroy(&attributes);
    return error == 0 ? pid : -1;
}

uint64_t MachineMemory()
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

} // namespace ibd

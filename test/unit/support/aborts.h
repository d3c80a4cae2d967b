// Aborts: whether a call fails a CHECK. It runs in a child process, whose message is dropped.
#pragma once

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibd::test {

template <typename Call>
bool Aborts(Call call)
{
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // Catch2 has a handler that reports a failure
        (void)::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        call();
        ::_exit(0);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

} // namespace ibd::test

// How this process meets its surroundings: signals and streams that it was started with, and
// commands that it starts. Unix only.
#pragma once

#include <string>
#include <vector>

#include <cstdio>
#include <sys/types.h>

#include <fmt/format.h>

namespace ibd {

/** What a write to a pipe without a reader does. */
enum class BrokenPipe {
    kFailsWrite,  //!< for the node, which goes on
    kEndsProcess, //!< for tools: quietly, by SIGPIPE, however the parent process set it
};

/** The first call of a program. Standard streams that are closed become /dev/null, as the next file
 *  opened would get their number, and what is printed. Children that end are kept until they are
 *  waited for. */
void PrepareProcess(BrokenPipe broken_pipe);

/** Starts `sh -c <line>` with no signal blocked or ignored. Its pid, or -1. */
pid_t StartShell(const std::string& line);

/** Prints to a standard stream. A stream that takes no more (a pipe without a reader, a full disk)
 *  is no reason to fail, as fmt::print() would by an exception. */
template <typename... Args>
void Print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args)
{
    (void)std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stream);
}

} // namespace ibd

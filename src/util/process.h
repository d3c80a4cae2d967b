// The process's environment: inherited signals and streams, started commands, the machine's memory.
// Unix only.
#pragma once

#include <string>
#include <vector>

#include <cstdint>
#include <cstdio>
#include <sys/types.h>

#include <fmt/format.h>

namespace ibd {

/** Effect of a write to a pipe without a reader. */
enum class BrokenPipe {
    kFailsWrite,  //!< for the node, which continues
    kEndsProcess, //!< for tools: SIGPIPE ends them silently, even if the parent process ignored the
                  //!< signal
};

/** The first call in main(). Opens closed standard streams as /dev/null: otherwise the next opened
 *  file would get their descriptor, and printed text would be written to it. Restores the default
 *  of SIGCHLD, so that ended children can be waited for. */
void PrepareProcess(BrokenPipe broken_pipe);

/** Freed memory is merged with its neighbours at once. Otherwise glibc puts it off for small blocks
 *  and then merges all of them in one call of free(), on any thread: 5 ms while a block is being
 *  connected (bench/ibd/relay_attacks.py). Call it before other threads start. */
void MergeFreedMemoryAtOnce();

/** Starts `sh -c <line>` with no signal blocked or ignored. Returns its pid, or -1. */
pid_t StartShell(const std::string& line);

/** The machine's memory in bytes; 0: unknown. */
uint64_t MachineMemory();

/** Prints to a standard stream. Ignores a stream that accepts no more (a pipe without a reader, a
 *  full disk), where fmt::print() would throw. */
template <typename... Args>
void Print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args)
{
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    (void)std::fwrite(text.data(), 1, text.size(), stream); // text from files may have null bytes
}

} // namespace ibd

// See last_words.h. Code in this file must not allocate.
#include "util/last_words.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include <climits>
#include <fcntl.h>
#include <unistd.h>

namespace ibd {

namespace {

/** The language's handlers take no argument, so the path is global. */
char* LogFile()
{
    static char path[PATH_MAX] = {};
    return path;
}

void Append(char* line, size_t size, const char* text)
{
    std::strncat(line, text, size - std::strlen(line) - 1);
}

void WriteTo(int fd, const char* text)
{
    if (fd >= 0) (void)!::write(fd, text, std::strlen(text));
}

[[noreturn]] void Say(const char* what, const char* reason)
{
    static std::atomic_flag saying = ATOMIC_FLAG_INIT;
    if (saying.test_and_set()) {
        for (;;) ::pause(); // another thread ends the process
    }
    char line[512] = "Error: ";
    for (const char* part : {what, reason, ". The next start resumes from the state on disk\n"}) {
        Append(line, sizeof line, part);
    }
    WriteTo(STDERR_FILENO, line);
    if (*LogFile()) WriteTo(::open(LogFile(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC), line);
    ::_exit(EXIT_FAILURE);
}

/** Handles uncaught standard exceptions about the machine, before unwinding. All others are bugs.
 */
[[noreturn]] void Terminate()
{
    try {
        if (const std::exception_ptr now = std::current_exception()) std::rethrow_exception(now);
    } catch (const std::bad_alloc&) {
        Say("out of memory", "");
    } catch (const std::system_error& error) {
        Say("the system refuses a resource: ", error.what());
    } catch (...) {
        WriteTo(STDERR_FILENO, "unexpected exception\n");
    }
    std::abort();
}

} // namespace

void InstallLastWords() { std::set_terminate(Terminate); }

void SetLastWordsLog(const Path& log_file)
{
    std::strncpy(LogFile(), log_file.c_str(), PATH_MAX - 1);
}

} // namespace ibd

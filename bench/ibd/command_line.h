// The command line of the benchmark programs: "--name value" pairs, and an end with one line on
// standard error when something is wrong. For main threads only.
#pragma once

#include "util/result.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/core.h>

namespace ibd::bench {

using Options = std::map<std::string, std::string>;

[[noreturn]] inline void Fail(const std::string& message)
{
    fmt::print(stderr, "{}: {}\n", program_invocation_short_name, message);
    std::exit(1);
}

template <typename T>
T Require(Result<T> result)
{
    if (!result) Fail(result.Message());
    if constexpr (!std::is_void_v<T>) return std::move(result).Value();
}

/** `options` holds the defaults; `argv` is read from `first` on. Fails with `help` on a name that
 *  is not among them. */
inline Options ParseOptions(int argc, char** argv, int first, Options options, const char* help)
{
    for (int i = first; i + 1 < argc; i += 2) {
        if (!options.contains(argv[i])) Fail(fmt::format("unknown option {}\n{}", argv[i], help));
        options[argv[i]] = argv[i + 1];
    }
    return options;
}

} // namespace ibd::bench

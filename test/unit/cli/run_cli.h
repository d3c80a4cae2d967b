// One run of bitcoin-cli within the test.
#pragma once

#include "cli/app.h"

#include <sstream>

namespace ibd::test {

using Words = std::vector<std::string>;

struct CliRun {
    int exit_code;
    std::string out;
    std::string error;
};

/** `words`: behind the program's name. */
inline CliRun RunCliWith(Words words, const std::string& input = "")
{
    words.insert(words.begin(), "bitcoin-cli");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream error;
    const auto env = MakePosixEnv();
    const int code = RunCli(*env, static_cast<int>(argv.size()), argv.data(), {in, out, error});
    return {code, out.str(), error.str()};
}

} // namespace ibd::test

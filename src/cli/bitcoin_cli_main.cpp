// bitcoin-cli: the entry point of the command-line RPC client.
#include "cli/app.h"
#include "util/process.h"

#include <iostream>

#include <unistd.h>

int main(int argc, char* argv[])
{
    ibd::PrepareProcess(ibd::BrokenPipe::kEndsProcess);
    const auto env = ibd::MakePosixEnv();
    return ibd::RunCli(*env, argc, argv,
                       {std::cin, std::cout, std::cerr, isatty(STDOUT_FILENO) == 1});
}

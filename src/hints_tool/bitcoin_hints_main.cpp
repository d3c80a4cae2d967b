// bitcoin-hints: the entry point of the hints tool.
#include "hints_tool/tool.h"
#include "util/process.h"

int main(int argc, char* argv[])
{
    ibd::PrepareProcess(ibd::BrokenPipe::kEndsProcess);
    const auto env = ibd::MakePosixEnv();
    return ibd::RunHintsTool(*env, argc, argv);
}

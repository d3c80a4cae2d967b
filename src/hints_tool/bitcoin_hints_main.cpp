// bitcoin-hints: the entry point of the hints tool.
#include "hints_tool/tool.h"

int main(int argc, char* argv[])
{
    const auto env = ibd::MakePosixEnv();
    return ibd::RunHintsTool(*env, argc, argv);
}

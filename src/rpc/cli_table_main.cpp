// Writes bitcoin-cli's table of the node's calls, from the node's own, to the file of its argument.
// The build runs it: bitcoin-cli knows each argument of a call from the call's one declaration, and
// links nothing of the node.
#include "rpc/standalone_calls.h"
#include "util/process.h"

#include <fstream>

using namespace ibd;

int main(int argc, char* argv[])
{
    if (argc != 2) {
        Print(stderr, "Usage: cli_table FILE\n");
        return 1;
    }
    const auto env = MakePosixEnv();
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const StandaloneCalls calls(*env, params);
    std::ofstream file(argv[1]);
    file << calls.table.CliTable() << std::flush;
    if (file) return 0;
    Print(stderr, "{}: cannot be written\n", argv[1]);
    return 1;
}

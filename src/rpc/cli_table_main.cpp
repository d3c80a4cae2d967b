// Writes bitcoin-cli's table of calls, derived from the node's table, to the file given as its
// argument. The build runs it, so that each argument is declared once and bitcoin-cli links no code
// of the node.
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

// ibd-kv-tool FOLDER: the records of a LevelDB database, one a line: key and value in hex, the
// value without its obfuscation. For tests that compare databases with Core's.
#include "storage/kv_store.h"
#include "util/hex.h"

#include <iostream>

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::cerr << "usage: ibd-kv-tool FOLDER\n";
        return 2;
    }
    const auto env = ibd::MakePosixEnv();
    const auto log = ibd::MakeNullLogger();
    ibd::KvOptions options;
    options.directory = argv[1];
    const auto db = ibd::KvStore::Open(*env, *log, options);
    if (!db) {
        std::cerr << db.Message() << '\n';
        return 1;
    }
    ibd::KvIterator it = (*db)->NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
        std::cout << ibd::ToHex(it.Key()) << ' ' << ibd::ToHex(it.Value()) << '\n';
    }
    if (const auto status = it.Status(); !status) {
        std::cerr << status.Message() << '\n';
        return 1;
    }
    return 0;
}

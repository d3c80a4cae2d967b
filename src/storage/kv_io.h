// LevelDB's file system with a check before each step, so that tests can make a database's disk
// fail. Without a check LevelDB uses its own file system directly.
#pragma once

#include "util/env.h"

#include <functional>
#include <memory>

namespace leveldb {
class Env;
}

namespace ibd {

/** Called before LevelDB opens, reads, writes, syncs, renames or removes a file, from any of its
 *  threads; the step fails with its error. `kind`: a word such as "read". */
using KvIoCheck = std::function<Result<>(const char* kind, const Path& path)>;

std::unique_ptr<leveldb::Env> MakeCheckedKvEnv(KvIoCheck check);

} // namespace ibd

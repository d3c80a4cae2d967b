// LevelDB's file system with a check before each step: the seam through which tests make the disk
// of a database fail. Without a check LevelDB uses its own, and nothing is in between.
#pragma once

#include "util/env.h"

#include <functional>
#include <memory>

namespace leveldb {
class Env;
}

namespace ibd {

/** Called before LevelDB opens, reads, writes, syncs, renames or removes a file, from any of its
 *  threads; an error is what the step ends with. `kind` is a word as in "read". */
using KvIoCheck = std::function<Result<>(const char* kind, const Path& path)>;

std::unique_ptr<leveldb::Env> MakeCheckedKvEnv(KvIoCheck check);

} // namespace ibd

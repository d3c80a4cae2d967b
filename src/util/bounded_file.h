// Reads files of untrusted size.
#pragma once

#include "util/env.h"

namespace ibd {

/** Contents of a file; bad data if it has more than `most` bytes. Fewer than its size only if the
 *  file shrinks meanwhile. */
Result<Bytes> ReadBoundedFile(Env& env, const Path& path, uint64_t most);

} // namespace ibd

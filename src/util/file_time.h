// The time when a file was last written. Not part of Env, because it serves only to show a file's
// age.
#pragma once

#include "util/env.h"

namespace ibd {

/** Seconds since 1970 by the machine's clock. */
Result<int64_t> ModifiedTime(const Path& path);

} // namespace ibd

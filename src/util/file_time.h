// When a file was last written. Apart from Env, as it is for a file's age only.
#pragma once

#include "util/env.h"

namespace ibd {

/** Seconds since 1970 by the machine's clock. */
Result<int64_t> ModifiedTime(const Path& path);

} // namespace ibd

// Pipes and devices behind Env::OpenStream() and Env::OpenPipe(). Every wait for the other end asks
// `stop` at intervals.
#pragma once

#include "util/env.h"

namespace ibd {

Result<std::unique_ptr<InputStream>> OpenInputStream(const Path& path, StopWaiting stop);
Result<std::unique_ptr<WritableFile>> OpenNamedPipe(const Path& path, StopWaiting stop);

} // namespace ibd

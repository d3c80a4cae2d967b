// Pipes and devices behind Env::OpenStream() and Env::OpenPipe(). Nothing in here waits for the
// other end without asking now and then whether to go on.
#pragma once

#include "util/env.h"

namespace ibd {

Result<std::unique_ptr<InputStream>> OpenInputStream(const Path& path, StopWaiting stop);
Result<std::unique_ptr<WritableFile>> OpenNamedPipe(const Path& path, StopWaiting stop);

} // namespace ibd

// What is said when memory or threads run out: one line on stderr and in the log, and the process
// ends with status 1. Nothing is unwound or flushed; what is durable is as after kill -9.
#pragma once

#include "util/env.h"

namespace ibd {

/** From now on, on any thread, an exception about memory or the system that nobody catches ends the
 *  process so. Call once before there are threads. */
void InstallLastWords();

/** Where the log goes, if to a file; until then only stderr is told. Call at most once. */
void SetLastWordsLog(const Path& log_file);

} // namespace ibd

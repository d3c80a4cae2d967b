// The last message when memory or threads run out: one line on stderr and in the log; the process
// exits with status 1. It unwinds and flushes nothing; data on disk is as after kill -9.
#pragma once

#include "util/env.h"

namespace ibd {

/** Installs the handler: an uncaught exception about memory or the system, on any thread, ends the
 *  process this way. Call it once, before there are threads. */
void InstallLastWords();

/** Path of the log file; without it only stderr is used. Call it at most once. */
void SetLastWordsLog(const Path& log_file);

} // namespace ibd

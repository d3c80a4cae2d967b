// Checks of options at start, before anything is written: contradictions and invalid values. Texts
// and order are Bitcoin Core's, since scripts compare them; values of options without effect are
// checked too.
#pragma once

#include "consensus/params.h"
#include "util/args.h"
#include "util/log_file.h"

namespace ibd {

/** Logs each line of a text. */
void LogLines(Logger& log, LogLevel level, std::string_view text);
/** Prints "Warning: <text>" on stderr and in the log. */
void InitWarning(Logger& log, const std::string& text);
/** The same with "Error: ". */
void InitError(Logger& log, const std::string& text);

/** Whether -blockfilterindex asks for basic filters, by name or for all types. */
Result<bool> WantsFilterIndex(const ArgsManager& args);

/** Applies -debug, -debugexclude and -loglevel. */
Result<> ApplyLogCategories(const ArgsManager& args, FileLogger& log);

/** Checks everything but addresses, and sets the log's categories. File names come from `args`; the
 *  only path accessed is the directory of -blocksdir. */
Result<> CheckParameters(const ArgsManager& args, const ChainParams& params, FileLogger& log);

} // namespace ibd

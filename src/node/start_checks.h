// What bitcoind refuses or warns of at start, before anything is written: options that contradict
// each other or have values that make no sense. Texts and order are Bitcoin Core's, since scripts
// compare them; values of options without effect are checked all the same.
#pragma once

#include "consensus/params.h"
#include "util/args.h"
#include "util/log_file.h"

namespace ibd {

/** "Warning: <text>" on stderr, and in the log. */
void InitWarning(Logger& log, const std::string& text);

/** -debug, -debugexclude and -loglevel. */
Result<> ApplyLogCategories(const ArgsManager& args, FileLogger& log);

/** Everything but addresses. Sets the log's categories on the way. The file names are those of
 *  `args`; no file is looked at but the directory of -blocksdir. */
Result<> CheckParameters(const ArgsManager& args, const ChainParams& params, FileLogger& log);

/** -maxuploadtarget=1.5G is none, =2g is. */
std::optional<uint64_t> ParseByteUnits(std::string_view text, uint64_t default_unit);
/** "0.00001" BTC in satoshi; nothing if malformed or more than there will ever be. */
std::optional<int64_t> ParseMoney(std::string_view text);

} // namespace ibd

// The arguments of calls that are JSON rather than text, by position and by name; converts
// command-line words accordingly.
#pragma once

#include "util/result.h"

#include <string>
#include <vector>

#include <univalue.h>

namespace ibd {

/** Whether the argument at `position` (from 0), or named `name`, of `method` is JSON. */
bool IsJsonParam(const std::string& method, size_t position);
bool IsJsonParam(const std::string& method, const std::string& name);

/** Converts words to an array of arguments. An error if a JSON argument does not parse. */
Result<UniValue> ConvertPositional(const std::string& method,
                                   const std::vector<std::string>& words);

/** Converts words "name=value" to an object; collects words without '=' under "args". */
Result<UniValue> ConvertNamed(const std::string& method, const std::vector<std::string>& words);

} // namespace ibd

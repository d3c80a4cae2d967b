// Several calls in one request, and their answers by position. Pure functions.
#pragma once

#include "util/result.h"

#include <span>
#include <vector>

#include <univalue.h>

namespace ibd {

/** Calls without arguments, as one request. */
UniValue MakeBatch(std::span<const char* const> methods);
/** An answer to each of `count` calls; an error if `answers` are not those to such a batch. */
Result<std::vector<UniValue>> ReadBatch(const UniValue& answers, size_t count);

} // namespace ibd

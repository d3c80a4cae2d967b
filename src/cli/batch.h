// Several calls in one request, and their answers by position. Pure functions.
#pragma once

#include "util/result.h"

#include <span>
#include <vector>

#include <univalue.h>

namespace ibd {

/** A request of calls without arguments. */
UniValue MakeBatch(std::span<const char* const> methods);
/** The answers to `count` calls; an error if `answers` does not match such a batch. */
Result<std::vector<UniValue>> ReadBatch(const UniValue& answers, size_t count);

} // namespace ibd

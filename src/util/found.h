// Names for Results with a further distinction: a value that may be absent, and the kind of an
// error.
#pragma once

#include "util/result.h"

namespace ibd {

/** The result of a search: a value, or nothing. */
template <typename T>
using Found = Result<std::optional<T>>;

/** The machine failed; the data may be fine. */
inline bool SystemFailed(const Error& error) { return error.kind == Error::Kind::kSystem; }
template <typename T>
bool SystemFailed(const Result<T>& result)
{
    return !result.Ok() && SystemFailed(result.GetError());
}

/** The input is invalid, whatever the machine. */
inline bool IsBadData(const Error& error) { return !SystemFailed(error); }
template <typename T>
bool IsBadData(const Result<T>& result)
{
    return !result.Ok() && IsBadData(result.GetError());
}

} // namespace ibd

/** Returns the error of `result` from the enclosing function if the machine failed. The following
 *  code handles bad data: damage can often be repaired, but a disk failure must be reported. */
#define IBD_RETURN_IF_SYSTEM_ERROR(result)                                                         \
    do {                                                                                           \
        if (::ibd::SystemFailed(result)) return (result).GetError();                               \
    } while (0)

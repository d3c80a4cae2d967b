// Must(): for calls that a test requires to succeed.
#pragma once

#include "util/result.h"

#include "support/catch.h"

namespace ibd::test {

/** The value of a Result, or the test fails with its message. */
template <typename T>
T Must(Result<T> result)
{
    if (!result) FAIL(result.Message());
    return std::move(result).Value();
}
inline void Must(const Result<>& result)
{
    if (!result) FAIL(result.Message());
}

} // namespace ibd::test

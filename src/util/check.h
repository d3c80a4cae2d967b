// CHECK: an invariant whose failure is a bug in this program. Always on; prints and aborts.
#pragma once

namespace ibd {

/** Prints file, line and the failed condition to stderr and aborts. */
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

} // namespace ibd

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) [[unlikely]]                                                             \
            ::ibd::CheckFailed(__FILE__, __LINE__, #condition);                                    \
    } while (0)

// See check.h.
#include "util/check.h"

#include <cstdio>
#include <cstdlib>

namespace ibd {

void CheckFailed(const char* file, int line, const char* condition)
{
    std::fprintf(stderr, "%s:%d: internal error, please report: %s\n", file, line, condition);
    std::abort();
}

} // namespace ibd

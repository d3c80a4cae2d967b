// Helpers of the programs about packed blocks: files and the CPU clock.
#pragma once

#include "util/bytes.h"

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>

namespace ibd {

/** CPU time of this process so far, microseconds. */
inline int64_t CpuMicros()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

/** Empty if the file cannot be read. */
inline Bytes ReadFile(const char* path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace ibd

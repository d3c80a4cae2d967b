// Gaps: encodes unspent outputs as gaps: the number of spent outputs before each one.
#pragma once

#include <cstdint>
#include <span>

namespace ibd {

/** Calls `visit` for each of the ascending indices with its gap: the number of indices between it
 *  and the one before it. The first gap is counted from 0. */
template <typename Visitor>
void ForEachGap(std::span<const uint32_t> unspent, Visitor visit)
{
    uint32_t next = 0;
    for (const uint32_t index : unspent) {
        visit(index - next);
        next = index + 1;
    }
}

} // namespace ibd

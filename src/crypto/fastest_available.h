// Dispatch to the implementation for this CPU, where their order is known. Pure functions.
#pragma once

#include <span>

namespace ibd {

/** The last of a list, which begins with the portable one and ends with the fastest, that this CPU
 *  has the instructions for (member `available`). */
template <typename Backend>
const Backend& FastestAvailable(std::span<const Backend> list)
{
    const Backend* chosen = &list.front();
    for (const Backend& candidate : list) {
        if (candidate.available) chosen = &candidate;
    }
    return *chosen;
}

} // namespace ibd

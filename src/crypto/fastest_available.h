// Chooses the implementation for this CPU from a list ordered by speed. Pure functions.
#pragma once

#include <span>

namespace ibd {

/** The last implementation in the list that this CPU supports (member `available`). The list begins
 *  with the portable one and ends with the fastest. */
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

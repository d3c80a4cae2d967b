// Long polling of getblocktemplate (BIP 22): a new tip ends the wait at once; new transactions end
// it at the next check for them. Pure except for the two functions passed in.
#pragma once

#include <chrono>
#include <functional>

namespace ibd {

/** `tip_changes_within`: waits up to a time and returns whether the tip has changed, or the wait
 *  must end. Miners switch at once for a new block, but not for each new transaction. */
inline void WaitForTemplateNews(
    const std::function<bool(std::chrono::milliseconds)>& tip_changes_within,
    const std::function<bool()>& pool_changed)
{
    constexpr std::chrono::milliseconds kFirstLookAtPool = std::chrono::minutes(1);
    constexpr std::chrono::milliseconds kNextLookAtPool = std::chrono::seconds(10);
    std::chrono::milliseconds wait = kFirstLookAtPool;
    while (!tip_changes_within(wait) && !pool_changed()) wait = kNextLookAtPool;
}

} // namespace ibd

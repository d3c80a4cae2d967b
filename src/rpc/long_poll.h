// The wait of getblocktemplate for news (BIP 22): another tip ends it at once, new transactions
// when they are looked for. Pure but for its two functions.
#pragma once

#include <chrono>
#include <functional>

namespace ibd {

/** `tip_changes_within` waits up to a time and returns whether there is another tip, or no reason
 *  to wait any longer. Miners take a new block at once, but not each new transaction. */
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

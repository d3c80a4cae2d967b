// TipWaiters: RPC calls that wait for a condition on the tip. The node notifies it of every new
// tip. Any thread.
#pragma once

#include "chain/chain_reader.h"

#include <chrono>
#include <condition_variable>
#include <functional>

namespace ibd {

class TipWaiters {
public:
    using Condition = std::function<bool(const TipInfo&)>;

    /** Waits until the tip from `current` meets the condition, the time is over (0: no limit), or
     *  Stop(); returns the current tip. */
    TipInfo Wait(const std::function<TipInfo()>& current, const Condition& condition,
                 std::chrono::milliseconds timeout);
    /** There is a new tip. */
    void Notify();
    /** Ends all waits permanently. */
    void Stop();

private:
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_stopped IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd

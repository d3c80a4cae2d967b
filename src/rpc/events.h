// ChainEvents: lets RPC calls wait for the tip to change and learn the verdict on a block they
// submitted, and keeps the chain's warnings. The node makes it the ChainManager's observer. Any
// thread.
#pragma once

#include "rpc/warnings.h"
#include "validation/chain_manager.h"

#include <chrono>
#include <condition_variable>
#include <map>

namespace ibd {

class ChainEvents final : public ChainObserver {
public:
    struct Tip {
        BlockHash hash;
        int height = -1;
    };
    using Condition = std::function<bool(const Tip&)>;

    void BlockConnected(const HeaderNode&, const BlockView&) override { ++m_steps; }
    void BlockDisconnected(const HeaderNode&, const BlockView&) override { ++m_steps; }
    void TipChanged(const HeaderNode& node) override;
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override;
    void WarningSet(ChainWarning warning, const std::string& text) override;
    void WarningCleared(ChainWarning warning) override;
    NodeWarnings& Warnings() { return m_warnings; }

    /** Called with each new tip, under the manager's lock: be quick. */
    void OnTip(std::function<void(const HeaderNode&)> call) { m_on_tip = std::move(call); }

    /** Sets the tip that waiting starts from. */
    void Reset(const Tip& tip);
    /** Waits until the tip meets the condition, the time is over (0: no limit) or Stop(). */
    Tip Wait(const Condition& condition, std::chrono::milliseconds timeout);
    /** Ends all waiting for good. */
    void Stop();

    /** Blocks connected and taken back so far. */
    uint64_t Steps() const { return m_steps; }

    /** Remembers verdicts on `hash` from now on, until Forget. */
    void Watch(const BlockHash& hash);
    /** The verdict seen since Watch, if any; ends the watch. */
    std::optional<RuleResult> Forget(const BlockHash& hash);

private:
    std::function<void(const HeaderNode&)> m_on_tip;
    NodeWarnings m_warnings;
    std::atomic<uint64_t> m_steps = 0;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    Tip m_tip;
    bool m_stopped = false;
    std::map<BlockHash, std::optional<RuleResult>> m_watched;
};

} // namespace ibd

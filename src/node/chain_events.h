// ChainEvents: observes the ChainManager and publishes its reports as events, which are handled
// later on other threads. The exceptions, called on the chain's thread, are the transaction pool,
// which follows the chain step by step, and reactions that must not wait. They are set before the
// first event. Owned by the node.
#pragma once

#include "events/events.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainEvents final : public ChainObserver {
public:
    /** `warnings`: updated at once, because a call that caused a warning may show it. */
    ChainEvents(Events& events, NodeWarnings& warnings) : m_events(events), m_warnings(warnings) {}

    /** For urgent reactions: called with each new tip before the next block. */
    void OnTip(std::function<void(const HeaderNode&)> call) { m_on_tip = std::move(call); }
    /** For urgent reactions: called with each verdict, on the thread that found it. */
    void OnChecked(std::function<void(const BlockHash&, const RuleResult&)> call)
    {
        m_on_checked = std::move(call);
    }
    /** The observer that follows the chain step by step; called before all others. */
    void SetFirst(ChainObserver& first) { m_first = &first; }
    /** Starts to observe this chain. */
    void Follow(ChainManager& chain);

    void BlockConnected(const HeaderNode& node, const BlockView& block) override;
    void BlockDisconnected(const HeaderNode& node, const BlockView& block) override;
    void TipLeft() override
    {
        if (m_first) m_first->TipLeft();
    }
    void SteppedBack(const HeaderNode& node, int blocks) override
    {
        if (m_first) m_first->SteppedBack(node, blocks);
    }
    void TipReached(const HeaderNode* node) override
    {
        if (m_first) m_first->TipReached(node);
    }
    void TipChanged(const HeaderNode& node) override;
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override
    {
        if (m_on_checked) m_on_checked(hash, verdict);
    }
    void WarningSet(NodeWarning warning, const std::string& text) override;
    void WarningCleared(NodeWarning warning) override { m_warnings.Clear(warning); }

private:
    Events& m_events;
    NodeWarnings& m_warnings;
    const ChainManager* m_chain = nullptr;
    const HeaderNode* m_tip = nullptr; //!< the last visible tip
    ChainObserver* m_first = nullptr;
    std::function<void(const HeaderNode&)> m_on_tip;
    std::function<void(const BlockHash&, const RuleResult&)> m_on_checked;
};

} // namespace ibd

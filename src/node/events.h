// Events: delivers the chain's events to consumers, in order and asynchronously. It observes the
// ChainManager: each event becomes a value in a bounded queue, and one thread passes it to each
// consumer. Owned by the node. Memory: kMostQueued values. A full queue blocks the chain; consumers
// must never run user commands. A consumer that needs whole blocks reads them from the block store.
#pragma once

#include "util/threads.h"
#include "validation/chain_manager.h"

#include <variant>

namespace ibd {

struct TipEvent {
    TipInfo tip;
    bool downloading = false; //!< during the initial download
};

/** A new warning. */
struct WarningEvent {
    NodeWarning warning;
    std::string text;
};

using Event = std::variant<TipEvent, WarningEvent>;

class EventConsumer {
public:
    virtual ~EventConsumer() = default;
    virtual void Take(const Event& event) = 0;
};

class Events final : public ChainObserver {
public:
    static constexpr size_t kMostQueued = 1024;

    /** `warnings`: updated at once, because a call that caused a warning may show it. */
    explicit Events(NodeWarnings& warnings) : m_warnings(warnings) {}
    ~Events() override { Stop(); }

    // Before the first event.

    /** All consumers must outlive the thread. */
    void AddConsumer(EventConsumer& consumer) { m_consumers.push_back(&consumer); }
    /** For urgent reactions: called with each new tip under the state lock. */
    void OnTip(std::function<void(const HeaderNode&)> call) { m_on_tip = std::move(call); }
    /** The observer that follows the chain step by step; called before all others, under the state
     *  lock. */
    void SetFirst(ChainObserver& first) { m_first = &first; }
    /** For urgent reactions: called with each verdict, on the thread that found it. */
    void OnChecked(std::function<void(const BlockHash&, const RuleResult&)> call)
    {
        m_on_checked = std::move(call);
    }
    /** Starts to observe this chain. */
    void Follow(ChainManager& chain);
    void Start();

    /** Returns when all consumers have handled all events so far, or after Stop(). */
    void Drain();
    /** Delivers the queued events, and ends. */
    void Stop();

    void BlockConnected(const HeaderNode& node, const BlockView& block) override
    {
        if (m_first) m_first->BlockConnected(node, block);
    }
    void BlockDisconnected(const HeaderNode& node, const BlockView& block) override
    {
        if (m_first) m_first->BlockDisconnected(node, block);
    }
    void TipChanged(const HeaderNode& node) override;
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override
    {
        if (m_on_checked) m_on_checked(hash, verdict);
    }
    void WarningSet(NodeWarning warning, const std::string& text) override;
    void WarningCleared(NodeWarning warning) override { m_warnings.Clear(warning); }

private:
    void Work();
    void Push(Event event);

    NodeWarnings& m_warnings;
    const ChainManager* m_chain = nullptr;
    ChainObserver* m_first = nullptr;
    std::vector<EventConsumer*> m_consumers;
    std::function<void(const HeaderNode&)> m_on_tip;
    std::function<void(const BlockHash&, const RuleResult&)> m_on_checked;
    BoundedQueue<Event> m_queue{kMostQueued};

    Mutex m_mutex;
    std::condition_variable_any m_told;
    uint64_t m_queued IBD_GUARDED_BY(m_mutex) = 0; //!< events so far
    uint64_t m_handled IBD_GUARDED_BY(m_mutex) = 0;
    bool m_ended IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd

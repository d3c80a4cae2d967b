// See events.h.
#include "node/events.h"

namespace ibd {

void Events::Follow(ChainManager& chain)
{
    m_chain = &chain;
    chain.SetObserver(this);
}

void Events::Start()
{
    m_thread = NamedThread("events", [this] { Work(); });
}

void Events::Work()
{
    while (const std::optional<Event> event = m_queue.Pop()) {
        for (EventConsumer* consumer : m_consumers) consumer->Take(*event);
        const Lock lock(m_mutex);
        ++m_handled;
        m_told.notify_all();
    }
    const Lock lock(m_mutex);
    m_ended = true;
    m_told.notify_all();
}

void Events::Push(Event event)
{
    {
        const Lock lock(m_mutex);
        ++m_queued;
    }
    // Each event has size 1. After Stop() events are dropped.
    (void)m_queue.Push(std::move(event), 1);
}

void Events::Drain()
{
    const Lock lock(m_mutex);
    const uint64_t last = m_queued;
    while (m_handled < last && !m_ended) m_told.wait(m_mutex);
}

void Events::Stop()
{
    m_queue.Close();
    m_thread.Join();
}

void Events::TipChanged(const HeaderNode& node)
{
    if (m_first) m_first->TipChanged(node);
    if (m_on_tip) m_on_tip(node);
    Push(TipEvent{{node.hash, node.height}, m_chain->IsInitialBlockDownload()});
}

void Events::WarningSet(NodeWarning warning, const std::string& text)
{
    if (m_warnings.Set(warning, text)) Push(WarningEvent{warning, text});
}

} // namespace ibd

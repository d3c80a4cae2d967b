// See event_queue.h.
#include "events/event_queue.h"

#include "util/check.h"

namespace ibd {

EventQueue::EventQueue(const Subscription& subscription) : m_subscription(subscription)
{
    CHECK(subscription.capacity > 0);
}

void EventQueue::Push(const NumberedEvent& event)
{
    CHECK(event.number > m_last);
    CHECK(!Blocks());
    m_last = event.number;
    if (IsFull()) {
        Miss(event);
        return;
    }
    m_entries.emplace_back(event);
    ++m_events;
}

/** Entries before a note stay in the queue, so that there is at most one note behind each event. */
void EventQueue::Miss(const NumberedEvent& event)
{
    ++m_dropped;
    if (m_subscription.when_full == WhenFull::kDrop) return;
    auto* missed = std::get_if<MissedEvents>(&m_entries.back());
    if (!missed) {
        m_entries.emplace_back(MissedEvents{.first = event.number});
        missed = &std::get<MissedEvents>(m_entries.back());
    }
    missed->last = event.number;
    ++missed->count;
    if (const auto* tip = std::get_if<TipChanged>(&event.event)) missed->tip = *tip;
}

uint64_t EventQueue::FirstNumber() const
{
    const Entry& first = m_entries.front();
    if (const auto* event = std::get_if<NumberedEvent>(&first)) return event->number;
    return std::get<MissedEvents>(first).first;
}

EventQueue::Entry EventQueue::Pop()
{
    CHECK(!m_entries.empty());
    Entry first = std::move(m_entries.front());
    m_entries.pop_front();
    if (std::holds_alternative<NumberedEvent>(first)) --m_events;
    return first;
}

} // namespace ibd

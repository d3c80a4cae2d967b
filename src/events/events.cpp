// See events.h.
#include "events/events.h"

#include "util/check.h"
#include "util/thread_priority.h"

#include <algorithm>
#include <map>

namespace ibd {

namespace {

void Deliver(EventConsumer& consumer, const EventQueue::Entry& entry)
{
    if (const auto* event = std::get_if<NumberedEvent>(&entry)) {
        consumer.Take(event->event);
    } else {
        consumer.Missed(std::get<MissedEvents>(entry));
    }
}

} // namespace

void Events::AddConsumer(EventConsumer& consumer, const Subscription& subscription,
                         const std::string& thread)
{
    const Lock lock(m_mutex);
    CHECK(m_published == 0);
    m_lanes.push_back(std::make_unique<Lane>(consumer, subscription, thread));
}

void Events::Start()
{
    std::map<std::string, bool> threads; // whether their consumers yield
    {
        const Lock lock(m_mutex);
        for (const auto& lane : m_lanes) {
            const bool yields = lane->queue.Yields();
            CHECK(threads.try_emplace(lane->thread, yields).first->second == yields);
        }
    }
    for (const auto& [name, yields] : threads) {
        m_threads.emplace_back(name, [this, name = name] { Work(name, false); });
        if (!yields) continue;
        m_threads.emplace_back(name + "-low", [this, name = name] {
            LowerThreadPriority(ThreadPriority::kLowest);
            Work(name, true);
        });
    }
}

void Events::Work(const std::string& thread, bool low)
{
    while (true) {
        Lane* lane = nullptr;
        EventQueue::Entry entry;
        {
            const Lock lock(m_mutex);
            while (!(lane = Next(thread, low))) {
                if (m_stopped && IsOver(thread)) return;
                m_changed.wait(m_mutex);
            }
            lane->handling = lane->queue.FirstNumber();
            entry = lane->queue.Pop();
        }
        // Without the lock: a woken thread would take the processor of one of low priority.
        m_changed.notify_all(); // the queue has space
        Deliver(lane->consumer, entry);
        {
            const Lock lock(m_mutex);
            lane->handling = 0;
        }
        m_changed.notify_all(); // for Drain()
    }
}

/** The thread's consumer of the oldest event; null: none has any, or it is the other thread's turn.
 */
Events::Lane* Events::Next(const std::string& thread, bool low)
{
    Lane* next = nullptr;
    for (const auto& lane : m_lanes) {
        if (lane->thread != thread) continue;
        if (lane->handling != 0) return nullptr;
        const bool yields = lane->queue.Yields() && m_downloading && !lane->queue.IsHalfFull();
        if (lane->queue.Empty() || low != yields) continue;
        if (!next || lane->queue.FirstNumber() < next->queue.FirstNumber()) next = lane.get();
    }
    return next;
}

/** Whether the thread's consumers have handled all their events. */
bool Events::IsOver(const std::string& thread) const
{
    return std::ranges::all_of(m_lanes, [&](const auto& lane) {
        return lane->thread != thread || (lane->queue.Empty() && lane->handling == 0);
    });
}

void Events::Publish(Event event)
{
    const Lock publishing(m_publishing);
    const Lock lock(m_mutex);
    if (m_stopped) return;
    if (const auto* tip = std::get_if<TipChanged>(&event)) m_downloading = tip->downloading;
    const NumberedEvent numbered{++m_published, std::move(event)};
    std::vector<Lane*> full;
    for (const auto& lane : m_lanes) {
        if (!lane->queue.Wants(numbered.event)) continue;
        lane->queue.Blocks() ? full.push_back(lane.get()) : lane->queue.Push(numbered);
    }
    m_changed.notify_all();
    for (Lane* lane : full) {
        while (lane->queue.Blocks() && !m_stopped) m_changed.wait(m_mutex);
        if (m_stopped) return;
        lane->queue.Push(numbered);
        m_changed.notify_all();
    }
}

/** Whether no consumer has an event up to `number` before it. */
bool Events::IsDone(uint64_t number) const
{
    return std::ranges::all_of(m_lanes, [&](const auto& lane) {
        const bool busy = lane->handling != 0 && lane->handling <= number;
        return !busy && (lane->queue.Empty() || lane->queue.FirstNumber() > number);
    });
}

void Events::Drain()
{
    {
        const Lock publishing(m_publishing); // an event that waits for space counts
    }
    const Lock lock(m_mutex);
    const uint64_t last = m_published;
    while (!IsDone(last) && !m_stopped) m_changed.wait(m_mutex);
}

void Events::Stop()
{
    {
        const Lock lock(m_mutex);
        m_stopped = true;
        m_downloading = false; // the rest is delivered quickly
        m_changed.notify_all();
    }
    for (NamedThread& thread : m_threads) thread.Join();
}

uint64_t Events::Dropped(const EventConsumer& consumer) const
{
    const Lock lock(m_mutex);
    uint64_t dropped = 0;
    for (const auto& lane : m_lanes) {
        if (&lane->consumer == &consumer) dropped += lane->queue.Dropped();
    }
    return dropped;
}

} // namespace ibd

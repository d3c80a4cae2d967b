// EventQueue: the events that wait for one consumer, with a bound and a policy for events beyond
// it. Owned by Events and under its lock. Memory: `capacity` events, each with a note of missed
// ones.
#pragma once

#include "events/event.h"

#include <deque>
#include <optional>

namespace ibd {

/** The treatment of a new event while the queue is full. */
enum class WhenFull {
    kBlock,  //!< the publisher waits, and so may the chain; no event is lost
    kDrop,   //!< it is dropped and counted
    kResync, //!< it is dropped, and the consumer learns in order which ones it missed
};

struct Subscription {
    EventKinds kinds; //!< subscribed kinds; events of other kinds do not enter the queue
    WhenFull when_full = WhenFull::kResync;
    size_t capacity = 1024; //!< events; at least 1
    /** During the initial download a thread of the lowest priority serves the consumer, as long as
     *  the queue is less than half full. */
    bool yields = false;
};

/** A run of dropped events of the subscribed kinds. */
struct MissedEvents {
    uint64_t first = 0; //!< number of the first one
    uint64_t last = 0;  //!< number of the last one; other kinds may be between
    uint64_t count = 0;
    std::optional<TipChanged> tip = {}; //!< the last one among them
};

class EventQueue {
public:
    using Entry = std::variant<NumberedEvent, MissedEvents>;

    explicit EventQueue(const Subscription& subscription);

    bool Wants(const Event& event) const { return m_subscription.kinds.Has(event); }
    /** Whether Push() must wait: the queue is full, and its policy is kBlock. */
    bool Blocks() const { return IsFull() && m_subscription.when_full == WhenFull::kBlock; }
    /** Adds an event of a subscribed kind, whose number is above all earlier ones. Do not call it
     *  while Blocks(). */
    void Push(const NumberedEvent& event);

    bool Empty() const { return m_entries.empty(); }
    /** The number of the first entry, which must exist. */
    uint64_t FirstNumber() const;
    /** Takes the first entry, which must exist. */
    Entry Pop();

    /** Events dropped so far, including the ones reported to the consumer. */
    uint64_t Dropped() const { return m_dropped; }
    WhenFull Policy() const { return m_subscription.when_full; }
    bool Yields() const { return m_subscription.yields; }
    /** Whether the consumer is so far behind that events may soon be lost. */
    bool IsHalfFull() const { return m_events >= m_subscription.capacity / 2 + 1; }

private:
    bool IsFull() const { return m_events >= m_subscription.capacity; }
    void Miss(const NumberedEvent& event);

    const Subscription m_subscription;
    std::deque<Entry> m_entries;
    size_t m_events = 0; //!< entries that are events; each note of missed ones follows one
    uint64_t m_last = 0; //!< number of the last event that was pushed
    uint64_t m_dropped = 0;
};

} // namespace ibd

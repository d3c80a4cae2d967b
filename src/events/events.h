// Events: delivers events of the chain to consumers. Each consumer has its own queue
// (event_queue.h); its thread is its own, or shared with other fast consumers. So a slow consumer
// delays neither the chain nor other threads, unless its policy is kBlock. A consumer gets its
// events one at a time in the order of publication; consumers on one thread get each event in the
// order in which they were added. Owned by the node. A consumer that yields has two threads, of
// which one has the lowest priority: the system lets no thread raise its own again.
//
// Threads: any may publish. A consumer with kBlock must neither publish nor wait for the chain,
// because the chain may wait for it. A consumer must not call Drain() or Stop(). Memory: as of the
// queues.
#pragma once

#include "events/event_queue.h"
#include "util/threads.h"

#include <memory>
#include <vector>

namespace ibd {

class EventConsumer {
public:
    virtual ~EventConsumer() = default;
    virtual void Take(const Event& event) = 0;
    /** These events were dropped (kResync); later ones follow. The consumer must read the current
     *  state from its source. */
    virtual void Missed(const MissedEvents&) {}
};

class Events {
public:
    Events() = default;
    ~Events() { Stop(); }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    /** Adds a queue; a consumer may have several. The consumer outlives the threads. `thread`: the
     *  name of the thread that serves it; consumers on one thread yield all or none. Call it before
     *  the first Publish(). */
    void AddConsumer(EventConsumer& consumer, const Subscription& subscription,
                     const std::string& thread = "events");
    void Start();

    /** Queues the event for its consumers. Waits for space in full queues with kBlock, after all
     *  other queues have the event. After Stop() events are dropped. */
    void Publish(Event event);
    /** Returns when all consumers have handled all events so far, or after Stop(). */
    void Drain();
    /** Delivers the queued events, then ends the threads. Waiting publishers return, and their
     *  events are dropped. */
    void Stop();

    /** Number of events that the consumer's queues have dropped. */
    uint64_t Dropped(const EventConsumer& consumer) const;

private:
    struct Lane {
        Lane(EventConsumer& to, const Subscription& subscription, std::string on)
            : consumer(to), thread(std::move(on)), queue(subscription)
        {
        }

        EventConsumer& consumer;
        const std::string thread;
        EventQueue queue;
        uint64_t handling = 0; //!< number of the entry that the consumer is handling; 0: none
    };

    /** `low`: the caller has the lowest priority. */
    void Work(const std::string& thread, bool low);
    Lane* Next(const std::string& thread, bool low) IBD_REQUIRES(m_mutex);
    bool IsOver(const std::string& thread) const IBD_REQUIRES(m_mutex);
    bool IsDone(uint64_t number) const IBD_REQUIRES(m_mutex);

    /** One event is published at a time; held while a publisher waits for space. */
    Mutex m_publishing;
    mutable Mutex m_mutex IBD_ACQUIRED_AFTER(m_publishing);
    std::condition_variable_any m_changed;
    std::vector<std::unique_ptr<Lane>> m_lanes IBD_GUARDED_BY(m_mutex);
    uint64_t m_published IBD_GUARDED_BY(m_mutex) = 0; //!< number of the last event
    bool m_downloading IBD_GUARDED_BY(m_mutex) = false; //!< of the last TipChanged
    bool m_stopped IBD_GUARDED_BY(m_mutex) = false;
    std::vector<NamedThread> m_threads; //!< of Start() and Stop()
};

} // namespace ibd

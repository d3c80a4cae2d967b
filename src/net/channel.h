// Channel: what the two threads of a connection share: messages on their way out, how much is
// received and unread, and how much went over it. Any thread; one short lock.
//
// Bounds: what waits to be sent is bounded by who sends (nothing is asked or answered while
// SendPaused()); received and unread bytes by the pause that AddUnread() asks for.
#pragma once

#include "net/peer_link.h"
#include "util/mutex.h"

#include <atomic>
#include <deque>
#include <map>

namespace ibd {

/** Bytes by type of message; of types that nobody knows as kOtherType. */
using TypeCounts = std::map<std::string, uint64_t>;
inline constexpr std::string_view kOtherType = "*other*";

class Channel {
public:
    /** What a queued or unread message counts beyond its payload. */
    static constexpr size_t kMessageOverhead = 128;

    Channel(size_t max_send, size_t max_receive) : m_max_send(max_send), m_max_receive(max_receive)
    {
    }

    // Sending.

    /** Whether the other thread must be told that there is something to send. */
    bool Queue(OutgoingMessage message);
    /** The next message to send, if there is one. Once it says none, Queue() says to tell. */
    std::optional<OutgoingMessage> Take();
    bool HasQueued() const;
    /** Bytes that the transport holds, and whether more than -maxsendbuffer wait in all. */
    void SetTransportMemory(size_t bytes) { m_transport_memory = bytes; }
    bool SendPaused() const;
    /** Whether somebody was told to wait, and need not any more; says so once. */
    bool TakeRelief();
    size_t QueuedBytes() const { return m_queued_bytes; }

    // Receiving.

    /** A message came. Whether to stop reading until Consumed() says to go on. */
    bool AddUnread(size_t payload);
    /** It is done with. Whether reading is to go on now. */
    bool Consumed(size_t payload);

    // Counting. `now`: seconds since 1970.

    void CountSent(std::string_view type, size_t bytes, int64_t now);
    void CountReceived(size_t bytes, int64_t now);
    void CountMessage(const ReceivedMessage& message);
    void SetTransport(TransportInfo info);
    PeerTraffic Traffic() const;
    struct Counts {
        TypeCounts sent;
        TypeCounts received;
    };
    Counts CountsByType() const;

private:
    const size_t m_max_send;
    const size_t m_max_receive;
    std::atomic<size_t> m_queued_bytes{0};
    std::atomic<size_t> m_transport_memory{0};
    mutable std::atomic<bool> m_was_paused{false}; //!< SendPaused() said so

    mutable Mutex m_mutex;
    std::deque<OutgoingMessage> m_queued IBD_GUARDED_BY(m_mutex);
    bool m_is_told IBD_GUARDED_BY(m_mutex) = false;
    size_t m_unread IBD_GUARDED_BY(m_mutex) = 0;
    bool m_paused IBD_GUARDED_BY(m_mutex) = false;
    PeerTraffic m_traffic IBD_GUARDED_BY(m_mutex);
    Counts m_counts IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

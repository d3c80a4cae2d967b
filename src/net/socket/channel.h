// Channel: shared by the two threads of a connection: outgoing messages, the amount of unread
// input, and traffic counters. Any thread; one short lock.
//
// Bounds: the senders bound queued output (they neither request nor answer during SendPaused());
// the pause requested by AddUnread() bounds unread input. Both are bounded for each connection, and
// for all together (input_room.h, OutputRoom), as long as the connection or its bytes exist.
#pragma once

#include "net/peer/peer_link.h"
#include "net/socket/input_room.h"
#include "util/mutex.h"

#include <atomic>
#include <deque>
#include <map>

namespace ibd {

/** Bytes by type of message; unknown types count as kOtherType. */
using TypeCounts = std::map<std::string, uint64_t>;
inline constexpr std::string_view kOtherType = "*other*";

/** Bytes of queued output of all connections. Any thread; outlives their channels. */
class OutputRoom {
public:
    /** Above it every peer with queued output is paused, so that peers which do not read their
     *  answers hold at most one answer each. */
    static constexpr size_t kMaxBytes = 16 << 20;

    void Add(size_t bytes) { m_bytes += bytes; }
    void Subtract(size_t bytes) { m_bytes -= bytes; }
    bool IsFull() const { return m_bytes > kMaxBytes; }

private:
    std::atomic<size_t> m_bytes{0};
};

class Channel {
public:
    /** Size of a queued or unread message besides its payload. */
    static constexpr size_t kMessageOverhead = 128;

    Channel(size_t max_send, size_t max_receive, InputRoom& input, OutputRoom& output)
        : m_max_send(max_send), m_max_receive(max_receive), m_input(input), m_output(output)
    {
    }
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // Sending.

    /** Queues a message. Returns whether the other thread must be woken to send it. */
    bool Queue(OutgoingMessage message);
    /** The next message to send. After it returned nothing, Queue() asks for a wake-up again. */
    std::optional<OutgoingMessage> Take();
    bool HasQueued() const;
    /** Sets the bytes held by the transport. SendPaused(): more than -maxsendbuffer bytes wait, or
     *  any wait while those of all connections exceed OutputRoom. */
    void SetTransportMemory(size_t bytes);
    bool SendPaused() const;
    /** Whether a pause has ended; true once for each pause. */
    bool TakeRelief();
    size_t QueuedBytes() const { return m_queued_bytes; }

    // Receiving.

    /** A message arrived. Returns whether to stop reading until Consumed() returns true. */
    bool AddUnread(size_t payload);
    /** The message was processed. Returns whether to resume reading. */
    bool Consumed(size_t payload);
    size_t Unread() const;

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
    InputRoom& m_input;
    OutputRoom& m_output;
    std::atomic<size_t> m_queued_bytes{0};
    std::atomic<size_t> m_transport_memory{0};
    mutable std::atomic<bool> m_was_paused{false}; //!< SendPaused() has returned true

    mutable Mutex m_mutex;
    std::deque<OutgoingMessage> m_queued IBD_GUARDED_BY(m_mutex);
    bool m_is_told IBD_GUARDED_BY(m_mutex) = false;
    size_t m_unread IBD_GUARDED_BY(m_mutex) = 0;
    bool m_paused IBD_GUARDED_BY(m_mutex) = false;
    PeerTraffic m_traffic IBD_GUARDED_BY(m_mutex);
    Counts m_counts IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd

// InputRoom: bounds the memory of unprocessed input over many connections: unread messages, and
// partly received messages for which room was reserved. There is one for outbound peers (Called()),
// and one for inbound peers, which may be many and hostile (Strangers()).
//
// A connection without unread input always receives, so that none waits for others. Its addition to
// a full room is bounded: one message of an outbound peer; kShortMessage bytes of a stranger,
// because a longer message waits, in order of arrival, until there is room for all of it. The bytes
// of a disconnected peer count until they are freed.
//
// Owned by Connections; outlives its channels. Counting: any thread; reserving: net-io.
#pragma once

#include "util/env.h"

#include <atomic>
#include <deque>

namespace ibd {

/** The owner of a MessageRoom. */
class RoomUser {
public:
    virtual ~RoomUser() = default;
    /** Called while others wait for room: if its message arrives too slowly, it closes and frees
     *  its room. `now`: microseconds of Env::MonotonicMicros(). */
    virtual void EndIfSlow(int64_t now) = 0;
};

class InputRoom {
public:
    /** A longer message of a stranger needs a reservation; bytes. Compact blocks of 5,000
     *  transactions are shorter, so peers cannot delay them. */
    static constexpr size_t kShortMessage = 32 << 10;
    static constexpr size_t kCalledBytes = 16 << 20;
    /** Room for three of the longest messages. */
    static constexpr size_t kStrangersBytes = 12 << 20;
    /** Above it strangers with unread input receive no more, so that short messages leave room for
     *  a long one. */
    static constexpr size_t kStrangersPause = 8 << 20;

    static InputRoom Called(Env& env) { return {env, kCalledBytes, kCalledBytes}; }
    static InputRoom Strangers(Env& env) { return {env, kStrangersBytes, kStrangersPause}; }

    // Any thread.

    void Add(size_t bytes) { m_bytes += bytes; }
    void Subtract(size_t bytes) { m_bytes -= bytes; }
    /** Whether a connection with unread input must stop receiving. */
    bool IsFull() const { return m_bytes > m_pause; }
    size_t Bytes() const { return m_bytes; }

    // net-io.

    /** Microseconds for a message once its room is reserved: 4 MB at 1 Mbit/s. For the same time a
     *  peer with unread input may leave its answers unread. */
    static constexpr int64_t kPatience = 32'000'000;

    void Enter(RoomUser& user) { m_users.push_back(&user); }
    void Leave(const RoomUser& user);
    /** Adds `bytes`. If there is no room for them, or others already wait, the user waits too,
     *  until a call succeeds. The first waiting user also causes slow ones to be closed. */
    bool Reserve(RoomUser& user, size_t bytes);
    int64_t Now() const { return m_env.MonotonicMicros(); }

private:
    InputRoom(Env& env, size_t most, size_t pause) : m_env(env), m_most(most), m_pause(pause) {}
    void EndSlow(const RoomUser& asking);

    Env& m_env;
    const size_t m_most;
    const size_t m_pause;
    std::atomic<size_t> m_bytes{0};
    // Used only by net-io.
    std::deque<RoomUser*> m_users;
    std::deque<RoomUser*> m_waiting; //!< the next one first
};

/** A partly received message of a stranger, and its part of the room. Owned by a Connection;
 *  net-io. */
class MessageRoom {
public:
    MessageRoom(InputRoom& room, RoomUser& user) : m_room(room), m_user(user)
    {
        m_room.Enter(m_user);
    }
    ~MessageRoom();
    MessageRoom(const MessageRoom&) = delete;
    MessageRoom& operator=(const MessageRoom&) = delete;

    /** `left` of the `size` bytes of the current message are still to be received; `size` 0: there
     *  is none. Returns the number of bytes to receive; 0: none until a later call returns more. */
    size_t MayReceive(size_t size, size_t left);
    /** The message has arrived. */
    void Arrived();
    /** Whether the message takes too long. */
    bool IsOverdue(int64_t now) const { return m_reserved > 0 && now >= m_until; }

private:
    InputRoom& m_room;
    RoomUser& m_user;
    size_t m_reserved = 0; //!< bytes; 0: none
    int64_t m_until = 0;
};

} // namespace ibd

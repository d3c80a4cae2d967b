// Resolver: looks names up in DNS on a thread of its own (net-dns), as the system does it, so that
// nobody else waits. Owned by PeerNetwork. Bounds: kMaxWaiting names that wait, kMaxAnswers
// addresses of each.
#pragma once

#include "net/net_address.h"
#include "util/threads.h"

namespace ibd {

class Resolver {
public:
    static constexpr size_t kMaxWaiting = 64;
    static constexpr size_t kMaxAnswers = 256;

    using Answer = std::function<void(std::vector<NetAddress>)>;
    /** The system's way to look a name up. */
    using LookUp = std::function<std::vector<NetAddress>(const std::string& name, size_t most)>;

    explicit Resolver(LookUp look_up) : m_look_up(std::move(look_up)), m_queue(kMaxWaiting) {}
    ~Resolver() { Stop(); }

    void Start();
    /** Drops what waits; returns when the look-up under way has ended. */
    void Stop();
    /** `answer` is told at most `most` addresses, on the thread of this. False: too many wait. */
    bool Ask(std::string name, size_t most, Answer answer);

private:
    struct Question {
        std::string name;
        size_t most;
        Answer answer;
    };

    const LookUp m_look_up;
    BoundedQueue<Question> m_queue; //!< each counts as one
    NamedThread m_thread;
};

/** What getaddrinfo says; without port. */
std::vector<NetAddress> SystemLookUp(const std::string& name, size_t most);

} // namespace ibd

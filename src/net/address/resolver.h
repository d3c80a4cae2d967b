// Resolver: looks up names by the system's resolver on a thread of its own (net-dns), so that other
// threads do not wait. Owned by PeerNetwork. Bounds: at most kMaxWaiting names wait, and each
// caller bounds its answer.
#pragma once

#include "net/address/net_address.h"
#include "util/threads.h"

namespace ibd {

class Resolver {
public:
    static constexpr size_t kMaxWaiting = 64;

    using Answer = std::function<void(std::vector<NetAddress>)>;
    /** The function that looks up a name. */
    using LookUp = std::function<std::vector<NetAddress>(const std::string& name, size_t most)>;

    explicit Resolver(LookUp look_up) : m_look_up(std::move(look_up)), m_queue(kMaxWaiting) {}
    ~Resolver() { Stop(); }

    void Start();
    /** Drops waiting names; returns when the current look-up has ended. */
    void Stop();
    /** `answer` gets at most `most` addresses, on the resolver's thread. False: too many names are
     *  waiting. */
    bool Ask(std::string name, size_t most, Answer answer);

private:
    struct Question {
        std::string name;
        size_t most;
        Answer answer;
    };

    const LookUp m_look_up;
    BoundedQueue<Question> m_queue; //!< each question has size 1
    NamedThread m_thread;
};

/** Looks up by getaddrinfo; without port. */
std::vector<NetAddress> SystemLookUp(const std::string& name, size_t most);

} // namespace ibd

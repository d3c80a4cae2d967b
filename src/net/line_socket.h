// LineSocket: a connection to a helper program with which lines of text are exchanged (the control
// port of Tor, the SAM bridge of I2P). Owned by who speaks, on the thread of its event loop.
// Whoever is told something may destroy it there. Bounds: the longest line, and so much that is not
// sent yet as its owner has said.
#pragma once

#include "net/net_address.h"

#include <functional>
#include <memory>

struct event;
struct event_base;

namespace ibd {

class LineSocket {
public:
    /** A line without its end (LF or CR LF). */
    using OnLine = std::function<void(std::string line)>;
    /** Not connected, hung up, too long a line, or silent for too long. Told once, at the end. */
    using OnEnd = std::function<void(const std::string& why)>;

    /** Nothing is told before the constructor has returned. `milliseconds`: to connect in. */
    LineSocket(event_base* base, const Endpoint& server, int64_t milliseconds, size_t longest_line,
               OnLine on_line, OnEnd on_end);
    ~LineSocket();
    LineSocket(const LineSocket&) = delete;
    LineSocket& operator=(const LineSocket&) = delete;

    /** As soon as it is connected. */
    void Send(std::string_view text);
    /** So long the other side may be silent from now on, milliseconds; 0: for ever. */
    void ExpectWithin(int64_t milliseconds);
    /** The socket, for somebody else to read what comes behind the last line. No more is told. */
    int Release();

private:
    struct Free {
        void operator()(event* e) const;
    };
    static void OnEvent(int, short what, void* self);
    bool Open(const Endpoint& server);
    void FinishConnect();
    bool Write();
    void Read();
    void Arm();
    void End(const std::string& why);

    event_base* const m_base;
    const size_t m_longest_line;
    const OnLine m_on_line;
    const OnEnd m_on_end;
    std::unique_ptr<event, Free> m_event;
    int m_fd = -1;
    bool m_connected = false;
    std::string m_failure; //!< to connect at all
    int64_t m_patience;    //!< milliseconds
    std::string m_outgoing;
    std::string m_line; //!< what came of the next one
};

} // namespace ibd

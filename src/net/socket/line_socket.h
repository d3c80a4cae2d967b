// LineSocket: a connection that exchanges lines of text with a helper program (Tor's control port,
// the SAM bridge of I2P). Used on the thread of the owner's event loop. Callbacks may destroy it.
// Bounds: the longest line; the owner bounds unsent bytes.
#pragma once

#include "net/address/net_address.h"

#include <functional>
#include <memory>

struct event;
struct event_base;

namespace ibd {

class LineSocket {
public:
    /** A line without its end (LF or CR LF). */
    using OnLine = std::function<void(std::string line)>;
    /** Connecting failed, closed, line too long, or silent for too long. Called once, at the end.
     */
    using OnEnd = std::function<void(const std::string& why)>;

    /** No callback runs before the constructor has returned. `milliseconds`: limit for connecting,
     *  and then for the other side's silence until ExpectWithin() replaces it. */
    LineSocket(event_base* base, const Endpoint& server, int64_t milliseconds, size_t longest_line,
               OnLine on_line, OnEnd on_end);
    ~LineSocket();
    LineSocket(const LineSocket&) = delete;
    LineSocket& operator=(const LineSocket&) = delete;

    /** Sends as soon as it is connected. */
    void Send(std::string_view text);
    /** Limit for the other side's silence from now on, milliseconds; 0: none. */
    void ExpectWithin(int64_t milliseconds);
    /** Releases the socket, so that other code reads the bytes after the last line. No callback
     *  follows. */
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
    void End(std::string why);

    event_base* const m_base;
    const size_t m_longest_line;
    const OnLine m_on_line;
    const OnEnd m_on_end;
    std::unique_ptr<event, Free> m_event;
    int m_fd = -1;
    bool m_connected = false;
    std::string m_failure; //!< error of connecting
    int64_t m_patience;    //!< milliseconds
    std::string m_outgoing;
    std::string m_line; //!< received part of the next line
};

} // namespace ibd

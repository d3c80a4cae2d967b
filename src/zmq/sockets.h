// ZmqSockets: PUB sockets of libzmq, one for each address; the only code that uses libzmq. One
// thread at a time. A slow or disconnected subscriber delays nothing: libzmq queues messages for it
// up to the high-water mark of the address, and drops the others. Memory: these queues; a mark of 0
// means no limit.
#pragma once

#include "util/bytes.h"
#include "util/result.h"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace ibd {

class ZmqSockets {
public:
    ZmqSockets();
    /** Unsent messages are dropped. */
    ~ZmqSockets();
    ZmqSockets(const ZmqSockets&) = delete;
    ZmqSockets& operator=(const ZmqSockets&) = delete;

    /** Binds a socket to the address, unless one is bound there already. */
    Result<> Open(const std::string& address, int high_water_mark);
    /** Sends a message of these parts to the subscribers at an open address. */
    Result<> Send(const std::string& address, std::span<const ByteSpan> parts);

private:
    struct Close {
        void operator()(void* socket) const;
    };
    using Socket = std::unique_ptr<void, Close>;

    void* const m_context;
    std::map<std::string, Socket> m_sockets; //!< by address
};

} // namespace ibd

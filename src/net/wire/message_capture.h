// MessageCapture: stores every message of peers in files, for inspection (-capturemessages);
// format: doc/formats/p2p.md. Owned by the network, used on the thread of the peers, which waits
// for the disk. No file stays open; the files grow without bound.
#pragma once

#include "net/address/net_address.h"
#include "util/env.h"
#include "util/log.h"

namespace ibd {

class MessageCapture {
public:
    MessageCapture(Env& env, Logger& log, Path folder)
        : m_env(env), m_log(log), m_folder(std::move(folder))
    {
    }

    /** Appends a message to the peer's file of received, or of sent messages. A failure is logged
     *  as an error. `now`: microseconds since 1970. */
    void Keep(const Endpoint& peer, bool received, std::string_view type, ByteSpan payload,
              int64_t now);

private:
    Result<> Append(const Endpoint& peer, const char* file, ByteSpan record);

    Env& m_env;
    Logger& m_log;
    const Path m_folder;
};

} // namespace ibd

// One HTTP POST over a socket, blocking. One thread.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <string>

namespace ibd {

struct HttpTarget {
    std::string host; //!< name or address
    uint16_t port = 0;
    std::string login;         //!< "user:password"
    int timeout_seconds = 900; //!< each for connecting, sending, and receiving; 0: about five years
};

struct HttpAnswer {
    int status = 0; //!< 0: no answer; `body` then has the reason, in Core's words
    std::string body;
};

/** A failure is an answer with status 0. */
HttpAnswer Post(const HttpTarget& target, const std::string& path, const std::string& body);

/** Status and body of an answer; an error if it is cut off or not HTTP. `bytes`: all that the
 *  server sent. */
Result<HttpAnswer> ParseHttpAnswer(std::string_view bytes);

} // namespace ibd

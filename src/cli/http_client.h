// One HTTP POST over libevent, blocking. One thread.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <string>

namespace ibd {

struct HttpTarget {
    std::string host;
    uint16_t port = 0;
    std::string login;         //!< "user:password"
    int timeout_seconds = 900; //!< 0: about five years
};

struct HttpAnswer {
    int status = 0; //!< 0: no answer came; `body` then says why
    std::string body;
};

/** An error only if the request could not be made at all. */
Result<HttpAnswer> Post(const HttpTarget& target, const std::string& path, const std::string& body);

} // namespace ibd

// The log lines of Bitcoin Core about running threads, for programs that wait for them.
#pragma once

#include "util/log.h"

#include <string>

namespace ibd {

/** Logs begin and end of a thread, under the name of Core's thread for the same work. Work that has
 *  its own thread in Core but shares one here is logged in the same way. */
class ThreadLines {
public:
    ThreadLines(Logger& log, std::string name) : m_log(log), m_name(std::move(name))
    {
        m_log.Info("{} thread start", m_name);
    }
    ~ThreadLines() { m_log.Info("{} thread exit", m_name); }
    ThreadLines(const ThreadLines&) = delete;
    ThreadLines& operator=(const ThreadLines&) = delete;

private:
    Logger& m_log;
    const std::string m_name;
};

} // namespace ibd

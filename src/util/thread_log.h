// The lines by which Bitcoin Core's log says that a thread runs, for programs that wait for them.
#pragma once

#include "util/log.h"

#include <string>

namespace ibd {

/** Begin and end of a thread, under the name that Core's has which does the same work. Work that
 *  has a thread of its own in Core and shares one here is told in the same way. */
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

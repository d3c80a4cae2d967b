// A logger that keeps its lines, from any thread.
#pragma once

#include "util/log.h"

#include <mutex>
#include <string>
#include <vector>

#include "support/catch.h"

namespace ibd::test {

class KeptLog final : public Logger {
public:
    bool Wants(LogLevel, LogCategory) const override { return true; }
    void Write(const LogLine& line) override
    {
        const std::lock_guard lock(m_mutex);
        m_lines.emplace_back(line.text);
    }
    std::vector<std::string> Lines() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }
    /** All lines, each with its end. */
    std::string Text() const
    {
        std::string text;
        for (const std::string& line : Lines()) text += line + "\n";
        return text;
    }
    /** The only line that begins so; empty if there is none. */
    std::string Line(std::string_view begin) const
    {
        std::string found;
        for (const std::string& line : Lines()) {
            if (!line.starts_with(begin)) continue;
            REQUIRE(found.empty());
            found = line;
        }
        return found;
    }

private:
    mutable std::mutex m_mutex;
    std::vector<std::string> m_lines;
};

} // namespace ibd::test

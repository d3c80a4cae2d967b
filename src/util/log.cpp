// See log.h.
#include "util/log.h"

namespace ibd {

namespace {

class NullLogger final : public Logger {
public:
    bool Wants(LogLevel, LogCategory) const override { return false; }
    void Write(const LogLine&) override {}
};

} // namespace

void Logger::Log(LogLine line, fmt::string_view format, fmt::format_args args)
{
    if (!Wants(line.level, line.category)) return;
    const std::string text = fmt::vformat(format, args);
    line.text = text;
    Write(line);
}

std::unique_ptr<Logger> MakeNullLogger() { return std::make_unique<NullLogger>(); }

} // namespace ibd

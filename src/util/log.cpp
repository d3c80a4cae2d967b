// See log.h.
#include "util/log.h"

namespace ibd {

namespace {

class NullLogger final : public Logger {
public:
    bool Wants(LogLevel, LogCategory) const override { return false; }
    void Write(LogLevel, LogCategory, std::string_view) override {}
};

} // namespace

std::unique_ptr<Logger> MakeNullLogger() { return std::make_unique<NullLogger>(); }

} // namespace ibd

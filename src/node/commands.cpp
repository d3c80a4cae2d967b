// See commands.h.
#include "node/commands.h"

#include "util/strings.h"

#include <cstdlib>

namespace ibd {

namespace {

/** For a shell: harmless characters in single quotes. */
std::string Quoted(const std::string& text) { return "'" + SafeCharacters(text) + "'"; }

std::string WithValue(std::string line, const std::string& value)
{
    for (size_t at = line.find("%s"); at != std::string::npos;
         at = line.find("%s", at + value.size())) {
        line.replace(at, 2, value);
    }
    return line;
}

} // namespace

void Commands::Take(const Event& event)
{
    if (const auto* tip = std::get_if<TipEvent>(&event); tip && !tip->downloading) {
        StartDetached(m_lines.block_notify, tip->tip.hash.ToHex());
    }
    if (const auto* warning = std::get_if<WarningEvent>(&event)) {
        StartDetached(m_lines.alert_notify, Quoted(warning->text));
    }
}

void Commands::StartDetached(const std::string& command, const std::string& value) const
{
    if (command.empty()) return;
    const std::string line = WithValue(command, value);
    // The shell ends as soon as it has started the command in the background.
    if (std::system(("(" + line + ") &").c_str()) != 0) {
        m_log.Warning("runCommand error: system({}) failed", line);
    }
}

void Commands::RunAndWait(const std::string& command) const
{
    const int status = std::system(command.c_str());
    if (status != 0) m_log.Warning("runCommand error: system({}) returned {}", command, status);
}

} // namespace ibd

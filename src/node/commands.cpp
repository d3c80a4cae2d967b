// See commands.h.
#include "node/commands.h"

#include "util/process.h"
#include "util/strings.h"

#include <sys/wait.h>

namespace ibd {

namespace {

/** Quotes for a shell: safe characters in single quotes. */
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
    if (const auto* change = std::get_if<TipChanged>(&event)) TakeTip(*change);
    if (const auto* warning = std::get_if<WarningRaised>(&event)) {
        StartDetached(WithValue(m_lines.alert_notify, Quoted(warning->text)));
    }
}

void Commands::Missed(const MissedEvents& missed)
{
    if (missed.tip) TakeTip(*missed.tip);
}

void Commands::TakeTip(const TipChanged& change)
{
    if (change.downloading || change.tip.hash == m_tip) return;
    m_tip = change.tip.hash;
    StartDetached(WithValue(m_lines.block_notify, m_tip.ToHex()));
}

void Commands::StartDetached(const std::string& command)
{
    if (!command.empty()) (void)Start(command);
}

void Commands::RunAndWait(const std::vector<std::string>& commands)
{
    std::vector<pid_t> pids;
    for (const std::string& command : commands) {
        if (!command.empty()) pids.push_back(Start(command));
    }
    for (const pid_t pid : pids) {
        // Only waits. Another thread may collect the child first, and waitid() fails.
        siginfo_t info;
        while (pid > 0 && ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
               errno == EINTR) {
        }
    }
    CollectEnded();
}

pid_t Commands::Start(const std::string& line)
{
    pid_t pid = -1;
    {
        const Lock lock(m_mutex);
        pid = StartShell(line);
        if (pid > 0) m_running[pid] = line;
    }
    if (pid <= 0) LogFailure(line, -1);
    return pid;
}

void Commands::CollectEnded()
{
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        std::string line;
        {
            const Lock lock(m_mutex);
            const auto it = m_running.find(pid);
            if (it == m_running.end()) continue; // child of an ended command
            line = it->second;
            m_running.erase(it);
        }
        if (status != 0) LogFailure(line, status);
    }
}

void Commands::LogFailure(const std::string& line, int status) const
{
    m_log.Warning("runCommand error: system({}) returned {}", line, status);
}

} // namespace ibd

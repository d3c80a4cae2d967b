// Commands: the user's commands for events (-blocknotify, -alertnotify, -startupnotify), started
// without waiting; and commands that the node waits for (-shutdownnotify). A consumer of Events, on
// a thread of its own. A failing command is logged when it ends.
#pragma once

#include "events/events.h"
#include "util/log.h"

#include <map>

#include <sys/types.h>

namespace ibd {

struct CommandLines {
    // Empty: none. "%s" is replaced by a block hash or a warning.
    std::string block_notify;
    std::string alert_notify;
};

class Commands final : public EventConsumer {
public:
    Commands(CommandLines lines, Logger& log) : m_lines(std::move(lines)), m_log(log) {}

    /** Handles a new tip, except during initial download, and a new warning. */
    void Take(const Event& event) override;
    /** Starts the command for the last of the missed tips. */
    void Missed(const MissedEvents& missed) override;
    /** Starts a command without waiting for it; does nothing if it is empty. */
    void StartDetached(const std::string& command);
    /** Runs commands in parallel and waits for all. */
    void RunAndWait(const std::vector<std::string>& commands);
    /** Reaps ended children of this process, so that none stays a zombie: commands, and their
     *  orphans if this is process 1 of a container. Call it after each SIGCHLD. Any thread. */
    void CollectEnded();

private:
    void TakeTip(const TipChanged& change);
    /** Returns the pid, or -1 after logging that it could not be started. */
    pid_t Start(const std::string& line);
    void LogFailure(const std::string& line, int status) const;

    const CommandLines m_lines;
    Logger& m_log;
    BlockHash m_tip; //!< of the last command; a failed reorganisation reports it again
    Mutex m_mutex; //!< also held from before a start until its pid is stored
    std::map<pid_t, std::string> m_running IBD_GUARDED_BY(m_mutex); //!< command lines
};

} // namespace ibd

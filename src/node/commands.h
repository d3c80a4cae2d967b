// Commands: the user's commands for what happens (-blocknotify, -alertnotify, -startupnotify),
// started and left to themselves; and those the node waits for (-shutdownnotify). A consumer of
// Events, on its thread. A command that fails is logged when it ends.
#pragma once

#include "node/events.h"

#include <map>

#include <sys/types.h>

namespace ibd {

struct CommandLines {
    // Empty: none. "%s" stands for what it is about: a block hash, a warning.
    std::string block_notify;
    std::string alert_notify;
};

class Commands final : public EventConsumer {
public:
    Commands(CommandLines lines, Logger& log) : m_lines(std::move(lines)), m_log(log) {}

    /** A new tip, but for the initial download, and a new warning. */
    void Take(const Event& event) override;
    /** Starts a command and does not wait for it. Nothing if it is empty. */
    void StartDetached(const std::string& command, const std::string& value = {});
    /** Runs commands at the same time, all to their end. */
    void RunAndWait(const std::vector<std::string>& commands);
    /** Collects the children of this process that have ended, so that none stays a zombie:
     *  commands, and what they leave behind where this is process 1 of a container. To be called
     *  after each SIGCHLD. Any thread. */
    void CollectEnded();

private:
    /** Its pid, or -1 after logging that it could not be started. */
    pid_t Start(const std::string& line);
    void LogFailure(const std::string& line, int status) const;

    const CommandLines m_lines;
    Logger& m_log;
    Mutex m_mutex; //!< also held from before a start until its pid is noted
    std::map<pid_t, std::string> m_running IBD_GUARDED_BY(m_mutex); //!< the line of each
};

} // namespace ibd

// Commands: the user's commands for what happens (-blocknotify, -alertnotify, -startupnotify),
// started and left to themselves; and those the node waits for (-shutdownnotify). A consumer of
// Events, on its thread. No lock is held while a shell is started.
#pragma once

#include "node/events.h"

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
    void StartDetached(const std::string& command, const std::string& value = {}) const;
    /** Runs a command to its end. */
    void RunAndWait(const std::string& command) const;

private:
    const CommandLines m_lines;
    Logger& m_log;
};

} // namespace ibd

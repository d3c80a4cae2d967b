// TerminalLine: the progress line at the bottom of a terminal. Log lines on the same terminal are
// written above it. Owned by the logger, or by a program without a log. Any thread may call it; its
// lock is a leaf.
#pragma once

#include "util/mutex.h"

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ibd {

/** Current columns of the terminal at that descriptor; a default if unknown. */
size_t TerminalColumns(int fd);

/** `text` cut to at most that many bytes, between characters. */
std::string_view CutTo(std::string_view text, size_t most);

/** The first of `texts` (longest first) that fits into `columns` - 1, because some terminals wrap
 *  at the last column; if none fits, the last one, cut. Each byte counts as a column. */
std::string FitLine(std::span<const std::string> texts, size_t columns);

class TerminalLine {
public:
    /** Draws nothing unless `file` is a terminal. */
    explicit TerminalLine(std::FILE* file);
    bool IsShown() const { return m_tty != nullptr; }

    /** From now on the terminal also shows log lines, so a finished progress line is removed. */
    void ShareWithLog();
    /** Draws the first of `texts` that fits, in place of the current line. */
    void Draw(std::span<const std::string> texts);
    /** Ends the line. Its last state stays visible, unless the log shares the terminal. */
    void End(std::span<const std::string> texts);
    /** Calls `print`, which writes whole lines to the same terminal, above this line. */
    void PrintAbove(const std::function<void()>& print);

private:
    void DrawLocked(const std::string& text) IBD_REQUIRES(m_mutex);

    std::FILE* const m_tty; //!< null: no terminal
    Mutex m_mutex;
    bool m_shared IBD_GUARDED_BY(m_mutex) = false;
    std::string m_drawn IBD_GUARDED_BY(m_mutex); //!< the current line; empty: none
};

} // namespace ibd

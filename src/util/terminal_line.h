// TerminalLine: the line of progress at the bottom of a terminal, which lines of the log share with
// it: they are written above. Owned by the logger, or by a program without a log. Any thread may
// call it; its lock is a leaf.
#pragma once

#include "util/mutex.h"

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ibd {

/** Columns of the terminal behind that descriptor now; a usual number where it does not say. */
size_t TerminalColumns(int fd);

/** `text` cut to that many bytes, not within a character. */
std::string_view CutTo(std::string_view text, size_t most);

/** The first of `texts`, which are ever shorter, that fits into so many columns without reaching
 *  the last one, where some terminals wrap; else the last, cut. A byte counts as a column. */
std::string FitLine(std::span<const std::string> texts, size_t columns);

class TerminalLine {
public:
    /** Draws nothing unless `file` is a terminal. */
    explicit TerminalLine(std::FILE* file);
    bool IsShown() const { return m_tty != nullptr; }

    /** From now on a log line says on the same terminal what a finished line would. */
    void ShareWithLog();
    /** Draws that of `texts` which fits in place of what is there. */
    void Draw(std::span<const std::string> texts);
    /** The work is over: leaves a last line, unless the log says it. */
    void End(std::span<const std::string> texts);
    /** `print` writes whole lines to the same terminal: they come to stand above this line. */
    void PrintAbove(const std::function<void()>& print);

private:
    void DrawLocked(const std::string& text) IBD_REQUIRES(m_mutex);

    std::FILE* const m_tty; //!< null: no terminal
    Mutex m_mutex;
    bool m_shared IBD_GUARDED_BY(m_mutex) = false;
    std::string m_drawn IBD_GUARDED_BY(m_mutex); //!< stands there; empty: nothing does
};

} // namespace ibd

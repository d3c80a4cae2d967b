// See terminal_line.h.
#include "util/terminal_line.h"

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ibd {

namespace {

constexpr size_t kUsualColumns = 80;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

} // namespace

size_t TerminalColumns(int fd)
{
    winsize size = {};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
    return size.ws_col;
}

std::string_view CutTo(std::string_view text, size_t most)
{
    if (text.size() <= most) return text;
    while (most > 0 && IsContinuation(text[most])) --most;
    return text.substr(0, most);
}

std::string FitLine(std::span<const std::string> texts, size_t columns)
{
    if (texts.empty()) return {};
    const size_t most = columns > 0 ? columns - 1 : 0;
    for (const std::string& text : texts) {
        if (text.size() <= most) return text;
    }
    return std::string(CutTo(texts.back(), most));
}

TerminalLine::TerminalLine(std::FILE* file)
    : m_tty(file != nullptr && ::isatty(::fileno(file)) == 1 ? file : nullptr)
{
}

void TerminalLine::ShareWithLog()
{
    const Lock lock(m_mutex);
    m_shared = true;
}

// A line that reached the terminal's edge would wrap and stay. The width is queried each time, as
// it may change.
void TerminalLine::DrawLocked(const std::string& text)
{
    const size_t columns = TerminalColumns(::fileno(m_tty));
    const std::string shown(CutTo(text, columns - 1));
    const size_t before = std::min(m_drawn.size(), columns - 1);
    const size_t blanks = before > shown.size() ? before - shown.size() : 0;
    std::fprintf(m_tty, "\r%s%*s", shown.c_str(), static_cast<int>(blanks), "");
    std::fflush(m_tty);
    m_drawn = shown;
}

void TerminalLine::Draw(std::span<const std::string> texts)
{
    if (!m_tty) return;
    const Lock lock(m_mutex);
    DrawLocked(FitLine(texts, TerminalColumns(::fileno(m_tty))));
}

void TerminalLine::End(std::span<const std::string> texts)
{
    if (!m_tty) return;
    const Lock lock(m_mutex);
    DrawLocked(m_shared ? "" : FitLine(texts, TerminalColumns(::fileno(m_tty))));
    std::fputs(m_shared ? "\r" : "\n", m_tty);
    std::fflush(m_tty);
    m_drawn.clear();
}

void TerminalLine::PrintAbove(const std::function<void()>& print)
{
    const Lock lock(m_mutex);
    if (m_drawn.empty()) return print();
    const std::string text = m_drawn;
    DrawLocked("");
    std::fputc('\r', m_tty);
    std::fflush(m_tty);
    print();
    DrawLocked(text);
}

} // namespace ibd

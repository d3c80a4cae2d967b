// See terminal_line.h.
#include "util/terminal_line.h"

#include <sys/ioctl.h>

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

} // namespace ibd

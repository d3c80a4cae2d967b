// A line that is drawn again and again at the bottom of a terminal: what of it fits there.
#pragma once

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

} // namespace ibd

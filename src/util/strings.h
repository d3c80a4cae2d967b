// Text to numbers and back, splitting and trimming; independent of the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibd {

/** Parses all of `text` as a decimal integer in range: optional '-', then digits. */
template <std::integral T>
std::optional<T> ParseInteger(std::string_view text)
{
    T value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/** Parses like C's atoi: leading space and sign, then the leading digits, clamped to the range; 0
 *  without digits. Core reads numeric options so. */
int64_t LenientInteger(std::string_view text);

/** "12.5" with `decimals` 8 is 1250000000. At most that many digits after the point; optional sign
 *  and exponent as in JSON. Nothing: malformed, or above 18 digits. */
std::optional<int64_t> ParseFixedPoint(std::string_view text, int decimals);

/** 1250000000 is "12.50000000": an amount in bitcoin, always with eight decimals. */
std::string FormatAmount(int64_t satoshi);

/** Removes spaces, tabs and line ends on both sides. */
std::string_view Trim(std::string_view text);
/** ASCII only. */
constexpr char ToLower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string ToLower(std::string_view text);

/** The parts between `separator`s; an empty text has one empty part. */
std::vector<std::string_view> Split(std::string_view text, char separator);

/** Replaces control characters by "\n", "\x1b" and the like, so that foreign text cannot forge log
 *  lines or control the terminal. */
std::string EscapeControl(std::string_view text);

/** Keeps only letters, digits and " .,;-_/:?@()", as Core does for foreign text. */
std::string SafeCharacters(std::string_view text);

/** Breaks `text` at spaces into lines of at most `width` characters; all lines but the first are
 *  indented by `indent` spaces. */
std::string WrapText(std::string_view text, size_t width, size_t indent);

/** "17 s", "4 min 10 s", "2 h 05 min", "3 d 4 h". */
std::string FormatDuration(int64_t seconds);

/** "999 bytes", "12.3 kB", "382.7 MB", "1.2 TB": powers of 1,000. */
std::string FormatBytes(uint64_t bytes);

/** "2026-11-21T05:45:46Z". */
std::string FormatIso8601(int64_t unix_seconds);

} // namespace ibd

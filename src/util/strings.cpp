// See strings.h.
#include "util/strings.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace ibd {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

int64_t LenientInteger(std::string_view text)
{
    while (!text.empty() && (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'))) {
        text.remove_prefix(1);
    }
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return 0;
    }
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range) {
        return text[0] == '-' ? std::numeric_limits<int64_t>::min()
                              : std::numeric_limits<int64_t>::max();
    }
    return code == std::errc{} ? value : 0;
}

namespace {

/** A parsed decimal number: value = digits * 10^exponent. */
struct Decimal {
    bool negative = false;
    std::string digits;
    int64_t exponent = 0;
};

std::optional<Decimal> ParseDecimal(std::string_view text)
{
    Decimal d;
    if (text.starts_with('-')) {
        d.negative = true;
        text.remove_prefix(1);
    }
    size_t i = 0;
    while (i < text.size() && IsDigit(text[i])) d.digits.push_back(text[i++]);
    if (i == 0 || (i > 1 && text[0] == '0')) return std::nullopt;
    if (i < text.size() && text[i] == '.') {
        const size_t first = ++i;
        while (i < text.size() && IsDigit(text[i])) d.digits.push_back(text[i++]);
        if (i == first) return std::nullopt;
        d.exponent = -static_cast<int64_t>(i - first);
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        std::string_view exponent = text.substr(i + 1);
        if (exponent.starts_with('+')) exponent.remove_prefix(1);
        const auto value = ParseInteger<int32_t>(exponent);
        if (!value || *value > 1000 || *value < -1000) return std::nullopt;
        d.exponent += *value;
        i = text.size();
    }
    if (i != text.size()) return std::nullopt;
    return d;
}

} // namespace

std::optional<int64_t> ParseFixedPoint(std::string_view text, int decimals)
{
    auto d = ParseDecimal(text);
    if (!d) return std::nullopt;
    while (d->digits.size() > 1 && d->digits.back() == '0') {
        d->digits.pop_back();
        ++d->exponent;
    }
    if (d->digits.find_first_not_of('0') == std::string::npos) return 0;
    const int64_t zeros = d->exponent + decimals;
    if (zeros < 0) return std::nullopt;
    const size_t first = d->digits.find_first_not_of('0');
    d->digits.erase(0, first);
    if (zeros > 18 || d->digits.size() + static_cast<size_t>(zeros) > 18) return std::nullopt;
    d->digits.append(static_cast<size_t>(zeros), '0');
    const auto value = ParseInteger<int64_t>(d->digits);
    if (!value) return std::nullopt;
    return d->negative ? -*value : *value;
}

std::string FormatAmount(int64_t satoshi)
{
    const uint64_t absolute =
        satoshi < 0 ? ~static_cast<uint64_t>(satoshi) + 1 : static_cast<uint64_t>(satoshi);
    return fmt::format("{}{}.{:08}", satoshi < 0 ? "-" : "", absolute / 100'000'000,
                       absolute % 100'000'000);
}

std::string_view Trim(std::string_view text)
{
    static constexpr std::string_view kSpace = " \t\r\n\f\v";
    const size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string ToLower(std::string_view text)
{
    std::string out(text);
    for (char& c : out) c = ToLower(c);
    return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string EscapeControl(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (u >= 32 && u != 127) {
            out.push_back(c);
        } else {
            out += fmt::format("\\x{:02x}", u);
        }
    }
    return out;
}

std::string SafeCharacters(std::string_view text)
{
    constexpr std::string_view kSafe =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        " .,;-_/:?@()";
    std::string out;
    for (const char c : text) {
        if (kSafe.find(c) != std::string_view::npos) out += c;
    }
    return out;
}

std::string WrapText(std::string_view text, size_t width, size_t indent)
{
    std::string out;
    size_t column = 0;
    bool first = true;
    for (const std::string_view line : Split(text, '\n')) {
        if (!first) {
            out += "\n" + std::string(indent, ' ');
            column = 0;
        }
        first = false;
        for (const std::string_view word : Split(line, ' ')) {
            if (column != 0 && column + 1 + word.size() > width) {
                out += "\n" + std::string(indent, ' ');
                column = 0;
            } else if (column != 0) {
                out += ' ';
                ++column;
            }
            out += word;
            column += word.size();
        }
    }
    return out;
}

std::string FormatDuration(int64_t s)
{
    if (s < 60) return fmt::format("{} s", s);
    if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
    if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
    return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string FormatBytes(uint64_t bytes)
{
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    auto amount = static_cast<double>(bytes) / 1000;
    const char* prefix = "kMGTPE";
    while (amount >= 999.95) {
        amount /= 1000;
        ++prefix;
    }
    return fmt::format("{:.1f} {}B", amount, *prefix);
}

std::string FormatIso8601(int64_t unix_seconds)
{
    // Days to a civil date, with years starting on 1 March so that the leap day comes last.
    int64_t days = unix_seconds / 86400;
    int64_t rest = unix_seconds % 86400;
    if (rest < 0) {
        rest += 86400;
        --days;
    }
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, month, day, rest / 3600,
                       rest % 3600 / 60, rest % 60);
}

} // namespace ibd

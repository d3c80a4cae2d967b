// Properties of option rows (util/option_row.h) that hold for every table.
#pragma once

#include "util/option_row.h"

namespace ibd::test {

/** Options whose help states another default than the fields of `read` have, which was made without
 *  options. Defaults in more than one word are no values: "(default: one for each core)". */
template <typename Target>
std::vector<std::string> WrongDefaults(std::span<const OptionRow<Target>> rows, const Target& read)
{
    constexpr std::string_view kDefault = "(default: ";
    std::vector<std::string> wrong;
    for (const auto& row : rows) {
        const std::string_view help = row.help;
        const size_t at = help.find(kDefault);
        if (row.field.show == nullptr || at == std::string_view::npos) continue;
        const std::string_view rest = help.substr(at + kDefault.size());
        const std::string_view stated = rest.substr(0, rest.find_first_of(",;)"));
        const std::string shown = row.field.show(row, read);
        if (shown.empty() || stated.find(' ') != std::string_view::npos) continue;
        if (stated != shown) wrong.push_back(fmt::format("{}: {}", row.name, shown));
    }
    return wrong;
}

/** The numeric rows that accept a value that is not a number or is out of range: the option with
 *  the value. Options that clamp as Core does show the end of the range then. */
template <typename Target>
std::vector<std::string> AcceptedBeyond(std::span<const OptionRow<Target>> rows)
{
    std::vector<std::string> accepted;
    for (const auto& row : rows) {
        const NumberRange& range = row.field.range;
        for (const auto& [end, text] :
             {std::pair{range.least, std::to_string(range.least - (range.least > INT64_MIN))},
              std::pair{range.most, std::to_string(range.most) + "0"}}) {
            if (range.least == INT64_MIN || end == INT64_MAX) continue;
            ArgsManager args;
            args.Add(row.name, row.argument, row.help, OptionGroup::kGeneral);
            const std::string word = fmt::format("{}={}", row.name, text);
            const char* words[] = {"x", word.c_str()};
            Target target;
            if (!args.ParseCommandLine(2, words)) accepted.push_back(word);
            const auto read = row.field.read(args, row, target);
            if (!read && read.Message().starts_with(word + ": must be ")) continue;
            const std::string shown = row.field.show(row, target);
            if (read && (shown.empty() || shown == std::to_string(end))) continue;
            accepted.push_back(word + " as " + shown);
        }
    }
    return accepted;
}

} // namespace ibd::test

// OptionRow: an option declared once. A row has name, help, flags and, for options with a plain
// value, the field that takes it and the range of a number: help, man pages, completions, checks
// and reading follow. `Target` is the struct with the fields; its defaults are the options'. An
// option whose meaning depends on others has no field: the file of its table reads it by hand.
#pragma once

#include "util/args.h"
#include "util/strings.h"

#include <algorithm>
#include <array>
#include <span>

namespace ibd {

/** The values of a number, in the option's unit. */
struct NumberRange {
    int64_t least = INT64_MIN;
    int64_t most = INT64_MAX;
    const char* unit = ""; //!< as errors name it: " MiB"
    int64_t scale = 1; //!< the option's unit in the field's; `least` and `most` times this factor
                       //!< must fit
};

template <typename Target>
struct OptionRow;

template <typename Target>
struct OptionField {
    /** Sets the field if the option is given. */
    Result<> (*read)(const ArgsManager&, const OptionRow<Target>&, Target&) = nullptr;
    /** The field's value as option text; empty if help does not show such values. */
    std::string (*show)(const OptionRow<Target>&, const Target&) = nullptr;
    NumberRange range = {};

    /** The same for numbers of this range. */
    constexpr OptionField From(int64_t least, int64_t most = INT64_MAX, const char* unit = "",
                               int64_t scale = 1) const
    {
        OptionField field = *this;
        field.range = {least, most, unit, scale};
        return field;
    }
};

template <typename Target>
struct OptionRow {
    const char* name;     //!< with the dash
    const char* argument; //!< "=<n>"
    const char* help;
    unsigned flags = OptionSpec::kPlain;
    OptionField<Target> field = {};
};

/** Rows that help shows together. */
template <typename Target>
struct OptionTopic {
    OptionGroup group;
    std::span<const OptionRow<Target>> rows;
};

template <typename Target>
void AddRows(ArgsManager& args, const OptionTopic<Target>& topic)
{
    for (const auto& row : topic.rows) {
        args.Add(row.name, row.argument, row.help, topic.group, row.flags);
    }
}

/** Sets the fields of the options that are given. */
template <typename Target>
Result<> ReadRows(const ArgsManager& args, std::span<const OptionRow<Target>> rows, Target& out)
{
    for (const auto& row : rows) {
        if (row.field.read != nullptr) IBD_RETURN_IF_ERROR(row.field.read(args, row, out));
    }
    return {};
}

namespace option_field {

template <typename Member>
struct OwnerOf;
template <typename Owner, typename Value>
struct OwnerOf<Value Owner::*> {
    using Type = Owner;
};
template <auto kMember>
using Owner = typename OwnerOf<decltype(kMember)>::Type;

/** Follows the path of members from `object`. */
template <auto kFirst, auto... kRest>
constexpr auto& In(auto& object)
{
    if constexpr (sizeof...(kRest) == 0) {
        return object.*kFirst;
    } else {
        return In<kRest...>(object.*kFirst);
    }
}

template <auto... kPath>
struct Yes {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        // The member is a bool or an optional one.
        // NOLINTNEXTLINE(bugprone-optional-value-conversion)
        if (const std::optional<bool> value = args.GetBool(row.name)) In<kPath...>(out) = *value;
        return {};
    }
    template <typename Target>
    static std::string Show(const OptionRow<Target>&, const Target& target)
    {
        return In<kPath...>(target) == true ? "1" : "0";
    }
};

/** A bit of a number. */
template <auto kMask, auto... kPath>
struct Bit {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        const auto value = args.GetBool(row.name);
        if (!value) return {};
        auto& field = In<kPath...>(out);
        field = *value ? field | kMask : field & ~kMask;
        return {};
    }
    template <typename Target>
    static std::string Show(const OptionRow<Target>&, const Target& target)
    {
        return (In<kPath...>(target) & kMask) != 0 ? "1" : "0";
    }
};

/** The common part of numbers: storing and showing them. */
template <auto... kPath>
struct Scaled {
    template <typename Target>
    static void Store(int64_t value, const OptionRow<Target>& row, Target& out)
    {
        auto& field = In<kPath...>(out);
        using Field = std::remove_reference_t<decltype(field)>;
        if constexpr (requires { typename Field::value_type; }) {
            field = static_cast<typename Field::value_type>(value * row.field.range.scale);
        } else {
            field = static_cast<Field>(value * row.field.range.scale);
        }
    }
    template <typename Target>
    static std::string Show(const OptionRow<Target>& row, const Target& target)
    {
        const auto& field = In<kPath...>(target);
        if constexpr (requires { field.has_value(); }) {
            return {};
        } else {
            return fmt::format("{}", static_cast<int64_t>(field) / row.field.range.scale);
        }
    }
};

/** For options that Core does not have: refuses a value that is not a number in the range. */
template <auto... kPath>
struct Strict : Scaled<kPath...> {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        const auto text = args.Get(row.name);
        if (!text) return {};
        const auto value = ParseInteger<int64_t>(*text);
        const auto& [least, most, unit, scale] = row.field.range;
        if (!value || *value < least || *value > most) {
            const std::string bounds = most == INT64_MAX
                                           ? fmt::format("a number, at least {}", least)
                                           : fmt::format("{} to {}", least, most);
            return BadData("{}={}: must be {}{}", row.name, *text, bounds, unit);
        }
        Scaled<kPath...>::Store(*value, row, out);
        return {};
    }
};

/** Reads numbers as Core does: any other text is 0, and numbers beyond the range are its ends. */
template <auto... kPath>
struct Clamped : Scaled<kPath...> {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        if (const auto value = args.GetInt(row.name)) {
            Scaled<kPath...>::Store(std::clamp(*value, row.field.range.least, row.field.range.most),
                                    row, out);
        }
        return {};
    }
};

template <auto... kPath>
struct Text {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        if (auto value = args.Get(row.name)) In<kPath...>(out) = std::move(*value);
        return {};
    }
    template <typename Target>
    static std::string Show(const OptionRow<Target>&, const Target&)
    {
        return {};
    }
};

template <auto... kPath>
struct Texts : Text<kPath...> {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        In<kPath...>(out) = args.GetAll(row.name);
        return {};
    }
};

/** The canonical path of a directory. */
template <auto... kPath>
struct Folder : Text<kPath...> {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        const auto text = args.Get(row.name);
        if (!text || args.IsNegated(row.name)) return {};
        if (text->empty()) return BadData("{}: names no directory", row.name);
        std::error_code code;
        In<kPath...>(out) =
            std::filesystem::weakly_canonical(std::filesystem::absolute(*text, code), code);
        if (code) return BadData("{}={}: {}", row.name, *text, code.message());
        return {};
    }
};

/** One of a set of words; `kWords` are pairs of word and value. Errors do not name the empty word.
 */
template <const auto& kWords, auto... kPath>
struct Choice {
    template <typename Target>
    static Result<> Read(const ArgsManager& args, const OptionRow<Target>& row, Target& out)
    {
        const auto text = args.Get(row.name);
        if (!text) return {};
        std::string list;
        for (const auto& [word, value] : kWords) {
            if (word == *text) {
                In<kPath...>(out) = value;
                return {};
            }
            if (word.empty()) continue;
            const bool is_last = word == std::get<0>(*std::rbegin(kWords));
            list += list.empty() ? "" : is_last ? " or " : ", ";
            list += word;
        }
        return BadData("{}={}: must be {}", row.name, *text, list);
    }
    template <typename Target>
    static std::string Show(const OptionRow<Target>&, const Target& target)
    {
        for (const auto& [word, value] : kWords) {
            if (In<kPath...>(target) == value) return std::string(word);
        }
        return {};
    }
};

template <typename Kind, typename Target>
inline constexpr OptionField<Target> kField{
    &Kind::template Read<Target>, &Kind::template Show<Target>, {}};

} // namespace option_field

// The fields of a row: &Target::member, or a path of members, as in
// kNumber<&NodeOptions::booster, &BoosterOptions::threads>.

template <auto kFirst, auto... kRest>
inline constexpr auto kFlag =
    option_field::kField<option_field::Yes<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kMask, auto kFirst, auto... kRest>
inline constexpr auto kBit =
    option_field::kField<option_field::Bit<kMask, kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kFirst, auto... kRest>
inline constexpr auto kNumber =
    option_field::kField<option_field::Strict<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kFirst, auto... kRest>
inline constexpr auto kClamped =
    option_field::kField<option_field::Clamped<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kFirst, auto... kRest>
inline constexpr auto kText =
    option_field::kField<option_field::Text<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kFirst, auto... kRest>
inline constexpr auto kTexts =
    option_field::kField<option_field::Texts<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <auto kFirst, auto... kRest>
inline constexpr auto kFolder =
    option_field::kField<option_field::Folder<kFirst, kRest...>, option_field::Owner<kFirst>>;
template <const auto& kWords, auto kFirst, auto... kRest>
inline constexpr auto kChoice = option_field::kField<option_field::Choice<kWords, kFirst, kRest...>,
                                                     option_field::Owner<kFirst>>;

} // namespace ibd

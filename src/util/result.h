// Result: a value, or an Error that states in one line what is wrong, with file, height, offset or
// option. Modules return bad data and failing disks this way, not by exceptions.
#pragma once

#include "util/check.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/core.h>

namespace ibd {

/** An error for a person to read. Bad data and failures of the machine have different consequences:
 *  bad data leads to a verdict on it, a failed disk stops the node. */
struct Error {
    enum class Kind {
        kBadData, //!< the input is invalid, whatever the machine
        kSystem,  //!< disk, memory or operating system failed; the input may be fine
    };
    std::string message;
    Kind kind = Kind::kBadData;
};

/** An error about input; fmt formatting. */
template <typename... Args>
Error BadData(fmt::format_string<Args...> text, Args&&... args)
{
    return {fmt::format(text, std::forward<Args>(args)...), Error::Kind::kBadData};
}

/** An error of the machine (disk full, read failed); fmt formatting. */
template <typename... Args>
Error SystemError(fmt::format_string<Args...> text, Args&&... args)
{
    return {fmt::format(text, std::forward<Args>(args)...), Error::Kind::kSystem};
}

template <typename T = void>
class [[nodiscard]] Result {
public:
    /** Converts from any type that converts to T: nullopt, a derived pointer, one case of a
     *  variant. */
    template <typename U = T>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, Error> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
        : m_state(std::in_place_index<0>, std::forward<U>(value))
    {
    }
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool Ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return Ok(); }

    T& Value() &
    {
        CHECK(Ok());
        return std::get<0>(m_state);
    }
    const T& Value() const&
    {
        CHECK(Ok());
        return std::get<0>(m_state);
    }
    T&& Value() &&
    {
        CHECK(Ok());
        return std::get<0>(std::move(m_state));
    }
    T& operator*() & { return Value(); }
    const T& operator*() const& { return Value(); }
    T&& operator*() && { return std::move(*this).Value(); }
    T* operator->() { return &Value(); }
    const T* operator->() const { return &Value(); }

    const Error& GetError() const
    {
        CHECK(!Ok());
        return std::get<1>(m_state);
    }
    const std::string& Message() const { return GetError().message; }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    bool Ok() const { return !m_error.has_value(); }
    explicit operator bool() const { return Ok(); }
    const Error& GetError() const
    {
        CHECK(!Ok());
        return *m_error;
    }
    const std::string& Message() const { return GetError().message; }

private:
    std::optional<Error> m_error;
};

} // namespace ibd

/** Returns the error of a Result expression from the enclosing function, if it has one. */
#define IBD_RETURN_IF_ERROR(expression)                                                            \
    do {                                                                                           \
        if (auto ibd_result = (expression); !ibd_result.Ok()) return ibd_result.GetError();        \
    } while (0)

#define IBD_CONCAT_(a, b) a##b
#define IBD_CONCAT(a, b) IBD_CONCAT_(a, b)

/** Declares `declaration` from the value of a Result expression, or returns its error. */
#define IBD_ASSIGN_OR_RETURN(declaration, expression)                                              \
    auto IBD_CONCAT(ibd_r_, __LINE__) = (expression);                                              \
    if (!IBD_CONCAT(ibd_r_, __LINE__).Ok()) return IBD_CONCAT(ibd_r_, __LINE__).GetError();        \
    declaration = std::move(IBD_CONCAT(ibd_r_, __LINE__)).Value()

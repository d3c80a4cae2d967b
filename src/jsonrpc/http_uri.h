// The query of a request's URI ("/path?key=value&other=value"). Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ibd {

/** Replaces "%41" by "A" and so on; other text does not change. */
std::string UrlDecode(std::string_view text);

/** The decoded value of the first parameter with this key: empty if it has none. Nothing: there is
 *  no such parameter. */
std::optional<std::string> QueryParameter(std::string_view uri, std::string_view key);

} // namespace ibd

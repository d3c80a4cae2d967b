// See http_uri.h.
#include "jsonrpc/http_uri.h"
#include "util/hex.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr size_t kEscapeSize = 3; //!< of "%41"

} // namespace

std::string UrlDecode(std::string_view text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool may_escape = text[i] == '%' && text.size() - i >= kEscapeSize;
        const auto byte = may_escape ? FromHex(text.substr(i + 1, 2)) : std::nullopt;
        out.push_back(byte ? static_cast<char>((*byte)[0]) : text[i]);
        if (byte) i += kEscapeSize - 1;
    }
    return out;
}

std::optional<std::string> QueryParameter(std::string_view uri, std::string_view key)
{
    const size_t mark = uri.find('?');
    if (mark == std::string_view::npos) return std::nullopt;
    std::string_view query = uri.substr(mark + 1);
    query = query.substr(0, query.find('#'));
    for (const std::string_view one : Split(query, '&')) {
        const size_t equals = one.find('=');
        if (UrlDecode(one.substr(0, equals)) != key) continue;
        return equals == std::string_view::npos ? "" : UrlDecode(one.substr(equals + 1));
    }
    return std::nullopt;
}

} // namespace ibd

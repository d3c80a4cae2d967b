// REST requests from any bytes: a path, its query, and a body that names coins.
#include "jsonrpc/http_uri.h"
#include "rpc/rest/wanted_coins.h"
#include "util/check.h"
#include "util/hex.h"

#include <algorithm>

using namespace ibd;

namespace {

constexpr size_t kOutPointSize = 36;
constexpr size_t kLengthSize = 9; //!< most bytes of the body's length in front of it
constexpr std::string_view kPrefix = "/rest/getutxos";

void CheckEscapes(const std::string& text)
{
    CHECK(UrlDecode(text).size() <= text.size());
    std::string escaped;
    for (const char c : text) {
        const auto byte = static_cast<uint8_t>(c);
        escaped += "%" + ToHex(ByteSpan(&byte, 1));
    }
    CHECK(UrlDecode(escaped) == text);
    CHECK(QueryParameter("/x?a=1&b=" + escaped, "b") == text);
    (void)QueryParameter(text, "a");
}

void CheckTarget(const std::string& text)
{
    const rest::Target target = rest::ParseTarget(text);
    CHECK(text.starts_with(target.name));
    if (target.format != rest::Format::kNone) CHECK(text.size() > target.name.size());
}

void CheckCoins(const HttpRequest& http)
{
    const std::string behind = http.uri.substr(kPrefix.size());
    try {
        const auto wanted = rest::ParseWanted({http, rest::ParseTarget(behind)});
        const size_t bytes = std::max(http.uri.size(), http.body.size() + kLengthSize);
        const size_t most = bytes / kOutPointSize;
        CHECK(wanted.outpoints.size() <= most);
    } catch (const rest::Refusal& refusal) {
        CHECK(refusal.status == rest::kBadRequest || refusal.status == rest::kNotFound);
        CHECK(!refusal.text.empty());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    const size_t line = std::min(text.find('\n'), text.size());
    const std::string path = text.substr(0, line);
    CheckEscapes(path);
    CheckTarget(path);
    HttpRequest http;
    http.uri = std::string(kPrefix) + path;
    http.body = text.substr(std::min(line + 1, text.size()));
    CheckCoins(http);
    return 0;
}

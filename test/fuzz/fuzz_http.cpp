// HTTP requests from any bytes, in pieces of any size: the parser stays within its bounds, and the
// pieces make no difference.
#include "jsonrpc/http_parser.h"
#include "util/check.h"

#include <algorithm>

using namespace ibd;

namespace {

struct Seen {
    std::vector<std::string> requests;
    HttpParser::Status last = HttpParser::Status::kNeedMore;
    bool operator==(const Seen&) const = default;
};

Seen ParseAll(std::string_view text, size_t piece)
{
    Seen seen;
    HttpParser parser;
    while (!text.empty()) {
        std::string_view bytes = text.substr(0, piece);
        const size_t given = bytes.size();
        seen.last = parser.Parse(bytes);
        text.remove_prefix(given - bytes.size());
        const HttpMessage& message = parser.Message();
        size_t head = message.method.size() + message.target.size();
        for (const auto& [name, value] : message.headers) head += name.size() + value.size();
        CHECK(head <= HttpParser::kMaxHeaderBytes);
        CHECK(message.body.size() <= HttpParser::kMaxBodyBytes);
        if (seen.last == HttpParser::Status::kBad || seen.last == HttpParser::Status::kTooLarge) {
            CHECK(!parser.Reason().empty());
            return seen;
        }
        if (seen.last != HttpParser::Status::kComplete) continue;
        seen.requests.push_back(message.method + " " + message.target + "\n" + message.body);
        parser.Reset();
    }
    return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const size_t piece = 1 + data[0];
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    CHECK(ParseAll(text, piece) == ParseAll(text, text.size() + 1));
    return 0;
}

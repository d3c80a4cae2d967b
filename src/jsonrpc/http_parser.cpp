// See http_parser.h.
#include "jsonrpc/http_parser.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kShortestRequestLine = std::string_view("GET / HTTP/1.0").size();
constexpr std::string_view kSpace = " \t\n\r\f\v";

/** Strips blanks and tabs at both ends, the only characters that a proxy strips (RFC 9110, 5.6.3).
 */
std::string_view Stripped(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t";
    const size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

} // namespace

bool EqualNoCase(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return ToLower(x) == ToLower(y); });
}

const std::string* HttpMessage::Header(std::string_view name) const
{
    const auto it = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
        return EqualNoCase(header.first, name);
    });
    return it == headers.end() ? nullptr : &it->second;
}

void HttpParser::Reset()
{
    m_state = State::kRequestLine;
    m_message = {};
    m_line.clear();
    m_consumed = 0;
    m_body_left = 0;
}

HttpParser::Status HttpParser::Fail(const char* reason)
{
    m_reason = reason;
    return Status::kBad;
}

HttpParser::Status HttpParser::Parse(std::string_view& bytes)
{
    for (;;) {
        if (m_state == State::kBody || m_state == State::kChunk) {
            const size_t n = static_cast<size_t>(std::min<uint64_t>(m_body_left, bytes.size()));
            m_message.body.append(bytes.substr(0, n));
            bytes.remove_prefix(n);
            m_body_left -= n;
            if (m_body_left > 0) return Status::kNeedMore;
            if (m_state == State::kBody) return Go(State::kDone);
            m_state = State::kChunkEnd;
            continue;
        }
        const Status taken = TakeLine(bytes);
        if (taken != Status::kComplete) return taken;
        std::string line;
        line.swap(m_line);
        const bool has_return = line.ends_with('\r');
        if (has_return) line.pop_back();
        if (HasHeaders() && (!has_return || line.find('\r') != std::string::npos)) {
            return Fail("Improperly terminated chunk"); // a proxy may see no line end there
        }
        const Status status = TakeLineOf(m_state, line);
        if (status != Status::kNeedMore) return status;
    }
}

HttpParser::Status HttpParser::TakeLine(std::string_view& bytes)
{
    const size_t end = bytes.find('\n');
    const size_t n = std::min(end, bytes.size());
    if (m_line.size() + n > kMaxHeaderBytes) return Fail("a line is too long");
    m_line.append(bytes.substr(0, n));
    if (end == std::string_view::npos) {
        bytes = {};
        return Status::kNeedMore;
    }
    bytes.remove_prefix(n + 1);
    m_consumed += m_line.size() + 1;
    return Status::kComplete;
}

HttpParser::Status HttpParser::TakeLineOf(State state, std::string_view line)
{
    switch (state) {
    case State::kRequestLine: return ReadRequestLine(line);
    case State::kHeader:
        if (m_consumed > kMaxHeaderBytes) return Fail("HTTP headers exceed size limit");
        return line.empty() ? BeginBody() : ReadHeader(line);
    case State::kChunkSize: return BeginChunk(line);
    case State::kChunkEnd:
        if (!line.empty()) return Fail("Improperly terminated chunk");
        return Go(State::kChunkSize);
    case State::kTrailer:
        if (m_consumed > kMaxHeaderBytes) return Fail("HTTP chunked trailer exceeds size limit");
        return Go(line.empty() ? State::kDone : State::kTrailer);
    case State::kBody:
    case State::kChunk:
    case State::kDone: break;
    }
    return Fail("the request is over");
}

HttpParser::Status HttpParser::ReadRequestLine(std::string_view line)
{
    if (line.size() < kShortestRequestLine) return Fail("HTTP request line too short");
    if (line.find('\0') != std::string_view::npos) {
        return Fail("Invalid request line contains NUL");
    }
    const auto words = Split(line, ' ');
    constexpr std::string_view kProtocol = "HTTP/";
    if (words.size() != 3 || !words[2].starts_with(kProtocol)) {
        return Fail("HTTP request line malformed");
    }
    m_message.method = words[0];
    m_message.target = words[1];
    return ReadVersion(words[2].substr(kProtocol.size()));
}

HttpParser::Status HttpParser::ReadVersion(std::string_view version)
{
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (std::count(version.begin(), version.end(), '.') != 1) {
        return Fail("HTTP request line malformed");
    }
    if (version.size() != 3 || version[0] != '1' || version[1] != '.' || !is_digit(version[2])) {
        return Fail("HTTP bad version");
    }
    m_message.minor_version = version[2] - '0';
    return Go(State::kHeader);
}

HttpParser::Status HttpParser::ReadHeader(std::string_view line)
{
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
        return Fail("Header contains invalid character");
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Fail("HTTP header missing colon (:)");
    const std::string_view name = line.substr(0, colon);
    if (name.find_first_of(kSpace) != std::string_view::npos) {
        return Fail("Invalid header field-name contains whitespace");
    }
    if (name.empty()) return Fail("Empty HTTP header name");
    m_message.headers.emplace_back(name, Stripped(line.substr(colon + 1)));
    return Go(State::kHeader);
}

// If the end of a body is unknown, or if a proxy before the node may see it elsewhere, bytes of the
// body would be parsed as a request that the proxy did not see. So these are refused: both lengths
// at once, chunks in HTTP/1.0, which has none, and codings other than chunks (RFC 9112, 6.1, 6.3).
HttpParser::Status HttpParser::BeginBody()
{
    size_t codings = 0;
    for (const auto& header : m_message.headers) {
        if (EqualNoCase(header.first, "Transfer-Encoding")) ++codings;
    }
    if (codings > 0) {
        const bool chunked = EqualNoCase(*m_message.Header("Transfer-Encoding"), "chunked");
        if (codings > 1 || !chunked) return Fail("Unsupported Transfer-Encoding");
        if (m_message.minor_version == 0) return Fail("Transfer-Encoding in HTTP/1.0");
        if (m_message.Header("Content-Length")) {
            return Fail("Both Transfer-Encoding and Content-Length");
        }
        return Go(State::kChunkSize);
    }
    const std::string* first = nullptr;
    for (const auto& [name, value] : m_message.headers) {
        if (!EqualNoCase(name, "Content-Length")) continue;
        if (first != nullptr && *first != value) return Fail("Differing Content-Length values");
        first = &value;
    }
    if (first == nullptr) return Go(State::kDone);
    const auto length = ParseInteger<uint64_t>(*first);
    if (!length) return Fail("Cannot parse Content-Length value");
    if (*length > kMaxBodyBytes) {
        m_reason = "Max body size exceeded";
        return Status::kTooLarge;
    }
    m_body_left = *length;
    return Go(*length == 0 ? State::kDone : State::kBody);
}

HttpParser::Status HttpParser::BeginChunk(std::string_view line)
{
    const std::string_view text =
        Stripped(line.substr(0, line.find(';'))); // extensions are ignored
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, 16);
    if (error != std::errc() || end != text.data() + text.size()) {
        return Fail("Cannot parse chunk length value");
    }
    if (size > kMaxBodyBytes - m_message.body.size()) {
        m_reason = "Chunk will exceed max body size";
        return Status::kTooLarge;
    }
    if (size == 0) {
        m_consumed = 0;
        return Go(State::kTrailer);
    }
    m_body_left = size;
    return Go(State::kChunk);
}

} // namespace ibd

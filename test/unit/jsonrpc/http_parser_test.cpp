// HTTP requests: valid and invalid ones, and the end of a request; whole and byte by byte.
#include "jsonrpc/http_parser.h"

#include "support/catch.h"

using namespace ibd;

namespace {

using Status = HttpParser::Status;

struct Outcome {
    Status status;
    HttpMessage message;
    std::string reason;
    std::string rest;
};

Outcome ParseInPieces(std::string_view text, size_t piece)
{
    HttpParser parser;
    Status status = Status::kNeedMore;
    size_t at = 0;
    while (status == Status::kNeedMore && at < text.size()) {
        std::string_view bytes = text.substr(at, piece);
        const size_t given = bytes.size();
        status = parser.Parse(bytes);
        at += given - bytes.size();
        if (status == Status::kNeedMore) CHECK(bytes.empty());
    }
    return {status, parser.Message(), parser.Reason(), std::string(text.substr(at))};
}

/** The same whole and in pieces. */
Outcome Parse(std::string_view text)
{
    const Outcome whole = ParseInPieces(text, text.size() + 1);
    for (const size_t piece : {1, 3, 1000}) {
        if (text.size() > 100'000 && piece < 1000) continue;
        const Outcome other = ParseInPieces(text, piece);
        CHECK(other.status == whole.status);
        CHECK(other.reason == whole.reason);
        if (whole.status == Status::kComplete) CHECK(other.rest == whole.rest);
        CHECK(other.message.body == whole.message.body);
        CHECK(other.message.headers == whole.message.headers);
    }
    return whole;
}

std::string Post(const std::string& headers, const std::string& body)
{
    return "POST / HTTP/1.1\r\n" + headers + "\r\n" + body;
}

} // namespace

TEST_CASE("a request has a line, headers and a body of the stated length")
{
    const Outcome r = Parse(Post("Host: x\r\ncontent-LENGTH:  3 \r\nHost: y\r\n", "abcGET"));
    CHECK(r.status == Status::kComplete);
    CHECK(r.message.method == "POST");
    CHECK(r.message.target == "/");
    CHECK(r.message.minor_version == 1);
    CHECK(r.message.body == "abc");
    CHECK(r.rest == "GET");
    CHECK(*r.message.Header("HOST") == "x");
    CHECK(*r.message.Header("Content-Length") == "3");
    CHECK(r.message.Header("None") == nullptr);
    CHECK(Parse("GET / HTTP/1.0\n\n").message.minor_version == 0); // bare line ends are Core's too
    CHECK(Parse(Post("", "")).status == Status::kComplete);
    CHECK(Parse(Post("Content-Length: 0\r\n", "")).status == Status::kComplete);
    CHECK(Parse(Post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")).message.body == "abc");
    CHECK(Parse(Post("Content-Length: 3\r\n", "ab")).status == Status::kNeedMore);
    CHECK(Parse("BREW /pot HTTP/1.1\r\n\r\n").message.method == "BREW");
    CHECK(*Parse(Post("X:\r\n", "")).message.Header("X") == "");
}

TEST_CASE("a body of which the end cannot be known ends the connection")
{
    const std::string of_1_0 = "POST / HTTP/1.0\r\n";
    const std::string of_1_1 = "POST / HTTP/1.1\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::string body = "\r\n3\r\nabc\r\n0\r\n\r\n";
    REQUIRE(Parse(of_1_1 + chunked + body).status == Status::kComplete);
    CHECK(Parse(of_1_0 + chunked + body).status == Status::kBad);
    for (const char* length : {"3", "13", "0", "x", "", "3\r\ncontent-length: 3"}) {
        INFO(length);
        const std::string other = std::string("Content-Length: ") + length + "\r\n";
        CHECK(Parse(of_1_1 + chunked + other + body).status == Status::kBad);
        CHECK(Parse(of_1_1 + other + chunked + body).status == Status::kBad);
    }
    for (const char* odd :
         {"Content-Length: 3\v\r\n", "Content-Length: \f3\r\n", "Content-Length: 3, 3\r\n",
          "Content-Length: 0x3\r\n", "Content-Length : 3\r\n", "Transfer-Encoding : chunked\r\n",
          " Transfer-Encoding: chunked\r\n", "Transfer-Encoding: \vchunked\r\n",
          "Transfer-Encoding: chunked\f\r\n", "Transfer-Encoding: chunked;q=1\r\n",
          "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding\v: chunked\r\n"}) {
        INFO(odd);
        CHECK(Parse(of_1_1 + odd + body).status == Status::kBad);
    }
    for (const char* codings :
         {"Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked, gzip\r\n",
          "Transfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n",
          "Transfer-Encoding:\r\n", "Transfer-Encoding: chunked, chunked\r\n",
          "Transfer-Encoding: \"chunked\"\r\n", "transfer-encoding: identity\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
          "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"}) {
        INFO(codings);
        for (const char* length : {"", "Content-Length: 3\r\n"}) {
            CHECK(Parse(Post(std::string(codings) + length, "abc")).status == Status::kBad);
            CHECK(Parse(Post(std::string(length) + codings, "abc")).status == Status::kBad);
        }
    }
}

TEST_CASE("chunks are joined, extensions and trailers mean nothing")
{
    const std::string chunked = "Transfer-Encoding: Chunked\r\n";
    const Outcome r =
        Parse(Post(chunked, "3\r\nabc\r\n a ;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\nG"));
    CHECK(r.status == Status::kComplete);
    CHECK(r.message.body == "abc0123456789");
    CHECK(r.rest == "G");
    CHECK(Parse(Post(chunked, "0\r\n\r\n")).message.body.empty());
    CHECK(Parse(Post(chunked, "3\r\nabc\r\n0\r\n")).status == Status::kNeedMore);
    for (const char* bad :
         {"\r\n", "x\r\n", "-1\r\n", "0x3\r\n", "3 3\r\n", "3\r\nabcd\r\n", "11111111111111111\r\n",
          // Lines that end for one reader and not for another.
          "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r\n0\n\r\n",
          "3\r\nabc\r\n0\r\n\n", "3\r\nabc\r\n0\r\nT: x\n\r\n", "3;x\ry\r\nabc\r\n0\r\n\r\n",
          "3;\nx\r\nabc\r\n0\r\n\r\n", "3\v\r\nabc\r\n0\r\n\r\n", "3\r\nabc0\r\n\r\n"}) {
        INFO(bad);
        CHECK(Parse(Post(chunked, bad)).status == Status::kBad);
    }
    const std::string long_trailer = "0\r\n" + std::string(5000, 'x') + "\r\n";
    CHECK(Parse(Post(chunked, long_trailer + "\r\n")).status == Status::kComplete);
    CHECK(Parse(Post(chunked, long_trailer + std::string(5000, 'y') + "\r\n")).status ==
          Status::kBad);
}

TEST_CASE("bytes that are not HTTP are refused")
{
    const std::string nul = std::string("GET /\0 HTTP/1.1\r\n", 17);
    for (const std::string& bad :
         {std::string("\r\n"), std::string("hello\r\n"), std::string("GET /  HTTP/1.1\r\n"),
          std::string("GET / HTTP/2.0\r\n"), std::string("GET / HTTP/1.11\r\n"),
          std::string("GET / HTTP/1.x\r\n"), std::string("GET / HTTP/11\r\n"),
          std::string("GET / http/1.1\r\n"), std::string("GET / x HTTP/1.1\r\n"), nul}) {
        INFO(bad);
        CHECK(Parse(bad).status == Status::kBad);
    }
    for (const std::string& bad :
         {std::string("nocolon\r\n"), std::string(": x\r\n"), std::string("a b: x\r\n"),
          std::string(" folded: x\r\n"), std::string("a: x\ry\r\n"), std::string("a: \0\r\n", 6),
          std::string("Content-Length: 3\r\nContent-Length: 4\r\n\r\n"),
          std::string("Content-Length: +3\r\n\r\n"), std::string("Content-Length: -3\r\n\r\n"),
          std::string("Content-Length: 3 3\r\n\r\n"), std::string("Content-Length: \r\n\r\n")}) {
        INFO(bad);
        CHECK(Parse("POST / HTTP/1.1\r\n" + bad).status == Status::kBad);
    }
}

TEST_CASE("head and body are bounded")
{
    const auto head = [](size_t size) { // of the request line and one header, without the last line
        const std::string begin = "GET / HTTP/1.1\r\nX: ";
        return begin + std::string(size - begin.size() - 2, 'x') + "\r\n";
    };
    constexpr size_t kMost = HttpParser::kMaxHeaderBytes;
    CHECK(Parse(head(kMost - 2) + "\r\n").status == Status::kComplete);
    CHECK(Parse(head(kMost - 1) + "\r\n").status == Status::kBad);
    CHECK(Parse(head(kMost + 1)).status == Status::kBad);
    CHECK(Parse(std::string(kMost, 'x')).status == Status::kNeedMore);
    CHECK(Parse(std::string(kMost + 1, 'x')).status == Status::kBad);

    const std::string most = std::to_string(HttpParser::kMaxBodyBytes);
    const std::string more = std::to_string(HttpParser::kMaxBodyBytes + 1);
    CHECK(Parse(Post("Content-Length: " + most + "\r\n", "")).status == Status::kNeedMore);
    CHECK(Parse(Post("Content-Length: " + more + "\r\n", "")).status == Status::kTooLarge);
    CHECK(Parse(Post("Content-Length: 18446744073709551616\r\n", "")).status == Status::kBad);
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    CHECK(Parse(Post(chunked, "2000001\r\n")).status == Status::kTooLarge);
    CHECK(Parse(Post(chunked, "1\r\na\r\n2000000\r\n")).status == Status::kTooLarge);
    CHECK(Parse(Post(chunked, "1\r\na\r\n1ffffff\r\n")).status == Status::kNeedMore);
}

TEST_CASE("a parser takes request after request")
{
    HttpParser parser;
    const std::string two = Post("Content-Length: 2\r\n", "ab") + Post("", "");
    std::string_view bytes = two;
    CHECK(parser.IsAtStart());
    CHECK(parser.Parse(bytes) == Status::kComplete);
    CHECK(parser.Message().body == "ab");
    parser.Reset();
    CHECK(parser.IsAtStart());
    CHECK(parser.Parse(bytes) == Status::kComplete);
    CHECK(parser.Message().body.empty());
    CHECK(parser.Message().headers.empty());
    CHECK(bytes.empty());
}

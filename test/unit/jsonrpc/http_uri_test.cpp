#include "jsonrpc/http_uri.h"

#include "support/catch.h"

using namespace ibd;

TEST_CASE("escapes of two hex digits are decoded, all else stays")
{
    CHECK(UrlDecode("a%20b%2Fc%2f") == "a b/c/");
    CHECK(UrlDecode("100%") == "100%");
    CHECK(UrlDecode("%4") == "%4");
    CHECK(UrlDecode("%XY%4G%-1") == "%XY%4G%-1");
    CHECK(UrlDecode("%%41") == "%A");
    CHECK(UrlDecode("a+b") == "a+b");
    CHECK(UrlDecode("%00") == std::string(1, '\0'));
    CHECK(UrlDecode("").empty());
}

TEST_CASE("the first parameter with the key counts")
{
    CHECK(QueryParameter("/p?count=5", "count") == "5");
    CHECK(QueryParameter("/p?a=1&count=5&count=6", "count") == "5");
    CHECK(QueryParameter("/p?co%75nt=%35", "count") == "5");
    CHECK(QueryParameter("/p?count", "count") == "");
    CHECK(QueryParameter("/p?count=", "count") == "");
    CHECK(QueryParameter("/p?count=a=b", "count") == "a=b");
    CHECK(QueryParameter("/p?x=1?count=5", "count") == std::nullopt);
    CHECK(QueryParameter("/p?a=1#&count=5", "count") == std::nullopt);
    CHECK(QueryParameter("/p#x?count=5", "count") == "5");
    CHECK(QueryParameter("/count=5", "count") == std::nullopt);
    CHECK(QueryParameter("/p?", "count") == std::nullopt);
    CHECK(QueryParameter("/p?&&", "") == "");
}

// Numbers, amounts, times and wrapped text.
#include "util/strings.h"

#include "support/catch.h"

using namespace ibd;

TEST_CASE("strict integers take the whole text or nothing")
{
    CHECK(ParseInteger<int32_t>("-12") == -12);
    CHECK(ParseInteger<uint16_t>("65535") == 65535);
    for (const char* bad : {"", " 1", "1 ", "+1", "0x1", "65536", "-1", "1.0"}) {
        CHECK_FALSE(ParseInteger<uint16_t>(bad));
    }
}

TEST_CASE("lenient integers are read as atoi reads them")
{
    CHECK(LenientInteger("4500MB") == 4500);
    CHECK(LenientInteger(" \t-7x") == -7);
    CHECK(LenientInteger("+7") == 7);
    CHECK(LenientInteger("+-7") == 0);
    CHECK(LenientInteger("x") == 0);
    CHECK(LenientInteger("") == 0);
    CHECK(LenientInteger("99999999999999999999") == INT64_MAX);
    CHECK(LenientInteger("-99999999999999999999") == INT64_MIN);
}

TEST_CASE("fixed-point text is exact")
{
    CHECK(ParseFixedPoint("0", 8) == 0);
    CHECK(ParseFixedPoint("1", 8) == 100000000);
    CHECK(ParseFixedPoint("-0.5", 8) == -50000000);
    CHECK(ParseFixedPoint("20999999.9769", 8) == 2099999997690000);
    CHECK(ParseFixedPoint("0.00000001", 8) == 1);
    CHECK(ParseFixedPoint("1e-8", 8) == 1);
    CHECK(ParseFixedPoint("0.1e-7", 8) == 1);
    CHECK(ParseFixedPoint("0.010000000000000", 8) == 1000000);
    CHECK(ParseFixedPoint("1E+3", 8) == 100000000000);
    for (const char* bad : {"", "-", ".5", "5.", "1e", "01", "+1", "0.000000001", "1e-9", "1 ",
                            "1e3x", "92233720368.54775808", "1e2000"}) {
        INFO(bad);
        CHECK_FALSE(ParseFixedPoint(bad, 8));
    }
}

TEST_CASE("amounts have eight decimals")
{
    CHECK(FormatAmount(0) == "0.00000000");
    CHECK(FormatAmount(1) == "0.00000001");
    CHECK(FormatAmount(5000000000) == "50.00000000");
    CHECK(FormatAmount(-123456789) == "-1.23456789");
    CHECK(FormatAmount(INT64_MIN) == "-92233720368.54775808");
}

TEST_CASE("splitting, trimming, escaping")
{
    CHECK(Split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(Split("", ',') == std::vector<std::string_view>{""});
    CHECK(Trim(" \t a b\r\n") == "a b");
    CHECK(Trim(" \n").empty());
    CHECK(ToLower("AZ@[az 09\xc3\x84") == "az@[az 09\xc3\x84");
    CHECK(EscapeControl("a\n\x1b[1m\x7f\xc3\xa9") == "a\\x0a\\x1b[1m\\x7f\xc3\xa9");
}

TEST_CASE("text is wrapped at spaces and at its own line ends")
{
    CHECK(WrapText("aa bb cc", 5, 2) == "aa bb\n  cc");
    CHECK(WrapText("toolongaword b", 5, 0) == "toolongaword\nb");
    CHECK(WrapText("a\nb\n\nc", 5, 1) == "a\n b\n \n c");
    CHECK(WrapText("", 5, 1).empty());
}

TEST_CASE("times are written as in ISO 8601")
{
    CHECK(FormatIso8601(0) == "1970-01-01T00:00:00Z");
    CHECK(FormatIso8601(1231006505) == "2009-01-03T18:15:05Z");
    CHECK(FormatIso8601(951782400) == "2000-02-29T00:00:00Z");
    CHECK(FormatIso8601(4107542399) == "2100-02-28T23:59:59Z");
    CHECK(FormatIso8601(4107542400) == "2100-03-01T00:00:00Z");
    CHECK(FormatIso8601(-1) == "1969-12-31T23:59:59Z");
    CHECK(FormatDuration(59) == "59 s");
    CHECK(FormatDuration(250) == "4 min 10 s");
    CHECK(FormatDuration(7500) == "2 h 05 min");
    CHECK(FormatDuration(273600) == "3 d 4 h");
    CHECK(FormatBytes(999) == "999 bytes");
    CHECK(FormatBytes(1000) == "1.0 kB");
    CHECK(FormatBytes(999'949) == "999.9 kB");
    CHECK(FormatBytes(999'950) == "1.0 MB");
    CHECK(FormatBytes(382'672'683) == "382.7 MB");
    CHECK(FormatBytes(~uint64_t{0}) == "18.4 EB");
}

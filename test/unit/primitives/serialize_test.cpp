// Reader and Writer: encodings with known bytes, refusals, and the sticky failure.
#include "primitives/serialize.h"

#include "support/testdata.h"
#include "util/hex.h"

#include <limits>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

std::string CompactHex(uint64_t v)
{
    Bytes out;
    Writer(out).CompactSize(v);
    return ToHex(out);
}

std::string VarHex(uint64_t v)
{
    Bytes out;
    Writer(out).VarInt(v);
    return ToHex(out);
}

/** The CompactSize in the hex, if all of it is one. */
std::optional<uint64_t> ReadCompact(const char* hex, bool range_check)
{
    const Bytes bytes = FromHex(hex).value();
    Reader reader(bytes);
    const uint64_t v = reader.CompactSize(range_check);
    return reader.AtEnd() ? std::optional(v) : std::nullopt;
}

std::optional<uint64_t> ReadVar(const char* hex)
{
    const Bytes bytes = FromHex(hex).value();
    Reader reader(bytes);
    const uint64_t v = reader.VarInt();
    return reader.AtEnd() ? std::optional(v) : std::nullopt;
}

} // namespace

TEST_CASE("CompactSize: known forms and their lengths")
{
    CHECK(CompactHex(0) == "00");
    CHECK(CompactHex(252) == "fc");
    CHECK(CompactHex(253) == "fdfd00");
    CHECK(CompactHex(0xffff) == "fdffff");
    CHECK(CompactHex(0x10000) == "fe00000100");
    CHECK(CompactHex(0xffffffff) == "feffffffff");
    CHECK(CompactHex(0x100000000) == "ff0000000001000000");
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const uint64_t v : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1}) {
            const std::string hex = CompactHex(v);
            CHECK(hex.size() == 2 * CompactSizeLength(v));
            CHECK(ReadCompact(hex.c_str(), false) == v);
        }
    }
}

TEST_CASE("CompactSize: longer forms than needed and lengths above 32 MiB are refused")
{
    for (const char* hex : {"fd0000", "fdfc00", "fe00000000", "feffff0000", "ff0000000000000000",
                            "ffffffffff00000000", "fd", "fdfd", "fe000001", "ff00000000010000"}) {
        INFO(hex);
        CHECK(ReadCompact(hex, false) == std::nullopt);
        CHECK(ReadCompact(hex, true) == std::nullopt);
    }
    CHECK(ReadCompact("fe00000002", true) == kMaxSerializedSize);
    CHECK(ReadCompact("fe01000002", true) == std::nullopt);
    CHECK(ReadCompact("fe01000002", false) == kMaxSerializedSize + 1);
    CHECK(ReadCompact("ffffffffffffffffff", true) == std::nullopt);
}

TEST_CASE("VarInt: known forms")
{
    const std::pair<uint64_t, const char*> rows[] = {
        {0, "00"},
        {1, "01"},
        {127, "7f"},
        {128, "8000"},
        {255, "807f"},
        {256, "8100"},
        {16383, "fe7f"},
        {16384, "ff00"},
        {16511, "ff7f"},
        {65535, "82fe7f"},
        {uint64_t{1} << 32, "8efefeff00"},
    };
    for (const auto& [value, hex] : rows) {
        CHECK(VarHex(value) == hex);
        CHECK(ReadVar(hex) == value);
    }
    const uint64_t max = std::numeric_limits<uint64_t>::max();
    CHECK(ReadVar(VarHex(max).c_str()) == max);
}

TEST_CASE("VarInt: round trip, one form for each number, overflow refused")
{
    for (int i = 0; i < 20000; ++i) {
        const uint64_t v = TestRng()() >> (TestRng()() % 64);
        CHECK(ReadVar(VarHex(v).c_str()) == v);
    }
    const std::string max = VarHex(std::numeric_limits<uint64_t>::max());
    std::string above = max;
    above[above.size() - 1] = '0'; // lowest byte of the encoding of 2^64-1 is 7f
    above[above.size() - 2] = '8';
    CHECK(ReadVar((above + "00").c_str()) == std::nullopt);
    CHECK(ReadVar("ffffffffffffffffffff7f") == std::nullopt);
    CHECK(ReadVar("80") == std::nullopt);
    CHECK(ReadVar("") == std::nullopt);
}

TEST_CASE("Reader: integers, spans, and a failure that sticks")
{
    const Bytes bytes = FromHex("0102030405060708090a0b0c0d0e0f03aabbcc").value();
    Reader reader(bytes);
    CHECK(reader.U8() == 0x01);
    CHECK(reader.U16() == 0x0302);
    CHECK(reader.U32() == 0x07060504);
    CHECK(reader.U64() == 0x0f0e0d0c0b0a0908);
    CHECK(ToHex(reader.VarBytes()) == "aabbcc");
    CHECK(reader.AtEnd());
    CHECK(reader.Since(15).size() == 4);
    CHECK(reader.U8() == 0);
    CHECK(!reader.Ok());
    CHECK(!reader.AtEnd());
    CHECK(reader.Span(0).empty());
    CHECK(reader.Hash().IsNull());
    CHECK(!reader.Ok());
}

TEST_CASE("Reader: the first error is kept, in Core's words")
{
    const auto fault = [](const char* hex) -> std::string {
        const Bytes bytes = FromHex(hex).value();
        Reader reader(bytes);
        CHECK_FALSE(reader.Fault());
        reader.CompactSize();
        reader.U32();
        REQUIRE(reader.Fault());
        return reader.Fault();
    };
    CHECK(fault("") == "DataStream::read(): end of data");
    CHECK(fault("fd01") == "DataStream::read(): end of data");
    CHECK(fault("01") == "DataStream::read(): end of data");
    CHECK(fault("fd0100") == "non-canonical ReadCompactSize()");
    CHECK(fault("fe01000002") == "ReadCompactSize(): size too large");
}

TEST_CASE("Reader: a count is good only if so many elements can follow")
{
    const Bytes bytes = FromHex("0301020304050607").value();
    for (size_t size = 1; size <= 4; ++size) {
        Reader reader(bytes);
        const bool fits = 3 * size <= 7;
        CHECK(reader.Count(size) == (fits ? 3 : 0));
        CHECK(reader.Ok() == fits);
    }
}

TEST_CASE("Writer and Reader agree on every type")
{
    Bytes out;
    Writer writer(out);
    const Uint256 hash = Uint256::FromBytes(RandomBytes(32).data());
    writer.U8(7);
    writer.U16(0x1234);
    writer.U32(0xdeadbeef);
    writer.U64(uint64_t{1} << 63);
    writer.I64(-2);
    writer.Hash(hash);
    writer.VarBytes(Bytes(300, 0x55));
    Reader reader(out);
    CHECK(reader.U8() == 7);
    CHECK(reader.U16() == 0x1234);
    CHECK(reader.U32() == 0xdeadbeef);
    CHECK(reader.U64() == uint64_t{1} << 63);
    CHECK(reader.I64() == -2);
    CHECK(reader.Hash() == hash);
    CHECK(reader.VarBytes().size() == 300);
    CHECK(reader.AtEnd());
}

TEST_CASE("Uint256: display order is reversed, hex is exact")
{
    const std::string genesis = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";
    const Uint256 hash = Uint256::FromHex(genesis).value();
    CHECK(hash.data()[0] == 0x6f);
    CHECK(hash.data()[31] == 0);
    CHECK(hash.ToHex() == genesis);
    CHECK(!Uint256::FromHex(genesis.substr(2)));
    CHECK(!Uint256::FromHex(genesis + "00"));
    CHECK(!Uint256::FromHex("0x" + genesis.substr(2)));
    CHECK(Uint256().IsNull());
    CHECK(!hash.IsNull());
}

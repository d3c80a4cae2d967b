// Other people's hints formats: published and derived vectors, round trips, what tells them apart,
// and refusal of everything malformed.
#include "crypto/sha256.h"
#include "hints/gzip.h"
#include "hints/record_codec.h"
#include "hints_support.h"
#include "primitives/serialize.h"
#include "util/hex.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr std::array kWritable = {
    HintsFormat::kContainer,   HintsFormat::kContainer1, HintsFormat::kBitmap,
    HintsFormat::kIndexed,     HintsFormat::kBip456,     HintsFormat::kBip456Core,
    HintsFormat::kBip456Crate, HintsFormat::kBtcd,       HintsFormat::kGaps,
};

bool SaysOutputs(HintsFormat format)
{
    return format == HintsFormat::kContainer1 || format == HintsFormat::kBitmap ||
           format == HintsFormat::kIndexed;
}

Bytes WriteAs(Env& env, const Path& path, HintsFormat format,
              const std::vector<HintedTestBlock>& blocks)
{
    const HintsTarget target{format, kTestMagic, static_cast<uint32_t>(blocks.size())};
    return WriteHintsFile(env, path, *Must(StartHintsFile(env, path, target)), blocks,
                          FirstHeight(format));
}

std::string Encoded(const RecordCodec& codec, const std::vector<uint32_t>& unspent)
{
    Bytes out;
    codec.Put(std::nullopt, unspent, out);
    return ToHex(out);
}

std::vector<uint32_t> Decoded(const RecordCodec& codec, const char* hex, bool kind = false)
{
    const Bytes bytes = *FromHex(hex);
    BlockHints out;
    size_t used = 0;
    const char* wrong = codec.Take(bytes, kind, used, out);
    if (wrong) FAIL(wrong);
    REQUIRE(used == bytes.size());
    return out.unspent;
}

std::string Refused(const RecordCodec& codec, const char* hex, bool kind = false)
{
    BlockHints out;
    size_t used = 0;
    const char* wrong = codec.Take(*FromHex(hex), kind, used, out);
    return wrong ? wrong : "";
}

std::vector<uint32_t> Steps(uint32_t first, uint32_t step, uint32_t last)
{
    std::vector<uint32_t> out;
    for (uint32_t i = first; i <= last; i += step) out.push_back(i);
    return out;
}

/** A file of the pull request's kind, with records as they come. */
Bytes IndexedFile(const std::vector<std::pair<uint32_t, Bytes>>& records)
{
    Bytes index;
    Bytes body;
    Writer file(index);
    file.Raw(AsBytes("UTXO"));
    file.U8(0);
    file.U32(static_cast<uint32_t>(records.size()));
    for (const auto& [key, record] : records) {
        file.U32(key);
        file.U64(9 + 12 * records.size() + body.size());
        Append(body, record);
    }
    Append(index, body);
    return index;
}

} // namespace

TEST_CASE("BIP 456: the published vectors, and those of the crate")
{
    const auto& text = EliasFanoCodec(HintsFormat::kBip456);
    const auto& core = EliasFanoCodec(HintsFormat::kBip456Core);
    const auto& crate = EliasFanoCodec(HintsFormat::kBip456Crate);
    struct Vector {
        std::vector<uint32_t> unspent;
        const char* msb;
        const char* lsb;
    };
    const std::vector<Vector> vectors = {
        {{3, 7, 12}, "030cf0a4", "030c0f25"},
        {Steps(13, 3, 40), "0a288d8d8016ad50", "0a28b1b10168b50a"},
        {Steps(5, 7, 117), "11758d8d8d8d804a4949292524", "1175b1b1b1b10152929294a424"},
        {{0}, "010080", "010001"},
        {{}, "00", "00"},
    };
    for (const Vector& v : vectors) {
        REQUIRE(Encoded(text, v.unspent) == v.msb);
        REQUIRE(Encoded(core, v.unspent) == v.msb);
        REQUIRE(Encoded(crate, v.unspent) == v.lsb);
        REQUIRE(Decoded(text, v.msb) == v.unspent);
        REQUIRE(Decoded(crate, v.lsb) == v.unspent);
    }
    const char* third = "32a4aaaaaaaaaaaa800094a5294a5294a5294a5294a5294a5290";
    REQUIRE(Encoded(text, Steps(17, 3, 164)) == third);
    REQUIRE(Decoded(text, third) == Steps(17, 3, 164));
}

TEST_CASE("BIP 456: what a reader refuses")
{
    const auto& crate = EliasFanoCodec(HintsFormat::kBip456Crate);
    REQUIRE(Refused(crate, "") == "a count is malformed or cut off");
    REQUIRE(Refused(crate, "03") == "a count is malformed or cut off");
    REQUIRE(Refused(crate, "fd0100") == "a count is malformed or cut off");
    REQUIRE(Refused(crate, "01feffffffff") == "an index is larger than a block can have");
    REQUIRE(Refused(crate, "ffffffffffffffffff0c") == "more unspent outputs than indices");
    REQUIRE(Refused(crate, "030c0f") == "the record is cut off");
    REQUIRE(Refused(crate, "030c0f00") == "the high bits have too few ones");
    REQUIRE(Refused(crate, "030c0f27") != "");
    REQUIRE(Refused(crate, "030c0fa5") == "padding bits are not zero");
    REQUIRE(Refused(crate, "030ccf25") == "padding bits are not zero");
    REQUIRE(Refused(crate, "010080") != "");
    REQUIRE(Refused(EliasFanoCodec(HintsFormat::kBip456), "010001") != "");
}

TEST_CASE("btcd's record: vectors and refusals")
{
    REQUIRE(Encoded(BtcdCodec(), {}) == "00");
    REQUIRE(Encoded(BtcdCodec(), {0, 1, 2, 3}) == "0400000000");
    REQUIRE(Encoded(BtcdCodec(), {5, 500}) == "0405fdee01");
    REQUIRE(Decoded(BtcdCodec(), "0405fdee01") == std::vector<uint32_t>{5, 500});
    REQUIRE(Refused(BtcdCodec(), "0405fdee") == "a length is malformed or cut off");
    REQUIRE(Refused(BtcdCodec(), "0205fd") == "a run is malformed or cut off");
    REQUIRE(Refused(BtcdCodec(), "05fe20a10700") == "an index is larger than a block can have");
    REQUIRE(Refused(BtcdCodec(), "09ffffffffffffffffff") ==
            "an index is larger than a block can have");
}

TEST_CASE("Lines of runs: vectors and refusals")
{
    Bytes out;
    GapsCodec().Put(std::nullopt, std::vector<uint32_t>{3, 9, 10, 13}, out);
    REQUIRE(AsChars(out) == "3,5,0,2\n");
    const auto refused = [](std::string_view text) {
        BlockHints hints;
        size_t used = 0;
        const char* wrong = GapsCodec().Take(AsBytes(text), false, used, hints);
        return std::string(wrong ? wrong : "");
    };
    REQUIRE(refused("3,5,0,2\n").empty());
    REQUIRE(refused("\n").empty());
    REQUIRE(refused("3,5") == "the last line is cut off, or a line is too long");
    for (const char* bad : {"3,\n", ",3\n", "3 5\n", "-1\n", "x\n", "99999999999999999999999\n"}) {
        CAPTURE(bad);
        REQUIRE(refused(bad) == "no number where a run of zeros must be");
    }
    REQUIRE(refused("500000\n") == "an index is larger than a block can have");
}

TEST_CASE("Indexed files: vectors of the four revisions, blocks in any order")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    const std::vector<HintedTestBlock> blocks = {{14, {3, 9, 10, 13}}, {20, {}}, {9, {0}}};
    // Heights 1, 3, 2 in the file.
    const auto record = [](const char* hex) { return *FromHex(hex); };
    const std::vector<std::pair<HintsFormat, Bytes>> files = {
        {HintsFormat::kIndexed, IndexedFile({{1, record("0e0000000826")},
                                             {3, record("090000000100")},
                                             {2, record("14000000000000")}})},
        {HintsFormat::kIndexedCompact,
         IndexedFile({{1, record("0e0826")}, {3, record("090100")}, {2, record("14000000")}})},
        {HintsFormat::kIndexedDeltas,
         IndexedFile({{1, record("0403060103")}, {3, record("0100")}, {2, record("00")}})},
        // The first as runs, the second as bits, the third as nothing.
        {HintsFormat::kIndexedRuns,
         IndexedFile({{2, record("040403050002")}, {7, record("010101")}, {5, record("0000")}})},
    };
    for (const auto& [format, bytes] : files) {
        CAPTURE(NameOf(format));
        WriteTestFile(path, bytes);
        const auto hints = Must(OpenHints(*env, path));
        REQUIRE(hints->Info().format == format);
        REQUIRE((hints->Info().counting == HintsCounting::kAll) ==
                (format != HintsFormat::kIndexedRuns));
        const bool counts =
            format == HintsFormat::kIndexed || format == HintsFormat::kIndexedCompact;
        RequireSameHints(*hints, blocks, counts);
    }
    // The writer's result is the first of these except for the order.
    REQUIRE(WriteAs(*env, path, HintsFormat::kIndexed, blocks) ==
            IndexedFile({{1, record("0e0000000826")},
                         {2, record("14000000000000")},
                         {3, record("090000000100")}}));
}

TEST_CASE("Hints files: every format that is written is detected and reads back the same")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    for (const size_t count : {1u, 2u, 300u, 1100u}) {
        auto blocks = TestBlocks(count, count == 2 ? 60'000 : 90);
        blocks[0] = {3, {1}}; // distinguishes the orders of bits
        for (const HintsFormat format : kWritable) {
            CAPTURE(NameOf(format), count);
            WriteAs(*env, path, format, blocks);
            const auto hints = Must(OpenHints(*env, path));
            REQUIRE(hints->Info().format == format);
            REQUIRE(hints->Info().counting == CountingOf(format));
            RequireSameHints(*hints, blocks, SaysOutputs(format));
            BlockHints read;
            for (int i = 0; i < 40; ++i) { // any order gives the same
                const auto h = static_cast<uint32_t>(1 + TestRng().Below(count));
                Must(hints->Read(h, read));
                REQUIRE(read.unspent == blocks[h - 1].unspent);
            }
            Must(CheckHintsUnchanged(*env, hints->Info()));
        }
    }
}

TEST_CASE("Hints files: empty, dense and full hints in every format")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    for (const uint64_t parts : {0, 2, 50, 100}) {
        std::vector<HintedTestBlock> blocks;
        for (uint32_t h = 1; h <= 200; ++h) {
            HintedTestBlock block{1 + h % 97, {}};
            for (uint32_t i = 0; i < block.outputs; ++i) {
                if (TestRng().Chance(parts, 100)) block.unspent.push_back(i);
            }
            blocks.push_back(std::move(block));
        }
        for (const HintsFormat format : kWritable) {
            WriteAs(*env, path, format, blocks);
            RequireSameHints(*Must(OpenHints(*env, path, format)), blocks, SaysOutputs(format));
        }
    }
}

TEST_CASE("Hints files: a file that fits several formats is refused with their names")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    WriteAs(*env, path, HintsFormat::kBip456Core, std::vector<HintedTestBlock>(3));
    const std::string message = OpenHints(*env, path).Message();
    REQUIRE_THAT(message, Catch::Contains("bip456-core, bip456-crate"));
    REQUIRE_THAT(message, Catch::Contains("--from=FORMAT"));
    RequireSameHints(*Must(OpenHints(*env, path, HintsFormat::kBip456Crate)),
                     std::vector<HintedTestBlock>(3), false);
    WriteTestFile(path, *FromHex("5554584f0002000000"
                                 "ff"));
    REQUIRE_THAT(OpenHints(*env, path).Message(), Catch::Contains("fits no known format"));
}

TEST_CASE("Hints files: writers refuse what their format cannot say")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    for (const HintsFormat format : kWritable) {
        const auto writer = Must(StartHintsFile(*env, path, {format, kTestMagic, 1}));
        if (FirstHeight(format) == 0) Must(writer->Add(0, 1, {}));
        const auto added = writer->Add(1, std::nullopt, std::vector<uint32_t>{1});
        REQUIRE(added.Ok() != SaysOutputs(format));
        const auto large = Must(StartHintsFile(*env, path, {format, kTestMagic, 1}));
        const uint32_t first = FirstHeight(format);
        REQUIRE_FALSE(large->Add(first, kMaxHintedOutputs + 1, {}).Ok());
    }
    REQUIRE_FALSE(StartHintsFile(*env, path, {HintsFormat::kIndexedRuns, {}, 1}).Ok());
}

TEST_CASE("Hints files: a cut, lengthened or changed file is refused with format and offset")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    const auto blocks = TestBlocks(40, 60);
    for (const HintsFormat format : kWritable) {
        const Bytes good = WriteAs(*env, path, format, blocks);
        const std::string name(NameOf(format));
        for (int i = 0; i < 300; ++i) {
            Bytes file = good;
            const size_t at = TestRng().Below(file.size());
            if (i % 3 == 0) {
                file.resize(at);
            } else if (i % 3 == 1) {
                file.push_back(static_cast<uint8_t>(TestRng()()));
            } else {
                file[at] ^= static_cast<uint8_t>(1 << TestRng().Below(8));
            }
            WriteTestFile(path, file);
            CAPTURE(name, i);
            const auto opened = OpenHints(*env, path, format);
            if (!opened) {
                REQUIRE(opened.Message().find("offset ") != std::string::npos);
                continue;
            }
            // Formats without checksums: other hints, but in bounds, and never the same.
            REQUIRE((format != HintsFormat::kContainer && format != HintsFormat::kContainer1));
            BlockHints read;
            bool same = (*opened)->Info().terminal_height == blocks.size();
            for (uint32_t h = 1; h <= (*opened)->Info().terminal_height; ++h) {
                Must((*opened)->Read(h, read));
                REQUIRE(std::is_sorted(read.unspent.begin(), read.unspent.end()));
                REQUIRE((read.unspent.empty() || read.unspent.back() < kMaxHintedOutputs));
                same = same && h <= blocks.size() && read.unspent == blocks[h - 1].unspent &&
                       read.outputs.value_or(blocks[h - 1].outputs) == blocks[h - 1].outputs;
            }
            // gzip's header has bytes that mean nothing (time, system).
            const bool gzip = format == HintsFormat::kBtcd || format == HintsFormat::kGaps;
            if (!gzip) REQUIRE_FALSE(same);
        }
    }
}

TEST_CASE("gzip: a stream that unpacks without end is refused")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    Bytes packed;
    GzipPacker packer;
    const Bytes zeros(16 << 20);
    for (uint64_t size = 0; size <= kMaxUnpackedBytes; size += zeros.size()) {
        packer.Add(zeros, false, packed);
    }
    packer.Add({}, true, packed);
    WriteTestFile(path, packed);
    REQUIRE_THAT(OpenHints(*env, path).Message(), Catch::Contains("512 MiB"));
}

TEST_CASE("Hints files: the real chain's first 14,131 blocks as the crate wrote them")
{
    const auto file = TestData("golden_mainnet14131/mainnet14131.hints");
    const auto indices = TestData("golden_mainnet14131/unspent_indices.txt.xz");
    if (!file || !indices) return;
    const auto env = MakePosixEnv();
    const auto hints = Must(OpenHints(*env, *file));
    REQUIRE(hints->Info().format == HintsFormat::kBip456Crate);
    REQUIRE(hints->Info().unspent == 13'416);
    const Bytes bytes = ReadTestFile(*indices);
    std::string_view text = AsChars(bytes);
    std::vector<HintedTestBlock> blocks;
    BlockHints read;
    for (uint32_t h = 1; h <= 14'131; ++h) {
        const size_t end = text.find('\n');
        std::string line;
        Must(hints->Read(h, read));
        for (const uint32_t i : read.unspent)
            line += fmt::format("{}{}", line.empty() ? "" : " ", i);
        REQUIRE(text.substr(0, end) == line);
        text.remove_prefix(end + 1);
        blocks.push_back({kMaxHintedOutputs, read.unspent});
    }
    TempDir dir;
    const Path path = dir.Get() / "hints";
    REQUIRE(WriteAs(*env, path, HintsFormat::kBip456Crate, blocks) ==
            Must(ReadWholeFile(*env, *file)));
    // Ours takes a thirtieth.
    REQUIRE(WriteAs(*env, path, HintsFormat::kContainer, blocks).size() < 1'400);
}

// Version 1 of the container and the bitmap: vectors, round trips, and refusal of all else.
#include "hints/container1.h"
#include "hints/hints_writer.h"
#include "hints/rice_record.h"

#include "crypto/sha256.h"
#include "hints_support.h"
#include "util/endian.h"
#include "util/hex.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

Bytes WriteContainer(Env& env, const Path& path, const std::vector<HintedTestBlock>& blocks)
{
    return WriteHintsFile(env, path, *Must(MakeContainerWriter(env, path, kTestMagic)), blocks);
}

/** Recomputes the checksums over whatever the file now says, as a forger would. */
void Reseal(Bytes& file)
{
    const uint64_t index_at = ReadLE64(file.data() + 72);
    if (index_at > file.size()) return;
    for (uint64_t at = index_at; at + 32 <= file.size(); at += 32) {
        const uint64_t offset = ReadLE64(file.data() + at + 8);
        const uint32_t length = ReadLE32(file.data() + at + 16);
        if (offset > file.size() || length > file.size() - offset) continue;
        const Hash32 digest = Sha256Of(ByteSpan(file).subspan(offset, length));
        std::copy_n(digest.begin(), 8, file.data() + at + 24);
    }
    const Hash32 digest = Sha256()
                              .Write(ByteSpan(file).first(120))
                              .Write(ByteSpan(file).subspan(index_at))
                              .Finalize();
    std::copy_n(digest.begin(), 8, file.data() + 120);
}

} // namespace

TEST_CASE("Hints record: worked example of the format page")
{
    const std::vector<uint32_t> unspent = {3, 9, 10, 13}; // 00010000011001
    Bytes record;
    EncodeHintsRecord(14, unspent, record);
    REQUIRE(ToHex(record) == "0e04015d02");
    BlockHints hints;
    REQUIRE(DecodeHintsRecord(record, hints) == nullptr);
    REQUIRE(hints.outputs == 14);
    REQUIRE(hints.unspent == unspent);
}

TEST_CASE("Hints record: round trips, and no change of any byte reads past the end")
{
    for (int i = 0; i < 400; ++i) {
        const auto n = static_cast<uint32_t>(TestRng()() % (i % 20 ? 600 : kMaxHintedOutputs));
        const std::vector<uint32_t> unspent = TestIndices(n);
        Bytes record;
        EncodeHintsRecord(n, unspent, record);
        BlockHints hints;
        REQUIRE(DecodeHintsRecord(record, hints) == nullptr);
        REQUIRE(hints.outputs == n);
        REQUIRE(hints.unspent == unspent);
        for (int j = 0; j < 20; ++j) {
            Bytes changed = record;
            changed[TestRng()() % changed.size()] ^= static_cast<uint8_t>(1 << TestRng()() % 8);
            changed.resize(changed.size() - TestRng()() % 2);
            const Bytes exact = changed; // asan sees a read past this
            if (DecodeHintsRecord(exact, hints)) continue;
            REQUIRE(std::is_sorted(hints.unspent.begin(), hints.unspent.end()));
            REQUIRE((hints.unspent.empty() || hints.unspent.back() < hints.outputs));
        }
    }
}

TEST_CASE("Hints record: what a reader refuses")
{
    BlockHints hints;
    const auto refused = [&](const char* hex) {
        const char* why = DecodeHintsRecord(*FromHex(hex), hints);
        return std::string(why ? why : "");
    };
    REQUIRE(refused("") == "a count is malformed");
    REQUIRE(refused("0e") == "a count is malformed");
    REQUIRE(refused("8e0004015d02") == "a count is malformed"); // LEB128 longer than needed
    REQUIRE(refused("ffffffff7f00") == "a count is malformed"); // more than 32 bits
    REQUIRE(refused("a1c21e00") == "more outputs than a block can have"); // 500,001
    REQUIRE(refused("0304015d02") == "more unspent outputs than outputs");
    REQUIRE(refused("0e0000") == "bytes follow an empty record");
    REQUIRE(refused("0e04") == "the record is cut off");
    REQUIRE(refused("0e04135d02") == "the Rice parameter is above 18");
    REQUIRE(refused("0e04015d") == "the record is cut off");
    REQUIRE(refused("0d04015d02") == "a run of zeros reaches past the block's outputs");
    REQUIRE(refused("0e04015d0200") == "the record is longer than its runs");
    REQUIRE(refused("0e04015d12") == "padding bits are not zero");
    REQUIRE(refused("0e0400ffffffffffffffffffff") ==
            "a run of zeros reaches past the block's outputs");
}

TEST_CASE("Hints files: both formats return the written hints")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    for (const size_t count : {1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 2500u}) {
        const auto blocks = TestBlocks(count, count == 33 ? 60'000 : 90);
        WriteContainer(*env, path, blocks);
        auto hints = Must(OpenHints(*env, path));
        RequireSameHints(*hints, blocks, true);
        REQUIRE(hints->Info().counting == HintsCounting::kSpendable);
        REQUIRE(*hints->Info().network_magic == kTestMagic);
        REQUIRE(hints->Info().terminal_hash == TestTerminal());

        WriteHintsFile(*env, path, *Must(MakeBitmapWriter(*env, path)), blocks, 0);
        hints = Must(OpenHints(*env, path));
        RequireSameHints(*hints, blocks, true);
        REQUIRE(hints->Info().counting == HintsCounting::kAll);
        REQUIRE_FALSE(hints->Info().terminal_hash);
        REQUIRE(hints->Info().id == Uint256(Sha256Of(Must(ReadWholeFile(*env, path)))));
    }
}

TEST_CASE("Hints files: any other file is refused with its name and an offset")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    const auto message = [&](ByteSpan bytes) {
        WriteTestFile(path, bytes);
        const auto opened = OpenHints(*env, path);
        REQUIRE_FALSE(opened.Ok());
        REQUIRE(opened.Message().find(path.string()) != std::string::npos);
        return opened.Message();
    };
    using Catch::Contains;
    REQUIRE_THAT(OpenHints(*env, dir.Get() / "none").Message(), Contains("none"));
    REQUIRE_THAT(message({}), Contains("hints"));
    REQUIRE_THAT(message(AsBytes("UTXO1234")), Contains("fits no known format"));
    REQUIRE_THAT(message(AsBytes("nonsense")), Contains("not a hints file"));
    REQUIRE_THAT(message(*FromHex("010000")), Contains("offset 3: the file is cut off"));
    REQUIRE_THAT(message(*FromHex("0100000000")), Contains("no block above the genesis"));
    REQUIRE_THAT(message(*FromHex("0100000100010000ff")), Contains("bytes follow the end marker"));
    REQUIRE_THAT(message(*FromHex("0100000100020000")), Contains("offset 5: padding"));
    const Bytes good = WriteContainer(*env, path, TestBlocks(40, 50));
    REQUIRE_THAT(message(ByteSpan(good).first(100)), Contains("offset 100: the file is cut off"));
    REQUIRE_THAT(message(ByteSpan(good).first(good.size() - 1)), Contains("offset 80: the file"));
    Bytes newer = good;
    newer[8] = 3;
    REQUIRE_THAT(message(newer), Contains("version 3 is not supported"));
    Bytes longer = good;
    longer.push_back(0);
    REQUIRE_THAT(message(longer), Contains("bytes but has"));
}

TEST_CASE("Hints container: every single-bit flip is refused when opened")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    Bytes file = WriteContainer(*env, path, TestBlocks(12, 30));
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
        file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        WriteTestFile(path, file);
        CAPTURE(bit);
        REQUIRE_FALSE(OpenHints(*env, path).Ok());
        file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
}

TEST_CASE("Hints container: a forged file with right checksums never reads out of bounds")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir.Get() / "hints";
    const Bytes good = WriteContainer(*env, path, TestBlocks(1500, 40));
    size_t opened_count = 0;
    for (int i = 0; i < 1000; ++i) {
        Bytes file = good;
        const int changes = 1 + static_cast<int>(TestRng()() % 3);
        for (int c = 0; c < changes; ++c) {
            // Half of the changes where structure is: header, index, record tables.
            const size_t at = TestRng()() % 2 ? TestRng()() % file.size()
                                              : TestRng()() % std::min<size_t>(400, file.size());
            file[at] = static_cast<uint8_t>(TestRng()());
        }
        Reseal(file);
        WriteTestFile(path, file);
        opened_count += ReadsInBounds(*env, path);
    }
    REQUIRE(opened_count > 20); // the test reached the records
}

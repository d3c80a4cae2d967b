// swifthints files: vectors checked with the proposal's own programs, round trips, groups that
// decode alone, and refusal of everything malformed.
#include "hints/swifthints.h"

#include "crypto/sha256.h"
#include "hints_support.h"
#include "sim/hints_model.h"
#include "util/hex.h"

using namespace ibd;
using namespace ibd::test;

namespace {

struct ShapedBlock {
    std::vector<uint32_t> shape;
    std::vector<uint32_t> unspent;
};
using ShapedBlocks = std::vector<ShapedBlock>;

uint32_t OutputsOf(const ShapedBlock& block)
{
    uint32_t outputs = 0;
    for (const uint32_t n : block.shape) outputs += n;
    return outputs;
}

/** The genesis block and `count` others of up to `max_txs` transactions, `parts` in 1000 unspent.
 */
ShapedBlocks RandomBlocks(size_t count, uint32_t max_txs, uint32_t parts)
{
    auto& rng = TestRng();
    ShapedBlocks blocks = {{{1}, {}}};
    for (size_t h = 1; h <= count; ++h) {
        ShapedBlock block;
        for (uint64_t txs = 1 + rng.Below(max_txs); txs > 0; --txs) {
            const uint64_t most = rng.Chance(1, 20) ? 300 : 9;
            block.shape.push_back(static_cast<uint32_t>(1 + rng.Below(most)));
        }
        for (uint32_t i = 0; i < OutputsOf(block); ++i) {
            if (rng.Chance(parts, 1000)) block.unspent.push_back(i);
        }
        blocks.push_back(std::move(block));
    }
    return blocks;
}

class SwifthintsTest {
public:
    Bytes Write(const ShapedBlocks& blocks)
    {
        SwifthintsWriter writer(Must(m_env->OpenWrite(m_path, true)));
        for (uint32_t h = 0; h < blocks.size(); ++h) {
            Must(writer.Add(h, blocks[h].shape, blocks[h].unspent));
        }
        Must(writer.Finish());
        return Must(ReadWholeFile(*m_env, m_path));
    }
    Result<std::unique_ptr<SwifthintsReader>> Open(const Bytes& file)
    {
        WriteTestFile(m_path, file);
        return SwifthintsReader::Open(Must(HintsFile::Open(*m_env, m_path)));
    }
    /** The fault of the file for these blocks; "other hints" if its hints differ. */
    std::string Wrong(const Bytes& file, const ShapedBlocks& blocks)
    {
        const auto reader = Open(file);
        if (!reader) return reader.Message();
        if ((*reader)->Info().terminal_height + 1 != blocks.size()) return "other hints";
        bool same = true;
        BlockHints read;
        for (const ShapedBlock& block : blocks) {
            const auto next = (*reader)->Next(block.shape, read);
            if (!next) return next.Message();
            same = same && read.unspent == block.unspent;
        }
        return same ? "" : "other hints";
    }
    void RequireRoundTrip(const ShapedBlocks& blocks)
    {
        const Bytes file = Write(blocks);
        REQUIRE(Wrong(file, blocks).empty());
    }

protected:
    TempDir m_dir;
    std::unique_ptr<Env> m_env = MakePosixEnv();
    const Path m_path = m_dir.Get() / "hints";
};

/** The groups of a file. */
std::vector<Bytes> Groups(ByteSpan file)
{
    std::vector<Bytes> groups;
    while (!file.empty()) {
        std::array<uint8_t, SwifthintsHead::kSize> head{};
        std::copy_n(file.begin(), head.size(), head.begin());
        const size_t size = SwifthintsHead::From(head).bytes;
        groups.emplace_back(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
        file = file.subspan(size);
    }
    return groups;
}

} // namespace

TEST_CASE("swifthints: contexts are 105, each shape and past having its own")
{
    const auto contexts = [](uint32_t outputs, uint64_t unspent) {
        std::vector<uint32_t> seen;
        ForEachSwifthint(std::array<uint32_t, 1>{outputs}, [&](uint32_t context) {
            seen.push_back(context);
            return unspent >> (seen.size() - 1) & 1;
        });
        return seen;
    };
    REQUIRE(contexts(1, 0) == std::vector<uint32_t>{0});
    REQUIRE(contexts(2, 0) == std::vector<uint32_t>{1, 3});
    REQUIRE(contexts(2, 1) == std::vector<uint32_t>{1, 2});
    REQUIRE(contexts(6, 63) == std::vector<uint32_t>{35, 36, 38, 41, 45, 50});
    REQUIRE(contexts(8, 0) == std::vector<uint32_t>{56, 58, 61, 65, 70, 76, 104, 104});
    REQUIRE(contexts(9, 255) == std::vector<uint32_t>{56, 57, 59, 62, 66, 71, 77, 77, 77});
    REQUIRE(contexts(9, 7) == std::vector<uint32_t>{56, 57, 59, 62, 67, 73, 91, 93, 94});
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: vectors, the files of the proposal's own encoder")
{
    const ShapedBlocks small = {{{1}, {}}, {{1}, {0}}, {{1, 2, 3}, {0, 2, 5}}, {{1, 8}, {3, 7, 8}}};
    REQUIRE(ToHex(Write(small)) == "0800038069678801fb62");
    ShapedBlocks larger = {{{1}, {}}};
    for (uint32_t h = 1; h <= 450; ++h) {
        ShapedBlock block;
        uint32_t index = 0;
        for (uint32_t tx = 0; tx < 1 + h % 5; ++tx) {
            block.shape.push_back(1 + (h * 7 + tx) % 9);
            for (uint32_t i = 0; i < block.shape.back(); ++i, ++index) {
                const bool first = i == 0;
                if ((h * 31 + index * 17) % 11 < (first ? 8 : 1)) block.unspent.push_back(index);
            }
        }
        larger.push_back(std::move(block));
    }
    const Bytes file = Write(larger);
    REQUIRE(Groups(file).size() == 1);
    REQUIRE(file.size() == 459); // with a probability for each context
    REQUIRE(ToHex(Sha256Of(file)) ==
            "0e5397d5783fd73431f44bb454a31ada3e62fa4380e474adbc3519a19ccf6027");
    REQUIRE(Wrong(file, larger).empty());
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: what was written is read, of any density and shape")
{
    for (const uint32_t parts : {0, 1, 60, 500, 999, 1000}) {
        CAPTURE(parts);
        RequireRoundTrip(RandomBlocks(1, 1, parts));
        RequireRoundTrip(RandomBlocks(150, 400, parts));
    }
    auto mixed = RandomBlocks(20, 30, 0);
    for (const uint32_t parts : {1000, 20, 700}) {
        const auto more = RandomBlocks(20, 30, parts);
        mixed.insert(mixed.end(), more.begin() + 1, more.end());
    }
    RequireRoundTrip(mixed);
    ShapedBlocks tiny(2 * SwifthintsHead::kMaxBlocks + 10, {{1}, {0}});
    tiny[0].unspent.clear();
    RequireRoundTrip(tiny);
    REQUIRE(Groups(Write(tiny)).size() == 3);
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: groups stay within their bounds")
{
    // A block of the most outputs, each the worst to code, then others that fill groups.
    ShapedBlocks blocks = {{{1}, {}}};
    for (const uint32_t outputs : {kMaxHintedOutputs, 3u, 200'000u, 200'000u, 120'000u, 150'000u}) {
        ShapedBlock block{{outputs}, {}};
        for (uint32_t i = 0; i < outputs; ++i) {
            if (TestRng().Chance(1, 2)) block.unspent.push_back(i);
        }
        blocks.push_back(std::move(block));
    }
    const Bytes file = Write(blocks);
    REQUIRE(Wrong(file, blocks).empty());
    REQUIRE(Groups(file).size() >= 3);
    SwifthintsWriter writer(Must(m_env->OpenWrite(m_path, true)));
    REQUIRE_FALSE(writer.Add(0, std::vector<uint32_t>{1, kMaxHintedOutputs}, {}).Ok());
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: a group decodes alone as in the file")
{
    ShapedBlocks blocks = {{{1}, {}}};
    sim::HintsModel model(TestRng()(), 1500);
    sim::HintedBlock next;
    for (int h = 1; h <= 1500; ++h) {
        model.Next(next);
        blocks.push_back({next.shape, next.unspent});
    }
    const Bytes file = Write(blocks);
    REQUIRE(Wrong(file, blocks).empty());
    auto groups = Groups(file);
    REQUIRE(groups.size() > 2);
    auto end = blocks.size();
    for (; !groups.empty(); groups.pop_back()) { // the last one first
        SwifthintsGroup group;
        REQUIRE(group.Start(groups.back()) == nullptr);
        size_t at = end -= group.BlocksLeft();
        for (std::vector<uint32_t> unspent; group.BlocksLeft() > 0; ++at) {
            group.Take(blocks[at].shape, unspent);
            REQUIRE(unspent == blocks[at].unspent);
        }
        REQUIRE(group.Finish() == nullptr);
    }
    REQUIRE(end == 0);
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: what is cut off, lengthened or for other blocks")
{
    const auto blocks = RandomBlocks(40, 8, 200);
    const Bytes good = Write(blocks);
    for (size_t size = 0; size < good.size(); ++size) {
        const Bytes cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
        REQUIRE_THAT(Wrong(cut, blocks), Catch::Contains("offset 0: swifthints, the group from "
                                                         "height 0 on"));
    }
    Bytes longer = good;
    longer.push_back(0);
    REQUIRE_THAT(Wrong(longer, blocks), Catch::Contains("the group is cut off"));
    // A chain with the same number of blocks, one with an additional output.
    auto other = blocks;
    other[20].shape.push_back(1);
    const std::string wrong = Wrong(good, other);
    REQUIRE((wrong == "other hints" || wrong.find("made from other blocks") != std::string::npos));
    Bytes early = *FromHex("0600"
                           "0080"
                           "80"
                           "ffff00");
    REQUIRE_THAT(Wrong(early, blocks), Catch::Contains("starts with is too small"));
    early.back() = 1;
    REQUIRE_THAT(Wrong(early, blocks), Catch::Contains("no block above the genesis block"));
    Bytes unspent_genesis = *FromHex("0600"
                                     "0180"
                                     "ff"
                                     "ff0001");
    REQUIRE_THAT(Wrong(unspent_genesis, {{{1}, {}}, {{1}, {}}}),
                 Catch::Contains("marks an output of the genesis block"));
}

TEST_CASE_METHOD(SwifthintsTest, "swifthints: every flipped bit is refused, or gives other hints")
{
    auto blocks = RandomBlocks(300, 8, 0);
    for (size_t h = 1; h < blocks.size(); ++h) { // so that shapes make a difference
        uint32_t first = 0;
        for (const uint32_t outputs : blocks[h].shape) {
            if (TestRng().Chance(9, 10)) blocks[h].unspent.push_back(first);
            first += outputs;
        }
    }
    const Bytes good = Write(blocks);
    const size_t table = SwifthintsHead::kSize;
    REQUIRE(Groups(good).size() == 1);
    REQUIRE((good[3] & 0x80) == 0);
    std::array<bool, kSwifthintsContexts> seen{};
    for (const ShapedBlock& block : blocks) {
        size_t index = 0;
        ForEachSwifthint(block.shape, [&](uint32_t context) {
            seen[context] = true;
            const auto i = static_cast<uint32_t>(index++);
            return std::binary_search(block.unspent.begin(), block.unspent.end(), i);
        });
    }
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
        Bytes file = good;
        file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        const size_t context = bit / 8 - table;
        const bool unused = bit / 8 >= table && context < seen.size() && !seen[context];
        CAPTURE(bit);
        REQUIRE(Wrong(file, blocks).empty() == unused);
    }
}

TEST_CASE_METHOD(SwifthintsTest,
                 "swifthints: opening one as hints is an error that names the remedy")
{
    const Bytes file = Write(RandomBlocks(200, 30, 100));
    const std::string said = OpenHints(*m_env, m_path).Message();
    REQUIRE_THAT(said, Catch::Contains("convert --from=swifthints --blocks=DIR"));
    REQUIRE(OpenHints(*m_env, m_path, HintsFormat::kSwifthints).Message() == said);
    REQUIRE_FALSE(StartHintsFile(*m_env, m_path, {HintsFormat::kSwifthints, {}, 1}).Ok());
}

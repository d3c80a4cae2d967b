// See hints_support.h.
#include "hints_support.h"

#include "crypto/sha256.h"
#include "primitives/serialize.h"

#include <fstream>

namespace ibd::test {

BlockHash TestTerminal() { return BlockHash::FromBytes(Sha256Of({}).data()); }

void WriteTestFile(const Path& path, ByteSpan bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(AsChars(bytes).data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint32_t> TestIndices(uint32_t n)
{
    auto& rng = TestRng();
    const uint64_t density = 1 + rng() % 40;
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < n; ++i) {
        if (rng() % density == 0) out.push_back(i);
    }
    return out;
}

std::vector<HintedTestBlock> TestBlocks(size_t count, uint32_t max_outputs)
{
    std::vector<HintedTestBlock> blocks;
    for (size_t i = 0; i < count; ++i) {
        const auto n = static_cast<uint32_t>(1 + TestRng()() % max_outputs);
        blocks.push_back({n, TestIndices(n)});
    }
    return blocks;
}

Bytes WriteHintsFile(Env& env, const Path& path, HintsWriter& writer,
                     const std::vector<HintedTestBlock>& blocks, uint32_t first)
{
    if (first == 0) Must(writer.Add(0, 1, {}));
    for (uint32_t h = 1; h <= blocks.size(); ++h) {
        Must(writer.Add(h, blocks[h - 1].outputs, blocks[h - 1].unspent));
    }
    Must(writer.Finish(TestTerminal()));
    return Must(ReadWholeFile(env, path));
}

void RequireOpens(Env& env, const Path& path)
{
    const auto hints = Must(OpenHints(env, path));
    BlockHints read;
    for (uint32_t h = 1; h <= hints->Info().terminal_height; ++h) Must(hints->Read(h, read));
}

bool ReadsInBounds(Env& env, const Path& path)
{
    const auto opened = OpenHints(env, path);
    if (!opened) {
        REQUIRE(opened.Message().find("offset") != std::string::npos);
        return false;
    }
    BlockHints read;
    for (uint32_t h = 1; h <= (*opened)->Info().terminal_height; ++h) {
        if (const auto got = (*opened)->Read(h, read); !got) {
            REQUIRE(got.Message().find("offset") != std::string::npos);
            continue;
        }
        REQUIRE(std::is_sorted(read.unspent.begin(), read.unspent.end()));
        REQUIRE((read.unspent.empty() ||
                 read.unspent.back() < read.outputs.value_or(kMaxHintedOutputs)));
    }
    return true;
}

void RequireSameHints(const Hints& hints, const std::vector<HintedTestBlock>& blocks, bool counts)
{
    REQUIRE(hints.Info().terminal_height == blocks.size());
    BlockHints read;
    uint64_t outputs = 0;
    uint64_t unspent = 0;
    for (uint32_t h = 1; h <= blocks.size(); ++h) {
        Must(hints.Read(h, read));
        REQUIRE(read.outputs.has_value() == counts);
        REQUIRE(read.outputs.value_or(blocks[h - 1].outputs) == blocks[h - 1].outputs);
        REQUIRE(read.unspent == blocks[h - 1].unspent);
        outputs += blocks[h - 1].outputs;
        unspent += read.unspent.size();
    }
    REQUIRE(hints.Info().outputs.has_value() == counts);
    REQUIRE(hints.Info().outputs.value_or(outputs) == outputs);
    REQUIRE(hints.Info().unspent == unspent);
}

uint64_t EliasFanoBytes(const std::vector<uint32_t>& unspent)
{
    if (unspent.empty()) return 1;
    const uint64_t n = unspent.size();
    const uint64_t m = unspent.back();
    unsigned low = 0;
    while ((m + 1) / n >> (low + 1)) ++low;
    return CompactSizeLength(n) + CompactSizeLength(m) + (n * low + 7) / 8 +
           (n + (m >> low) + 7) / 8;
}

} // namespace ibd::test

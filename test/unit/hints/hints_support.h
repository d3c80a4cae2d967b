// Shared code of tests of hints formats: random blocks, files of them, and comparisons.
#pragma once

#include "hints/hints_writer.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"

namespace ibd::test {

struct HintedTestBlock {
    uint32_t outputs;
    std::vector<uint32_t> unspent;
};

inline constexpr std::array<uint8_t, 4> kTestMagic = {0xfa, 0xbf, 0xb5, 0xda};

/** The hash that WriteHintsFile() gives the last block. */
BlockHash TestTerminal();

void WriteTestFile(const Path& path, ByteSpan bytes);

/** Random ascending indices below n. */
std::vector<uint32_t> TestIndices(uint32_t n);

/** `count` blocks of 1 to `max_outputs` outputs. */
std::vector<HintedTestBlock> TestBlocks(size_t count, uint32_t max_outputs);

/** The file's bytes. `first`: 0 for formats that have the genesis block, with one spent output. */
Bytes WriteHintsFile(Env& env, const Path& path, HintsWriter& writer,
                     const std::vector<HintedTestBlock>& blocks, uint32_t first = 1);

/** The file opens, and every block can be read. */
void RequireOpens(Env& env, const Path& path);

/** Opens a file that may be damaged and reads its blocks; errors must name the offset, and indices
 *  must lie in bounds. Returns whether it opened. */
bool ReadsInBounds(Env& env, const Path& path);

/** `counts`: the format says how many outputs a block has. */
void RequireSameHints(const Hints& hints, const std::vector<HintedTestBlock>& blocks, bool counts);

/** Size of a block in BIP 456's coding, bytes. */
uint64_t EliasFanoBytes(const std::vector<uint32_t>& unspent);

} // namespace ibd::test

// BlockFiles: a reader that knows only the format can read the written blocks.
#include "sim/block_files.h"

#include "support/temp_dir.h"
#include "util/endian.h"

#include <algorithm>
#include <filesystem>

#include "support/catch.h"

namespace ibd::sim {

namespace {

constexpr std::array<uint8_t, 4> kMagic = {0xfa, 0xbf, 0xb5, 0xda};

/** Distinct blobs of growing size; block files do not care what a block is. */
std::vector<Bytes> Blobs(int count)
{
    Rng rng(1);
    std::vector<Bytes> out;
    for (int i = 0; i < count; ++i) out.push_back(rng.RandomBytes(100 + static_cast<size_t>(i)));
    return out;
}

struct ReadBack {
    std::vector<Bytes> blocks;
    std::vector<size_t> file_sizes;
    Bytes tail; //!< of the last file, after its last whole record; obfuscation removed
};

ReadBack ReadAll(const Path& folder)
{
    const std::unique_ptr<Env> env = MakePosixEnv();
    Bytes key(8, 0);
    if (env->Exists(folder / "xor.dat")) key = ReadWholeFile(*env, folder / "xor.dat").Value();
    ReadBack out;
    for (int n = 0; env->Exists(folder / fmt::format("blk{:05}.dat", n)); ++n) {
        Bytes file = ReadWholeFile(*env, folder / fmt::format("blk{:05}.dat", n)).Value();
        out.file_sizes.push_back(file.size());
        for (size_t i = 0; i < file.size(); ++i) file[i] ^= key[i % 8];
        size_t at = 0;
        while (at + 8 <= file.size() && std::equal(kMagic.begin(), kMagic.end(), &file[at])) {
            const size_t length = ReadLE32(&file[at + 4]);
            if (at + 8 + length > file.size()) break;
            const auto begin = file.begin() + static_cast<ptrdiff_t>(at + 8);
            out.blocks.emplace_back(begin, begin + static_cast<ptrdiff_t>(length));
            at += 8 + length;
        }
        out.tail.assign(file.begin() + static_cast<ptrdiff_t>(at), file.end());
    }
    return out;
}

ReadBack WriteAndRead(const std::vector<Bytes>& blobs, const BlockFileOptions& options)
{
    const test::TempDir folder;
    const std::unique_ptr<Env> env = MakePosixEnv();
    auto files = BlockFiles::Create(*env, folder / "blocks", kMagic, options);
    REQUIRE(files.Ok());
    for (const Bytes& blob : blobs) REQUIRE(files->AddShuffled(blob).Ok());
    REQUIRE(files->Finish().Ok());
    CHECK(!BlockFiles::Create(*env, folder / "blocks", kMagic, options).Ok());
    return ReadAll(folder / "blocks");
}

} // namespace

TEST_CASE("block files in order, in several files")
{
    const std::vector<Bytes> blobs = Blobs(50);
    BlockFileOptions options;
    options.max_file_size = 1000;
    const ReadBack read = WriteAndRead(blobs, options);
    CHECK(read.blocks == blobs);
    CHECK(read.file_sizes.size() > 5);
    for (const size_t size : read.file_sizes) CHECK(size < 1000);
    CHECK(read.tail.empty());
}

TEST_CASE("block files shuffled and obfuscated hold the same blocks in another order")
{
    const std::vector<Bytes> blobs = Blobs(200);
    BlockFileOptions options;
    options.shuffle_window = 20;
    options.obfuscate = true;
    options.max_file_size = 5000;
    ReadBack read = WriteAndRead(blobs, options);
    CHECK(read.blocks != blobs);
    std::sort(read.blocks.begin(), read.blocks.end(),
              [](const Bytes& a, const Bytes& b) { return a.size() < b.size(); });
    CHECK(read.blocks == blobs);
}

TEST_CASE("torn tail and preallocated zeros")
{
    const std::vector<Bytes> blobs = Blobs(3);
    BlockFileOptions options;
    options.torn_tail = true;
    const ReadBack torn = WriteAndRead(blobs, options);
    CHECK(torn.blocks == blobs);
    CHECK(torn.tail.size() == 8 + 777);
    options.torn_tail = false;
    options.preallocate = true;
    const ReadBack padded = WriteAndRead(blobs, options);
    CHECK(padded.blocks == blobs);
    CHECK(padded.file_sizes[0] == 16 << 20);
    CHECK(std::count(padded.tail.begin(), padded.tail.end(), 0) == int64_t(padded.tail.size()));
}

} // namespace ibd::sim

// The walker finds the same blocks as the scanner, for any content of the file and for any refused
// blocks.
#include "storage/block_store.h"
#include "storage/frame_walker.h"
#include "support.h"
#include "support/testdata.h"
#include "util/endian.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;

namespace {

size_t Below(size_t n) { return RandomBelow(n); }

Bytes Frame(ByteSpan block, uint32_t claimed)
{
    Bytes out(kMainMagic.begin(), kMainMagic.end());
    out.resize(kFrameHeaderSize);
    WriteLE32(&out[4], claimed);
    Append(out, block);
    return out;
}

/** Frames, frames in frames, claims of all kinds, garbage and zeros. */
Bytes RandomFile(bool tidy)
{
    Bytes file;
    for (size_t n = 1 + Below(30); n > 0; --n) {
        Bytes block = RandomBytes(80 + Below(Below(10) ? 300 : 40'000));
        if (Below(4) == 0) Append(block, Frame(RandomBytes(90), 90));
        const auto size = static_cast<uint32_t>(block.size());
        Append(file, Frame(block, size));
        if (tidy || Below(3)) continue;
        switch (Below(5)) {
        case 0: Append(file, RandomBytes(Below(100))); break;
        case 1: Append(file, kMainMagic); break;
        case 2: Append(file, Frame(RandomBytes(50), 50)); break;
        case 3: Append(file, Frame(RandomBytes(50), 3'000'000)); break;
        default: file.resize(file.size() + Below(20'000));
        }
    }
    if (Below(3) == 0) file.resize(file.size() - Below(std::min<size_t>(file.size(), 90)));
    if (Below(3) == 0) file.resize(file.size() + Below(50'000));
    return file;
}

using Seen = std::vector<std::tuple<uint32_t, uint32_t, Bytes>>;

/** Refuses by chance, but the same frames each time. */
bool Refused(uint32_t offset, uint32_t salt)
{
    return salt && (offset * 2654435761u ^ salt) % 4 == 0;
}

template <typename Finder, typename Size, typename Head>
Seen FindAll(Finder& finder, uint32_t salt, const Size& size, const Head& head)
{
    Seen seen;
    while (const auto frame = Must(finder.Next())) {
        const ByteSpan start = head(*frame);
        seen.emplace_back(frame->offset, size(*frame), Bytes(start.begin(), start.end()));
        if (Refused(frame->offset, salt)) finder.Refuse();
    }
    return seen;
}

/** Counts what is read. */
class CountingFile final : public ReadableFile {
public:
    explicit CountingFile(std::unique_ptr<ReadableFile> file) : m_file(std::move(file)) {}
    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        auto got = m_file->ReadAt(offset, out);
        if (got) bytes += *got;
        return got;
    }
    Result<uint64_t> Size() const override { return m_file->Size(); }
    void WillNeed(uint64_t, uint64_t) const override {}
    void DontNeed(uint64_t, uint64_t) const override {}

    mutable uint64_t bytes = 0;

private:
    std::unique_ptr<ReadableFile> m_file;
};

void Write(const Path& path, Bytes file, const XorKey& key)
{
    key.Apply(file);
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()),
              static_cast<std::streamsize>(file.size()));
    REQUIRE(out.good());
}

} // namespace

TEST_CASE("the walker finds the scanner's frames")
{
    const TempDir dir;
    const Path path = dir / "blk00000.dat";
    const XorKey key({1, 2, 3, 4, 5, 6, 7, 8});
    for (int round = 0; round < 200; ++round) {
        Write(path, RandomFile(round % 4 == 0), key);
        const auto file = Must(TestEnv().OpenRead(path));
        const uint32_t salt = round % 2 ? static_cast<uint32_t>(TestRng()()) | 1 : 0;
        CAPTURE(round, salt);
        FrameScanner scanner(*file, path, key, kMainMagic, 5'000);
        const Seen expected = FindAll(
            scanner, salt, [](const auto& f) { return static_cast<uint32_t>(f.block.size()); },
            [](const auto& f) { return f.block.first(80); });
        FrameWalker walker(*file, path, key, kMainMagic, 5'000);
        const Seen found = FindAll(
            walker, salt, [](const auto& f) { return f.size; },
            [](const auto& f) { return f.header; });
        REQUIRE(found == expected);
    }
}

TEST_CASE("a scanner may start anywhere and finds what one from the start finds from there")
{
    const TempDir dir;
    const Path path = dir / "blk00000.dat";
    Bytes content;
    for (int i = 0; i < 5; ++i) Append(content, Frame(RandomBytes(100), 100));
    Write(path, content, XorKey());
    const auto file = Must(TestEnv().OpenRead(path));
    FrameScanner scanner(*file, path, XorKey(), kMainMagic, 5'000, 2 * 108 + 1);
    CHECK(Must(scanner.Next())->offset == 3 * 108 + 8);
    CHECK(scanner.SkippedBytes() == 107);
}

TEST_CASE("of large blocks the walker reads next to nothing")
{
    const TempDir dir;
    const Path path = dir / "blk00000.dat";
    Bytes content;
    for (int i = 0; i < 8; ++i) Append(content, Frame(Bytes(2'000'000, 7), 2'000'000));
    Write(path, content, XorKey());
    const CountingFile file(Must(TestEnv().OpenRead(path)));
    FrameWalker walker(file, path, XorKey(), kMainMagic, 5'000);
    int frames = 0;
    while (Must(walker.Next())) ++frames;
    CHECK(frames == 8);
    CHECK(file.bytes < content.size() / 50);
}

// AheadReader on disks that are cold in part, fail, or give less than they have: always the bytes
// of the file, and one line in the log.
#include "util/ahead_reader.h"

#include "sim/fault_env.h"
#include "support/kept_log.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"

#include <fstream>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint64_t kPiece = AheadReader::kPieceBytes;

uint64_t Random(uint64_t below) { return TestRng()() % below; }

/** A file of random bytes, and a reader of it. */
struct Disk {
    explicit Disk(size_t size) : bytes(RandomBytes(size))
    {
        std::ofstream(path, std::ios::binary)
            .write(AsChars(bytes).data(), static_cast<std::streamsize>(size));
        env.MakeCold([](uint64_t) { return true; });
        use.LogTo(&log);
    }
    std::shared_ptr<AheadFile> Open()
    {
        return std::make_shared<AheadFile>(Must(env.OpenRead(path)));
    }
    /** Counts the operations of a kind, and has those with a number in [first, first + count) fail.
     */
    void Fail(std::string kind, int first, int count)
    {
        env.SetScript([this, kind, first, count](const FaultEnv::Operation& operation) {
            const std::scoped_lock lock(mutex);
            const int number = done[operation.kind]++;
            return operation.kind == kind && number >= first && number < first + count;
        });
    }
    int Done(const std::string& kind)
    {
        const std::scoped_lock lock(mutex);
        return done[kind];
    }
    ByteSpan Part(uint64_t begin, uint64_t length) const
    {
        const uint64_t from = std::min<uint64_t>(begin, bytes.size());
        return ByteSpan(bytes).subspan(from, std::min<uint64_t>(length, bytes.size() - from));
    }

    const TempDir dir;
    const Path path = dir.Get() / "file";
    const Bytes bytes;
    FaultEnv env;
    KeptLog log;
    UncachedUse use;
    std::mutex mutex;
    std::map<std::string, int> done;
};

/** Reads [begin, end) in parts of random sizes and compares. */
void RequireBytes(Disk& disk, AheadReader& reader, const AheadFile& file, uint64_t begin,
                  uint64_t end, uint64_t largest = 2 * kPiece)
{
    for (uint64_t at = begin; at < end;) {
        Bytes out(std::min(1 + Random(largest), end - at));
        const size_t got = Must(reader.ReadAt(file, at, out));
        const ByteSpan right = disk.Part(at, out.size());
        REQUIRE(got == right.size());
        REQUIRE(std::equal(right.begin(), right.end(), out.begin()));
        at += out.size();
    }
}

} // namespace

TEST_CASE("an AheadReader gives the bytes of the file, whatever is cold, announced and skipped")
{
    for (int round = 0; round < 20; ++round) {
        Disk disk(1 + Random(6 * kPiece));
        const uint64_t salt = TestRng()();
        disk.env.MakeCold([&](uint64_t at) { return round % 3 == 0 || (salt >> at / kPiece) & 1; });
        AheadReader reader(disk.use);
        const auto first = disk.Open();
        const auto second = disk.Open();
        for (int range = 0; range < 8; ++range) {
            const auto& file = range % 3 == 2 ? second : first;
            const uint64_t begin = Random(disk.bytes.size());
            const uint64_t end = begin + 1 + Random(3 * kPiece); // may lie behind the end
            const bool next = Random(2) == 0;
            reader.Announce(file, begin, end);
            if (next) reader.Announce(first, end, end + Random(kPiece));
            if (Random(5) == 0) continue; // not read after all
            const uint64_t skipped = Random(4) == 0 ? Random(end - begin) : 0;
            RequireBytes(disk, reader, *file, begin + skipped, end + Random(kPiece));
            if (next) RequireBytes(disk, reader, *first, end, end + Random(2 * kPiece));
        }
        CHECK(disk.log.Lines().empty());
        CHECK(disk.use.Allowed());
    }
}

TEST_CASE("an AheadReader reads a cold range around the cache once, and a cached one never")
{
    Disk disk(5 * kPiece + 77);
    disk.Fail("", 0, 0);
    const auto file = disk.Open();
    {
        AheadReader reader(disk.use);
        reader.Announce(file, 0, disk.bytes.size());
        CHECK(reader.WantsMore());
        RequireBytes(disk, reader, *file, 0, disk.bytes.size());
        CHECK(disk.Done("open uncached") == 1);
        CHECK(disk.Done("read uncached") == 6);
        CHECK(disk.Done("read") == 0);
    }
    disk.env.MakeCold({});
    AheadReader reader(disk.use);
    reader.Announce(file, 0, disk.bytes.size());
    CHECK_FALSE(reader.WantsMore());
    RequireBytes(disk, reader, *file, 0, disk.bytes.size());
    CHECK(disk.Done("read uncached") == 6);
    CHECK(disk.Done("read") > 0);
}

TEST_CASE("an AheadReader whose calls fail or stop short once reads through the cache, with a line")
{
    struct Fault {
        const char* kind;
        int nth;
        bool cut; //!< reads give half
    };
    for (const Fault& fault : {Fault{"open uncached", 0, false}, {"read uncached", 0, false},
                               {"read uncached", 3, false}, {"read uncached", 5, false},
                               {"none", 0, true}}) {
        CAPTURE(fault.kind, fault.nth, fault.cut);
        Disk disk(6 * kPiece - 1000);
        const auto file = disk.Open();
        if (fault.cut) disk.env.CutUncached(true);
        disk.Fail(fault.kind, fault.nth, 1);
        AheadReader reader(disk.use);
        reader.Announce(file, 100, 3 * kPiece);
        reader.Announce(file, 3 * kPiece, disk.bytes.size());
        RequireBytes(disk, reader, *file, 100, disk.bytes.size());
        CHECK_FALSE(disk.use.Allowed());
        CHECK(disk.log.Lines().size() == 1);
        CHECK_THAT(disk.log.Text(), Catch::StartsWith("Block files are read through the system's "
                                                      "cache from now on: "));
        reader.Announce(file, 0, disk.bytes.size());
        CHECK_FALSE(reader.WantsMore());
        RequireBytes(disk, reader, *file, 0, disk.bytes.size());
    }
}

TEST_CASE("an AheadReader passes on the error of a plain read")
{
    Disk disk(2 * kPiece);
    const auto file = disk.Open();
    disk.env.MakeCold({});
    disk.Fail("read", 1, 1);
    AheadReader reader(disk.use);
    reader.Announce(file, 0, disk.bytes.size());
    Bytes out(kPiece);
    REQUIRE(reader.ReadAt(*file, 0, out));
    CHECK_FALSE(reader.ReadAt(*file, kPiece, out));
    CHECK(Must(reader.ReadAt(*file, kPiece, out)) == kPiece);
}

TEST_CASE("an AheadReader of a real file leaves the system's cache as it is")
{
    Disk disk(5 * kPiece + 4096 * 3 + 5);
    const auto env = MakePosixEnv();
    Must(Must(env->OpenWrite(disk.path, false))->Sync());
    const auto file = std::make_shared<AheadFile>(Must(env->OpenRead(disk.path)));
    AheadReader reader(disk.use);
    for (const bool cold : {false, true}) {
        const uint64_t size = disk.bytes.size();
        if (cold) file->Plain().DontNeed(0, 0);
        const bool was_cold = file->IsCold(0, size); // a file system in memory has nothing cold
        reader.Announce(file, 1, size);
        CHECK(reader.WantsMore() == (was_cold && disk.use.Allowed()));
        RequireBytes(disk, reader, *file, 1, size);
        if (disk.use.Allowed()) CHECK(file->IsCold(0, size) == was_cold);
    }
}

TEST_CASE("an AheadReader ends while ranges are announced and unread")
{
    Disk disk(9 * kPiece);
    for (int i = 0; i < 20; ++i) {
        AheadReader reader(disk.use);
        const auto file = disk.Open();
        reader.Announce(file, 0, disk.bytes.size());
        if (i % 2 == 0) RequireBytes(disk, reader, *file, 0, 1 + Random(kPiece));
    }
}
